/** Tables: the rows of CSV, and the records below the header of any table. */
import { type Message, message, messageText, Notes } from "../messages.ts";
import { type Known, limits, oldMacLines, UnreadableInput } from "./input.ts";

/** Records as they stand in the input, each with the line or the number (from 1) that it has. */
export interface Records {
  /** The names in the header of a table; undefined for JSON objects. */
  readonly columns?: readonly string[] | undefined;
  /** JSON values, or rows of fields; a `MalformedRecord` stands for an unreadable one. */
  readonly records: readonly unknown[];
  readonly lines: readonly number[];
}

/** One record that is malformed in an input where the next one can still be read. */
export class MalformedRecord {
  constructor(
    readonly problem: Message,
    readonly text: string,
  ) {}
}

export type TableRow = readonly string[] | MalformedRecord;

/** Rows of a table, each with its line. */
export interface TableRows {
  readonly rows: readonly TableRow[];
  readonly lines: readonly number[];
  /** True when the line's end is missing after the last one, which may be cut off. */
  readonly isUnended?: boolean;
}

/**
 * The records below the header, which may follow a report's title. Leaves out blank rows, totals,
 * and notes below the last record, and says so. Throws UnreadableInput for a missing header, and
 * for an input that is cut off.
 */
export function tableOf(table: TableRows, headings: Known) {
  const notes = new Notes();
  const at = headerIndex(table.rows, headings);
  const columns = headerAt(at, table, headings);
  const below = notesFrom(columns.length, table, at);
  const records: TableRow[] = [];
  const lines: number[] = [];
  let isShort = false;
  for (let index = at + 1; index < table.rows.length; index += 1) {
    const row = table.rows[index] ?? [];
    const line = table.lines[index] ?? 0;
    let record: TableRow = row;
    if (!(row instanceof MalformedRecord)) {
      const filled = row.filter(isFilled);
      if (filled.length === 0) continue;
      if (index >= below || isAgain(columns, row) || isTotal(filled, row.length)) {
        const text = row.join(" ").trim().slice(0, 60);
        notes.add(message("rowsLeftOut"), line, JSON.stringify(text));
        continue;
      }
      const isLast = table.isUnended === true && index === table.rows.length - 1;
      if (isLast && !isShort && row.length < columns.length) {
        const problem = messageText(fieldCount(columns.length, row));
        throw new UnreadableInput(line, message("cutOff", problem));
      }
      isShort ||= row.length < columns.length;
      record = recordOf(columns.length, row, filled, headings);
    }
    records.push(record);
    lines.push(line);
  }
  boundRecords(lines);
  return { columns, records, lines, notes: notes.list() };
}

/** True for a header that is repeated. */
const isAgain = (columns: readonly string[], row: readonly string[]) =>
  row[0]?.trim() === columns[0] && columns.every((name, at) => row[at]?.trim() === name);

const fieldCount = (width: number, row: readonly string[]) =>
  message("fieldCount", String(width), String(row.length));

const isFilled = (field: string) => /\S/.test(field);

/** Rows above the header that are looked through: a report's title, date and filters. */
const titleRowsMax = 20;

/** The row of names: a known one, the one with the most usual headings, or the first full one. */
function headerIndex(rows: readonly TableRow[], { isHeader, familiar }: Known): number {
  const candidates = rows.slice(0, titleRowsMax).map(names);
  const known = candidates.findIndex(isHeader);
  if (known >= 0) return known;
  const counts = candidates.map(familiar);
  const most = Math.max(...counts);
  if (most >= 2) return counts.indexOf(most);
  const filled = candidates.map((row) => row.filter(isFilled).length);
  const usual = filled.toSorted((a, b) => a - b)[Math.floor(filled.length / 2)] ?? 0;
  return Math.max(
    filled.findIndex((count) => count > 1 && 2 * count >= usual),
    0,
  );
}

/** A row as names of columns, without the empty cells behind the last; a malformed one has none. */
function names(row: TableRow): readonly string[] {
  const trimmed = row instanceof MalformedRecord ? [] : row.map((name) => name.trim());
  return trimmed.slice(0, trimmed.findLastIndex(isFilled) + 1);
}

