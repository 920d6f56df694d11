import { type Message, message, messageText, type Note } from "../messages.ts";
import { limits, UnreadableInput } from "./input.ts";

/** Records in the order of the input. Those of a table are read each time they are asked for. */
export type RecordList = Iterable<unknown> & {
  readonly length: number;
  slice(from: number, to: number): readonly unknown[];
};

/** Records as they stand in the input, each with the line or the number (from 1) that it has. */
export interface Records {
  /** The names in the header of a table; undefined for JSON objects. */
  readonly columns: readonly string[] | undefined;
  /** JSON values, or rows of fields; a `MalformedRecord` stands for an unreadable one. */
  readonly records: RecordList;
  readonly lines: readonly number[];
}

/** One record that is malformed in an input where the next one can still be read. */
export class MalformedRecord {
  readonly problem: Message;
  readonly text: string;

  constructor(problem: Message, text: string) {
    this.problem = problem;
    this.text = text;
  }
}

export type TableRow = readonly string[] | MalformedRecord;

/** Rows of a table, each with its line. */
export interface TableRows {
  readonly length: number;
  row(index: number): TableRow;
  line(index: number): number;
  /** How a row begins, where that is cheaper than its fields. */
  beginning?(index: number): string;
  /** True when the line's end is missing after the last one, which may be cut off. */
  readonly isUnended?: boolean;
  /** True where cells at a row's end are left out if they are empty. */
  readonly isSheet?: boolean;
}

/** What is known of headings, to find the header below a title. */
export interface Headings {
  /** True for the header of a known format. */
  isHeader(columns: readonly string[]): boolean;
  /** How many of these cells are headings that lists of animals have. */
  familiar(cells: readonly string[]): number;
  /** True for cells of a record, and not of a header. */
  isRecord(cells: readonly string[]): boolean;
  /** True for a kind or a status: alone in a row, it tells of the rows below it. */
  isTold(cell: string): boolean;
}

/**
 * The records below the header, which may follow a report's title. Leaves out blank rows, totals,
 * and notes below the last record, and says so. Throws UnreadableInput for a missing header, and
 * for an input that is cut off.
 */
export function tableOf(
  table: TableRows,
  headings: Headings,
): Records & { readonly notes: readonly Note[] } {
  const at = headerIndex(table, headings);
  const columns = headerAt(at, table, headings);
  const below = endOfRecords(columns.length, table, at);
  const [again = ""] = (table.beginning?.(at) ?? "").split("\n", 1);
  const left: number[] = [];
  const found: number[] = [];
  const alone = new Map<number, string>();
  for (let index = at + 1; index < table.length; index += 1) {
    const beginning = table.beginning?.(index) ?? "";
    const isUsual = index < below && usual.test(beginning) && !unusual.test(beginning);
    if (isUsual && !beginning.startsWith(again) && index < table.length - 1) {
      found.push(index);
      continue;
    }
    const row = table.row(index);
    if (row instanceof MalformedRecord) found.push(index);
    else if (row.some((field) => field.trim() !== "")) {
      const isAgain = columns.every((name, place) => row[place]?.trim() === name);
      const isLeftOut = index >= below || isAgain || isTotal(row);
      const [only = "", other] = row.filter((field) => field.trim() !== "");
      const isAlone = other === undefined && columns.length >= tableColumnsMin;
      if (isAlone && headings.isTold(only)) alone.set(index, only);
      if (!isLeftOut) refuseCut(columns.length, row, table, index);
      (isLeftOut ? left : found).push(index);
    }
  }
  boundRecords(found.length, table.line(found.at(-1) ?? 0));
  const rowOf = (index: number) => {
    const only = alone.get(index);
    if (only !== undefined) return new MalformedRecord(message("rowAlone", only), only);
    return fitted(columns.length, table.row(index), table.isSheet === true);
  };
  return {
    columns,
    records: {
      length: found.length,
      slice: (from, to) => found.slice(from, to).map(rowOf),
      *[Symbol.iterator]() {
        for (const index of found) yield rowOf(index);
      },
    },
    lines: found.map((index) => table.line(index)),
    notes: leftOut(left, table),
  };
}

function leftOut(left: readonly number[], table: TableRows): readonly Note[] {
  const [first] = left;
  if (first === undefined) return [];
  const row = table.row(first);
  const text = row instanceof MalformedRecord ? row.text : row.join(" ").trim();
  const example = JSON.stringify(text.slice(0, 60));
  const said = message("rowsLeftOut");
  return [{ said, records: left.length, firstLine: table.line(first), example }];
}

/** Rows above the header that are looked through: a report's title, date and filters. */
const titleRowsMax = 20;

