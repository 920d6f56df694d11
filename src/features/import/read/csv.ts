import { message } from "../messages.ts";
import { limits, oldMacLines, UnreadableInput } from "./input.ts";
import { MalformedRecord, sharedTexts, type TableRow, type TableRows } from "./table.ts";

/** More rows are no table of animals, whatever stands above its header. */
const rowsMax = limits.records + 100;

/**
 * The rows of CSV text, the header among them. A line on which a quote is left open is a
 * `MalformedRecord`. Throws UnreadableInput where the last quote stays open, or a row is too long.
 */
export function csvTable(input: string): TableRows {
  const text = oldMacLines.test(input) ? input.replaceAll(/\r\n?/g, "\n") : input;
  const delimiter = delimiterOf(text);
  const hasFormulas = text.includes('="');
  const rows: TableRow[] = [];
  const lines: number[] = [];
  const same = sharedTexts();
  let line = 1;
  for (let at = 0; at < text.length;) {
    const { row, end } = rowAt(text, at, delimiter, line);
    if (end - at > limits.recordBytes) {
      throw new UnreadableInput(line, message("recordUnended", String(limits.recordBytes)));
    }
    if (rows.length === rowsMax) {
      throw new UnreadableInput(line, message("recordsMany", String(limits.records)));
    }
    if (row instanceof MalformedRecord) rows.push(row);
    else if (row.length > 1 || row[0] !== "") {
      rows.push(row.map((field) => same(hasFormulas ? withoutFormula(field) : field)));
    }
    if (lines.length < rows.length) lines.push(line);
    for (let next = placeOf(text, "\n", at); next < end; next = placeOf(text, "\n", next + 1)) {
      line += 1;
    }
    at = end;
  }
  return { rows, lines, isUnended: !text.endsWith("\n") };
}

/** The row that begins at a place, as RFC 4180 has it, or else its line as a text has quotes. */
function rowAt(text: string, at: number, delimiter: string, line: number) {
  const fields: string[] = [];
  const end = rowEnd(text, at, delimiter, fields);
  if (end === "open") throw new UnreadableInput(line, message("quoteOpen"));
  if (end !== "odd") return { row: fields, end };
  const lineEnd = Math.min(placeOf(text, "\n", at) + 1, text.length);
  const row = looseFields(text.slice(at, lineEnd).split("\n", 1)[0] ?? "", delimiter);
  const isCut = lineEnd === text.length && !text.endsWith("\n");
  if (isCut && row instanceof MalformedRecord)
    throw new UnreadableInput(line, message("quoteOpen"));
  return { row, end: lineEnd };
}

/** What `="0012"` shows: texts are written so for spreadsheets, which would make a number of it. */
const withoutFormula = (field: string) => /^="([^"]*)"$/.exec(field)?.[1] ?? field;

/** Where a mark is next; the end of the text if there is none. */
function placeOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? text.length : at;
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

const [quoteCode, newlineCode] = ['"'.charCodeAt(0), "\n".charCodeAt(0)];

/**
 * Where the row behind the one at `from` begins, as RFC 4180 has it, or what is wrong with the
 * quotes. Adds its fields. By codes of characters: a call for each field takes longer.
 */
function rowEnd(
  text: string,
  from: number,
  delimiter: string,
  fields: string[],
): number | "odd" | "open" {
  const delimiterCode = delimiter.charCodeAt(0);
  for (let at = from; ;) {
    let end = at;
    if (text.charCodeAt(at) === quoteCode) {
      const quote = closingQuote(text, at + 1);
      if (quote < 0) return "open";
      end = quote + 1;
      while (text[end] === " " || text[end] === "\r") end += 1;
      const isOdd = end < text.length && text[end] !== "\n" && text[end] !== delimiter;
      if (isOdd) return "odd";
      fields.push(text.slice(at + 1, quote).replaceAll('""', '"'));
    } else {
      let code = text.charCodeAt(end);
      while (end < text.length && code !== delimiterCode && code !== newlineCode) {
        code = text.charCodeAt((end += 1));
      }
      let last = end;
      if (code !== delimiterCode) while (last > at && text[last - 1] === "\r") last -= 1;
      fields.push(text.slice(at, last));
    }
    if (text[end] !== delimiter) return Math.min(end + 1, text.length);
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

/**
 * Where a spreadsheet may take what follows for a formula, perhaps behind apostrophes: at the
 * beginning, and behind what another country's spreadsheet ends a field or a line at.
 */
const formula = /(?<=^|[;\t\r\n])(?='*[=+\-@\t\r\n＝＋－＠])/g;
const guardedFormula = /(?<=^|[;\t\r\n])'(?='*[=+\-@\t\r\n＝＋－＠])/g;

/**
 * Text that no spreadsheet runs: an apostrophe precedes what it would take for a formula. Any
 * holder of a key can choose a name, and an operator opens the file with a double click.
 * `unguarded` reverses it exactly.
 */
export function guarded(text: string): string {
  return text.replace(formula, "'");
}

/** The text that `guarded` was given. */
export function unguarded(text: string): string {
  return text.replace(guardedFormula, "");
}

/**
 * A text as a workbook has it, so that an import reads the same: `_x0041_` is a character there,
 * and the import takes an apostrophe before a formula away.
 */
export function inWorkbook(text: string): string {
  const kept = unguarded(text) === text ? text : guarded(text);
  return kept.replaceAll(/_(?=x[\dA-F]{4}_)/gi, "_x005F_");
}

const special = /[",\t\r\n]/;

/** One field by RFC 4180: quoted where it has to be. */
export function csvField(text: string): string {
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