/** The names in a header. Throws UnreadableInput for one that is none, or not the only one. */
function headerAt(at: number, table: TableRows, headings: Known): readonly string[] {
  const columns = names(table.rows[at] ?? []);
  const line = table.lines[at] ?? 0;
  if (columns.length === 0) throw new UnreadableInput(line, message("headerMissing"));
  if (columns.filter(isFilled).length > limits.columns) {
    throw new UnreadableInput(line, message("columnsMany", String(limits.columns)));
  }
  const next = names(table.rows[at + 1] ?? []);
  const isNumber = (cell = "") => /^\d+(?:[.,]\d+)?$/.test(cell);
  const isOfWords = columns.some((name) => /\p{L}/u.test(name));
  const isLikeNext = next.some(
    (cell, index) =>
      (cell !== "" && cell === columns[index]) ||
      (isOfWords && isNumber(cell) && isNumber(columns[index])),
  );
  if (headings.familiar(columns) === 0 && (isLikeNext || headings.isRecord(columns))) {
    throw new UnreadableInput(line, message("headerless", String(columns.length)));
  }
  const others = next.filter((name) => !columns.includes(name));
  if (headings.familiar(others) > 2 && !headings.isRecord(others)) {
    throw new UnreadableInput(table.lines[at + 1] ?? 0, message("headerSecond"));
  }
  return columns;
}

/** What stands before the numbers of a total. */
const totals = /^\s*(?:(?:grand |sub)?totals?|sum|count|summe|gesamt|suma|totaal|somme|soma)\b/iu;

function isTotal([first = "", ...others]: readonly string[], width: number): boolean {
  if (!totals.test(first)) return false;
  // Behind a name such as "Total" there are words; behind a total there are numbers.
  const isFew = 2 * (others.length + 1) <= Math.max(width, 4);
  return isFew && others.every((field) => !/\p{L}{3}/u.test(field));
}

/** In a narrower table a row with a single field is a record. */
const tableColumnsMin = 3;

/** Where notes begin below the records: rows of a single field in a wider table. */
function notesFrom(width: number, { rows, isUnended }: TableRows, header: number): number {
  const isRecord = (row: TableRow) =>
    row instanceof MalformedRecord || row.filter(isFilled).length > 1;
  const end = rows.findLastIndex(isRecord) + 1;
  const last = names(rows.at(-1) ?? []).find(isFilled) ?? "";
  // A single word without a line's end is what is left of a record.
  const isCut = isUnended === true && /^\w\S*(?:\s+\S+)?$/.test(last);
  return width < tableColumnsMin || isCut || end <= header + 1 ? rows.length : end;
}

/** A row with a field for each column: programs leave blank ones at the end out. */
function recordOf(
  width: number,
  row: readonly string[],
  [only = "", ...others]: readonly string[],
  headings: Known,
): TableRow {
  if (width >= tableColumnsMin && others.length === 0 && headings.isTold(only)) {
    return new MalformedRecord(message("rowAlone", only), only);
  }
  if (row.length === width) return row;
  if (row.slice(width).some((field) => field !== "")) {
    return new MalformedRecord(fieldCount(width, row), row.join(","));
  }
  return Array.from({ length: width }, (_, at) => row[at] ?? "");
}

/** Throws UnreadableInput where there are records, or rows, at more lines than an import takes. */
export function boundRecords(lines: readonly number[], max: number = limits.records): void {
  const above = lines[max];
  if (above === undefined) return;
  throw new UnreadableInput(above, message("recordsMany", String(limits.records)));
}

/** More rows are no table of animals, whatever stands above its header. */
export const rowsMax = limits.records + 100;

/** Different texts of cells that are compared with later ones. */
const sharedMax = 20_000;

/** Gives one text for equal cells: most repeat that of another row, and each takes memory. */
export function sharedTexts(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) =>
    known.size < sharedMax ? known.getOrInsert(text, text) : (known.get(text) ?? text);
}