/** The row of names: a known one, the one with the most usual headings, or the first full one. */
function headerIndex(table: TableRows, { isHeader, familiar }: Headings): number {
  if (table.length === 0) throw new UnreadableInput(0, message("headerMissing"));
  const rows = Math.min(table.length, titleRowsMax);
  const candidates = Array.from({ length: rows }, (_, index) => names(table.row(index)));
  const known = candidates.findIndex(isHeader);
  if (known >= 0) return known;
  const counts = candidates.map(familiar);
  const most = Math.max(...counts);
  if (most >= 2) return counts.indexOf(most);
  const filled = candidates.map((row) => row.filter((name) => name !== "").length);
  const usual = filled.toSorted((a, b) => a - b)[Math.floor(filled.length / 2)] ?? 0;
  return Math.max(
    filled.findIndex((count) => count > 1 && 2 * count >= usual),
    0,
  );
}

/** A row as names of columns; a malformed one has none. */
function names(row: TableRow): string[] {
  const trimmed = row instanceof MalformedRecord ? [] : row.map((name) => name.trim());
  // Spreadsheets leave empty cells behind the last name.
  while (trimmed.at(-1) === "") trimmed.pop();
  return trimmed;
}

/** The names in a header. Throws UnreadableInput for one that is none, or not the only one. */
function headerAt(at: number, table: TableRows, headings: Headings): readonly string[] {
  const columns = names(table.row(at));
  const line = table.line(at);
  if (columns.length === 0) throw new UnreadableInput(line, message("headerMissing"));
  const named = columns.filter((name) => name !== "").length;
  if (named > limits.columns) {
    throw new UnreadableInput(line, message("columnsMany", String(limits.columns)));
  }
  const next = at + 1 < table.length ? names(table.row(at + 1)) : [];
  const isLikeNext = next.some((cell, index) => cell !== "" && cell === columns[index]);
  if (headings.familiar(columns) === 0 && (isLikeNext || headings.isRecord(columns))) {
    throw new UnreadableInput(line, message("headerless", String(columns.length)));
  }
  const others = next.filter((name) => !columns.includes(name));
  if (headings.familiar(others) > 2 && !headings.isRecord(others)) {
    throw new UnreadableInput(table.line(at + 1), message("headerSecond"));
  }
  return columns;
}

/** What stands before the numbers of a total. */
const totals = /(?:grand |sub)?totals?\b|(?:sum|count|summe|gesamt|suma|totaal|somme|soma)\b/iu;

/** How a row begins that is neither blank nor a total: most do, and need no second look. */
const usual = new RegExp(String.raw`^[^\S\n]*["',;|\t ]*(?!${totals.source})[\p{L}\p{N}*#]`, "iu");

/** How a row begins that has nothing behind its first field. */
const unusual = /^[^,;|\t\n"]+[,;|\t]+\s*?\n/;

function isTotal(row: readonly string[]): boolean {
  const first = row.find((field) => field.trim() !== "") ?? "";
  if (first.trim().search(totals) !== 0) return false;
  const others = row.filter((field) => field.trim() !== "" && field !== first);
  // Behind a name such as "Total" there are words; behind a total there are numbers.
  const isFew = 2 * (others.length + 1) <= Math.max(row.length, 4);
  return isFew && others.every((field) => !/\p{L}{3}/u.test(field));
}

/** In a narrower table a row with a single field is a record. */
const tableColumnsMin = 3;

/** Where notes begin below the records: rows of a single field in a wider table. */
function endOfRecords(width: number, table: TableRows, header: number): number {
  if (width < tableColumnsMin) return table.length;
  let end = table.length;
  while (end > header + 1) {
    const row = table.row(end - 1);
    if (row instanceof MalformedRecord) break;
    const filled = row.filter((field) => field.trim() !== "");
    if (filled.length > 1) break;
    const isSentence = /\S\s+\S+\s+\S|^\W/.test(filled[0] ?? "  ");
    // A short last row without a line's end is what is left of a record.
    const isCut = table.isUnended === true && end === table.length && !isSentence;
    if (filled.length === 1 && isCut) break;
    end -= 1;
  }
  return end === header + 1 ? table.length : end;
}

/** Throws UnreadableInput for a last row that is short and has no end. */
function refuseCut(width: number, row: readonly string[], table: TableRows, index: number): void {
  const isLast = table.isUnended === true && index === table.length - 1;
  if (!isLast || row.length >= width || table.isSheet === true) return;
  const problem = message("fieldCount", String(width), String(row.length));
  throw new UnreadableInput(table.line(index), message("cutOff", messageText(problem)));
}

function fitted(width: number, row: TableRow, isSheet: boolean): TableRow {
  if (row instanceof MalformedRecord || row.length === width) return row;
  if (row.length < width && isSheet) {
    return [...row, ...Array.from({ length: width - row.length }, () => "")];
  }
  const rest = row.slice(width);
  if (row.length > width && rest.every((field) => field === "")) return row.slice(0, width);
  const problem = message("fieldCount", String(width), String(row.length));
  return new MalformedRecord(problem, row.join(","));
}

/** Throws UnreadableInput where there are more records than an import takes. */
export function boundRecords(count: number, line: number): void {
  if (count <= limits.records) return;
  throw new UnreadableInput(line, message("recordsMany", String(limits.records)));
}
