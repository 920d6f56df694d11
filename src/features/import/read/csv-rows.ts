import Papa from "papaparse";
import { type ByteChunks, UnreadableInput, recordBytesMax } from "./input.ts";
import { MalformedRecord, type RecordBatch } from "./records.ts";
import { message } from "../messages.ts";

const newline = 10;

/** How much is parsed at once: a batch of some hundred rows. */
const portionBytes = 64 * 1024;

/**
 * All rows of CSV text, the header too, as arrays of fields, each with the line on which it begins.
 * A line on which a quote is left open is a `MalformedRecord`. Throws UnreadableInput where the
 * last quote stays open, or a row is too long to be one.
 */
export async function* csvRows(chunks: ByteChunks, delimiter: string): AsyncGenerator<RecordBatch> {
  const rows = new RowParser(delimiter);
  let lastByte = newline;
  for await (const chunk of chunks) {
    lastByte = chunk.at(-1) ?? lastByte;
    for (let at = 0; at < chunk.length; at += portionBytes) {
      const batch = rows.add(chunk.subarray(at, at + portionBytes));
      if (batch.lines.length > 0) yield batch;
    }
  }
  const batch = rows.end();
  if (batch.lines.length > 0) yield { ...batch, isUnended: lastByte !== newline };
}

interface Rows {
  readonly lines: number[];
  readonly records: (string[] | MalformedRecord)[];
}

/** Papa Parse, given whole lines: the row that is still open at their end waits for more. */
class RowParser {
  readonly #delimiter: string;
  readonly #decoder = new TextDecoder();
  #text = "";
  /** The line on which that text begins. */
  #line = 1;
  /** How long it has to be for another attempt to find its first row's end. */
  #attemptLength = 0;

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  add(bytes: Uint8Array): RecordBatch {
    const rows: Rows = { lines: [], records: [] };
    this.#text += this.#decoder.decode(bytes, { stream: true });
    if (this.#text.length < this.#attemptLength) return rows;
    const end = this.#text.lastIndexOf("\n") + 1;
    const open = this.#take(this.#text.slice(0, end), rows);
    this.#text = open + this.#text.slice(end);
    // Twice as much each time, so that a long row is not read over and over.
    this.#attemptLength = open === "" && end > 0 ? 0 : 2 * this.#text.length;
    if (this.#text.length > recordBytesMax) {
      throw new UnreadableInput(this.#line, message("recordUnended", String(recordBytesMax)));
    }
    return rows;
  }

  end(): RecordBatch {
    const rows: Rows = { lines: [], records: [] };
    if (this.#take(this.#text, rows) !== "") throw this.#quoteOpenAtEnd();
    return rows;
  }

  #quoteOpenAtEnd(): UnreadableInput {
    return new UnreadableInput(this.#line, message("quoteUnended"));
  }

  /** Adds the rows of `text`. Returns what follows the last one that is complete. */
  #take(text: string, rows: Rows): string {
    for (let rest = text; ;) {
      let at = 0;
      let fault: string | undefined;
      Papa.parse<string[]>(rest, {
        delimiter: this.#delimiter,
        newline: "\n",
        step: ({ data, errors: [error], meta: { cursor } }, parser) => {
          if (error !== undefined) {
            fault = error.code;
            parser.abort();
          } else if (cursor > at) {
            this.#keep(data, rows);
            this.#line += newlinesIn(rest, at, cursor);
            at = cursor;
          }
        },
      });
      rest = rest.slice(at);
      if (fault !== "InvalidQuotes") return rest;
      rest = this.#takeLine(rest, rows);
    }
  }

  #keep(fields: string[], { lines, records }: Rows): void {
    const last = fields.length - 1;
    if (fields[last]?.endsWith("\r") === true) fields[last] = fields[last].slice(0, -1);
    if (last === 0 && fields[0] === "") return;
    lines.push(this.#line);
    records.push(fields);
  }

  /**
   * Adds the first line, which has a text after a closing quote: Papa Parse would go on to a
   * quote in the rows below. Returns what follows it.
   */
  #takeLine(text: string, { lines, records }: Rows): string {
    const end = text.indexOf("\n");
    const line = (end < 0 ? text : text.slice(0, end)).replace(/\r$/, "");
    const fields = looseFields(line, this.#delimiter);
    if (fields === undefined && end < 0) throw this.#quoteOpenAtEnd();
    lines.push(this.#line);
    records.push(fields ?? new MalformedRecord(message("quoteOpen"), line));
    this.#line += 1;
    return end < 0 ? "" : text.slice(end + 1);
  }
}

const quoted = /"([^"]*(?:""[^"]*)*)"/y;

/**
 * The fields of a line, in which quotes with a text behind them are a part of the text. Undefined
 * if a quote is left open.
 */
function looseFields(line: string, delimiter: string): string[] | undefined {
  const fields: string[] = [];
  for (let at = 0; ;) {
    quoted.lastIndex = at;
    const [whole = "", inner = ""] = quoted.exec(line) ?? [];
    if (whole === "" && line[at] === '"') return undefined;
    const next = line.indexOf(delimiter, at + whole.length);
    const end = next < 0 ? line.length : next;
    const isQuoted = whole !== "" && line.slice(at + whole.length, end).trim() === "";
    fields.push(isQuoted ? inner.replaceAll('""', '"') : line.slice(at, end));
    if (next < 0) return fields;
    at = end + delimiter.length;
  }
}

function newlinesIn(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", start); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) {
    count += 1;
  }
  return count;
}