/**
 * The rows of CSV text, the header among them. A line on which a quote is left open is a
 * `MalformedRecord`. Throws UnreadableInput where a row is too long.
 */
export function csvTable(input: string): TableRows {
  const text = oldMacLines.test(input) ? input.replaceAll(/\r\n?/g, "\n") : input;
  const delimiter = delimiterOf(text);
  const rows: TableRow[] = [];
  const lines: number[] = [];
  const same = sharedTexts();
  const read = text.includes('="') ? (field: string) => same(withoutFormula(field)) : same;
  let line = 1;
  for (let at = 0; at < text.length;) {
    const { row, next } = rowAt(text, at, delimiter);
    const end = Math.min(next, text.length);
    if (end - at > limits.recordBytes) {
      throw new UnreadableInput(line, message("recordUnended", String(limits.recordBytes)));
    }
    if (row instanceof MalformedRecord) rows.push(row);
    else if (row.length > 1 || row[0] !== "") rows.push(row.map(read));
    if (lines.length < rows.length) lines.push(line);
    boundRecords(lines, rowsMax);
    for (let mark = placeOf(text, "\n", at); mark < end; mark = placeOf(text, "\n", mark + 1)) {
      line += 1;
    }
    at = end;
  }
  return { rows, lines, isUnended: !text.endsWith("\n") };
}

/** What `="0012"` shows: texts are written so for spreadsheets, which would make a number of it. */
const withoutFormula = (field: string) => /^="([^"]*)"$/.exec(field)?.[1] ?? field;

/** Where a mark is next; the end of the text if there is none. */
function placeOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? text.length : at;
}

const [quoteCode, newlineCode] = ['"'.charCodeAt(0), "\n".charCodeAt(0)];

/**
 * The row at `from`, and where the next one begins: on the next line where a quote stays open.
 * Quotes with a text behind them are a part of the text. By codes of characters: a call for each
 * field takes longer.
 */
function rowAt(text: string, from: number, delimiter: string) {
  const delimiterCode = delimiter.charCodeAt(0);
  const row: string[] = [];
  for (let at = from; ;) {
    let end = at;
    let field: string | undefined;
    if (text.charCodeAt(at) === quoteCode) {
      let quote = placeOf(text, '"', at + 1);
      while (text[quote + 1] === '"') quote = placeOf(text, '"', quote + 2);
      end = quote + 1;
      while (text[end] === " " || text[end] === "\r") end += 1;
      const isLast = quote < text.length && end >= text.length;
      const lineEnd = placeOf(text, "\n", at);
      if (isLast || text[end] === "\n" || text[end] === delimiter) {
        field = text.slice(at + 1, quote).replaceAll('""', '"');
      } else if (quote >= lineEnd) {
        const written = text.slice(from, beforeReturn(text, lineEnd));
        return { row: new MalformedRecord(message("quoteOpen"), written), next: lineEnd + 1 };
      }
    }
    if (field === undefined) {
      let code = text.charCodeAt(end);
      while (end < text.length && code !== delimiterCode && code !== newlineCode) {
        code = text.charCodeAt((end += 1));
      }
      field = text.slice(at, code === delimiterCode ? end : beforeReturn(text, end));
    }
    row.push(field);
    if (text[end] !== delimiter) return { row, next: end + 1 };
    at = end + 1;
  }
}

const beforeReturn = (text: string, end: number) => (text[end - 1] === "\r" ? end - 1 : end);

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
  const [best = ","] = delimiters.toSorted((a, b) => evenness(lines, b) - evenness(lines, a));
  return best;
}

/** The fields in lines with the most common number of them; 0 without any delimiter. */
function evenness(lines: readonly string[], delimiter: string): number {
  const counts = lines.map((line) => line.split(delimiter).length - 1);
  return Math.max(...counts.map((count) => count * counts.filter((each) => each === count).length));
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
 */
export function guarded(text: string): string {
  return text.replace(formula, "'");
}

/** The very text that `guarded` was given. */
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

/** One field by RFC 4180: quoted where it has to be. */
export function csvField(text: string): string {
  return /[",\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
