import { message } from "../messages.ts";
import { collectBehind, limits, UnreadableInput } from "./input.ts";
import { MalformedRecord, type TableRow } from "./records.ts";

/** More rows are no table of animals, whatever stands above its header. */
const rowsMax = limits.records + 100;

/** Enough of a row to see that it is no total and no blank one. */
const beginningMax = 40;

/**
 * The rows of CSV text, the header among them. Each is read when it is asked for: the text is in
 * memory once, and its fields are not. A line on which a quote is left open is a `MalformedRecord`.
 */
export class CsvRows {
  /** True when the line's end is missing after the last one. */
  readonly isUnended: boolean;
  readonly #text: string;
  readonly #delimiter: string;
  /** Where each row begins, and on which line. */
  readonly #starts: number[] = [];
  readonly #lines: number[] = [];
  /** Where a mark is next, so that no part of the text is looked at twice. */
  readonly #found = new Map<string, number>();

  /** Throws UnreadableInput where the last quote stays open, or a row is too long to be one. */
  constructor(input: string) {
    // Old programs on the Mac end lines in CR alone.
    this.#text = input.includes("\n") ? input : input.replaceAll("\r", "\n");
    this.#delimiter = delimiterOf(this.#text);
    this.isUnended = !this.#text.endsWith("\n");
    let line = 1;
    for (let at = 0; at < this.#text.length;) {
      const end = this.#end(at, line);
      if (withoutLineEnds(this.#text.slice(at, Math.min(end, at + 3))) !== "")
        this.#add(at, line, end);
      for (let next = this.#text.indexOf("\n", at); next >= 0 && next < end;) {
        line += 1;
        next = this.#text.indexOf("\n", next + 1);
      }
      at = end;
    }
  }

  get length(): number {
    return this.#starts.length;
  }

  line(index: number): number {
    return this.#lines[index] ?? 0;
  }

  row(index: number): TableRow {
    const start = this.#starts[index] ?? 0;
    const end = this.#starts[index + 1] ?? this.#text.length;
    const row = withoutLineEnds(this.#text.slice(start, end));
    if (!row.includes('"')) return row.split(this.#delimiter);
    return (
      fieldsOf(row, this.#delimiter) ?? looseFields(row.split("\n", 1)[0] ?? "", this.#delimiter)
    );
  }

  beginning(index: number): string {
    const start = this.#starts[index] ?? 0;
    return this.#text.slice(start, start + beginningMax);
  }

  #add(start: number, line: number, end: number): void {
    if (end - start > limits.recordBytes) {
      throw new UnreadableInput(line, message("recordUnended", String(limits.recordBytes)));
    }
    if (this.#starts.length === rowsMax) {
      throw new UnreadableInput(line, message("recordsMany", String(limits.records)));
    }
    this.#starts.push(start);
    this.#lines.push(line);
    collectBehind(this.#starts.length);
  }

  /** Where the row that begins at `start` ends, behind its line's end. */
  #end(start: number, line: number): number {
    const newline = this.#next("\n", start);
    const lineEnd = Math.min(newline + 1, this.#text.length);
    if (this.#next('"', start) > newline) return lineEnd;
    const end = this.#quotedEnd(start, line);
    if (end !== undefined) return end;
    const isLast = newline === this.#text.length;
    const loose = isLast ? looseFields(this.#text.slice(start), this.#delimiter) : [];
    if (loose instanceof MalformedRecord) throw new UnreadableInput(line, message("quoteUnended"));
    return lineEnd;
  }

  /** The same for a row with quotes; undefined if these are odd. */
  #quotedEnd(start: number, line: number): number | undefined {
    const text = this.#text;
    for (let at = start; ;) {
      let end = this.#plainEnd(at);
      if (text[at] === '"') {
        const closing = closingQuote(text, at + 1);
        if (closing < 0) throw new UnreadableInput(line, message("quoteUnended"));
        end = behindQuote(text, closing);
        const isEnd = end === text.length || text[end] === "\n" || text[end] === this.#delimiter;
        if (!isEnd) return undefined;
      }
      if (text[end] !== this.#delimiter) return Math.min(end + 1, text.length);
      at = end + 1;
    }
  }

  #plainEnd(from: number): number {
    const newline = this.#text.indexOf("\n", from);
    const end = newline < 0 ? this.#text.length : newline;
    const delimiter = this.#text.slice(from, end).indexOf(this.#delimiter);
    return delimiter < 0 ? end : from + delimiter;
  }

  /** Where a mark is next, from the beginning of a row on; rows are asked about in order. */
  #next(mark: string, from: number): number {
    const known = this.#found.get(mark) ?? -1;
    if (known >= from) return known;
    const at = this.#text.indexOf(mark, from);
    const found = at < 0 ? this.#text.length : at;
    this.#found.set(mark, found);
    return found;
  }
}

function withoutLineEnds(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === "\n" || text[end - 1] === "\r")) end -= 1;
  return end === text.length ? text : text.slice(0, end);
}

/** Where the quote is that closes a field; -1 if it stays open. */
function closingQuote(text: string, from: number): number {
  let quote = text.indexOf('"', from);
  while (quote >= 0 && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2);
  return quote;
}

/** Where the delimiter or the line's end has to be behind a closing quote. */
function behindQuote(text: string, quote: number): number {
  let at = quote + 1;
  while (text[at] === " " || text[at] === "\r") at += 1;
  return at;
}

/** The fields of a row, as RFC 4180 has them; undefined if its quotes are odd. */
function fieldsOf(row: string, delimiter: string): string[] | undefined {
  const fields: string[] = [];
  for (let at = 0; ;) {
    let end: number;
    if (row[at] === '"') {
      const quote = closingQuote(row, at + 1);
      end = quote < 0 ? -1 : behindQuote(row, quote);
      if (end < 0 || (end < row.length && row[end] !== delimiter)) return undefined;
      fields.push(row.slice(at + 1, quote).replaceAll('""', '"'));
    } else {
      const next = row.indexOf(delimiter, at);
      end = next < 0 ? row.length : next;
      fields.push(row.slice(at, end));
    }
    if (end >= row.length) return fields;
    at = end + 1;
  }
}

const quoted = /"([^"]*(?:""[^"]*)*)"/y;

/** The fields of a line, in which quotes with a text behind them are a part of the text. */
function looseFields(line: string, delimiter: string): TableRow {
  const fields: string[] = [];
  for (let at = 0; ;) {
    quoted.lastIndex = at;
    const [whole = "", inner = ""] = quoted.exec(line) ?? [];
    if (whole === "" && line[at] === '"')
      return new MalformedRecord(message("quoteOpen"), withoutLineEnds(line));
    const next = line.indexOf(delimiter, at + whole.length);
    const end = next < 0 ? line.length : next;
    const isQuoted = whole !== "" && line.slice(at + whole.length, end).trim() === "";
    fields.push(isQuoted ? inner.replaceAll('""', '"') : line.slice(at, end));
    if (next < 0) return fields;
    at = end + delimiter.length;
  }
}

const delimiters = [",", ";", "\t", "|"] as const;

/** What tells the delimiter. Lines above the header may have none, or another one. */
const beginningCharacters = 64 * 1024;
const delimiterLinesMax = 20;

/**
 * The delimiter that the line `sep=;` names, as Excel writes it, or else by which the most lines
 * have equally many fields, outside quotes.
 */
function delimiterOf(text: string): string {
  const beginning = text.slice(0, beginningCharacters);
  const told = /^\s*sep=(.)\r?\n/i.exec(beginning)?.[1];
  if (told !== undefined) return told;
  const lines = beginning.replaceAll(/"[^"]*"/g, "").split("\n", delimiterLinesMax);
  const scores = delimiters.map((delimiter) => [delimiter, evenness(lines, delimiter)] as const);
  return scores.reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}

/** The fields in lines with the most common number of them; 0 without any delimiter. */
function evenness(lines: readonly string[], delimiter: string): number {
  const linesByCount = new Map<number, number>();
  for (const line of lines) {
    const count = line.split(delimiter).length - 1;
    if (count > 0) linesByCount.set(count, (linesByCount.get(count) ?? 0) + 1);
  }
  return Math.max(0, ...[...linesByCount].map(([count, found]) => count * found));
}
