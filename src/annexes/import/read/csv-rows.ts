import { CsvError, parse, type Info, type Parser } from "csv-parse";
import { type ByteChunks, UnreadableInput, recordBytesMax } from "./input.ts";
import { MalformedRecord, type RecordBatch } from "./records.ts";
import { message } from "../messages.ts";

const newline = 10;
const quote = 34;

/** How much is parsed at once: a batch of some hundred rows. */
const portionBytes = 64 * 1024;

/**
 * All rows of CSV text, the header too, as arrays of fields, each with the line on which it begins.
 * A row over several lines in which a quote was left open is a `MalformedRecord`. Throws
 * UnreadableInput where the last quote stays open, or a row is too long to be one.
 */
export async function* csvRows(chunks: ByteChunks, delimiter: string): AsyncGenerator<RecordBatch> {
  const rows = new RowParser(delimiter);
  let lastByte = newline;
  for await (const chunk of chunks) {
    lastByte = chunk.at(-1) ?? lastByte;
    for (let at = 0; at < chunk.length; at += portionBytes) {
      const batch = await rows.add(chunk.subarray(at, at + portionBytes));
      if (batch.lines.length > 0) yield batch;
    }
  }
  const batch = await rows.end();
  if (batch.lines.length > 0) yield { ...batch, isUnended: lastByte !== newline };
}

/**
 * csv-parse, fed by hand: rows are collected as they are parsed, so that no object stream stands
 * between.
 */
class RowParser {
  readonly #parser: Parser;
  #lines: number[] = [];
  #records: (string[] | MalformedRecord)[] = [];
  /** The line on which the next row begins, but for blank lines before it. */
  #line = 1;
  #blankLines = 0;
  /** The bytes of the row that is being parsed, and of what follows it in the last portion. */
  #pieces: Uint8Array[] = [];
  #piecesAt = 0;
  #rowAt = 0;

  constructor(delimiter: string) {
    this.#parser = parse({
      delimiter,
      record_delimiter: ["\r\n", "\n"],
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: recordBytesMax,
      on_record: (record: string[], info) => this.#keep(record, info),
    });
    // Errors are taken from the calls that they belong to.
    this.#parser.on("error", () => {});
  }

  async add(bytes: Uint8Array): Promise<RecordBatch> {
    this.#pieces.push(bytes);
    const batch = await this.#parsed((done) => this.#parser.write(bytes, done));
    for (let first = this.#pieces[0]; first !== undefined; first = this.#pieces[0]) {
      if (this.#piecesAt + first.length > this.#rowAt) break;
      this.#piecesAt += first.length;
      this.#pieces.shift();
    }
    return batch;
  }

  end(): Promise<RecordBatch> {
    return this.#parsed((done) => this.#parser.end(done));
  }

  async #parsed(work: (done: (error?: Error | null) => void) => void): Promise<RecordBatch> {
    try {
      await new Promise<void>((resolve, reject) => {
        work((error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      throw error instanceof CsvError ? unreadable(error, this.#line) : error;
    }
    const batch = { lines: this.#lines, records: this.#records };
    this.#lines = [];
    this.#records = [];
    return batch;
  }

  /** Counts lines itself: csv-parse counts a CRLF within quotes as two. */
  #keep(record: string[], { bytes, empty_lines: blankLines }: Info): null {
    const line = this.#line + blankLines - this.#blankLines;
    this.#blankLines = blankLines;
    this.#line = line + 1;
    let isOpen = false;
    for (const field of record) {
      if (!field.includes("\n")) continue;
      this.#line += newlinesIn(field);
      isOpen ||= field.startsWith('"') && this.#isQuoteOpen(bytes);
    }
    this.#rowAt = bytes;
    this.#lines.push(line);
    this.#records.push(isOpen ? openQuote(record) : record);
    return null;
  }

  /**
   * True when the row that ends before `end` has a quote without its like: it ran on into the next
   * lines by mistake.
   */
  #isQuoteOpen(end: number): boolean {
    const bytes = Buffer.concat(this.#pieces);
    let quotes = 0;
    for (const byte of bytes.subarray(this.#rowAt - this.#piecesAt, end - this.#piecesAt)) {
      if (byte === quote) quotes += 1;
    }
    return quotes % 2 === 1;
  }
}

function openQuote(record: readonly string[]): MalformedRecord {
  return new MalformedRecord(message("quoteOpen"), record.join(","));
}

function unreadable({ code, message: why }: CsvError, line: number): UnreadableInput {
  if (code === "CSV_MAX_RECORD_SIZE") {
    return new UnreadableInput(line, message("recordUnended", String(recordBytesMax)));
  }
  if (code === "CSV_QUOTE_NOT_CLOSED") {
    return new UnreadableInput(line, message("quoteUnended"));
  }
  return new UnreadableInput(line, message("other", why));
}

function newlinesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
