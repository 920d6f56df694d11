import { quietly } from "../../../service/closing.ts";
import { UnreadableInput } from "./input.ts";
import { MalformedRecord, type RecordBatch } from "./records.ts";
import { message, messageText } from "../messages.ts";

/** A table: the names in its header, then its rows as arrays with one field for each name. */
interface TableRecords {
  readonly columns: readonly string[];
  readonly batches: AsyncGenerator<RecordBatch>;
}

/** True for names of columns that mean something. */
type IsHeader = (columns: readonly string[]) => boolean;

/**
 * The records below the header among `rows`, which may follow a report's title: `isHeader` finds
 * it. Skips blank rows. A row with too few or too many fields becomes a `MalformedRecord`. Throws
 * UnreadableInput for a missing header or a cut-off input.
 */
export async function readTable(
  rows: AsyncGenerator<RecordBatch>,
  isHeader?: IsHeader,
): Promise<TableRecords> {
  const first = await firstRows(rows);
  if (first.records.length === 0) {
    throw new UnreadableInput(0, message("headerMissing"));
  }
  try {
    const at = headerIndex(first.records, isHeader);
    const columns = columnNames(names(first.records[at]));
    const rest = {
      ...first,
      lines: first.lines.slice(at + 1),
      records: first.records.slice(at + 1),
    };
    return { columns, batches: fittingRows(columns.length, rest, rows) };
  } catch (error) {
    await quietly(() => rows.return(undefined));
    throw error;
  }
}

/** Rows above the header that are looked through: a report's title, date and filters. */
const titleRowsMax = 20;

/** The rows among which the header is, and those that came with them. */
async function firstRows(rows: AsyncGenerator<RecordBatch>): Promise<RecordBatch> {
  let first: RecordBatch = { lines: [], records: [] };
  while (first.records.length <= titleRowsMax) {
    const next = await rows.next();
    if (next.done === true) break;
    const { lines, records } = next.value;
    first = {
      ...next.value,
      lines: [...first.lines, ...lines],
      records: [...first.records, ...records],
    };
  }
  return first;
}

/** The row of names: one that `isHeader` knows, else the first not much emptier than most. */
function headerIndex(rows: readonly unknown[], isHeader?: IsHeader): number {
  const candidates = rows.slice(0, titleRowsMax).map(names);
  const known = candidates.findIndex((row) => isHeader?.(row) === true);
  if (known >= 0) return known;
  const filled = candidates.map((row) => row.filter((name) => name !== "").length);
  const usual = filled.toSorted((a, b) => a - b)[Math.floor(filled.length / 2)] ?? 0;
  return Math.max(
    filled.findIndex((count) => count > 1 && 2 * count >= usual),
    0,
  );
}

/** A row as names of columns; a malformed one has none. */
function names(row: unknown): string[] {
  const trimmed =
    row instanceof MalformedRecord ? [] : (row as string[]).map((name) => name.trim());
  // Spreadsheets leave empty cells behind the last name.
  while (trimmed.at(-1) === "") trimmed.pop();
  return trimmed;
}

function columnNames(columns: string[]): string[] {
  if (columns.length === 0) {
    throw new UnreadableInput(1, message("headerEmpty"));
  }
  if (columns.some((name) => /\r(?!\n)/.test(name))) {
    throw new UnreadableInput(1, message("lineEndsWrong"));
  }
  return columns;
}

async function* fittingRows(
  width: number,
  first: RecordBatch,
  rest: AsyncGenerator<RecordBatch>,
): AsyncGenerator<RecordBatch> {
  try {
    if (first.records.length > 0) yield fitted(width, first);
    for await (const batch of rest) yield fitted(width, batch);
  } finally {
    await rest.return(undefined);
  }
}

function fitted(width: number, batch: RecordBatch): RecordBatch {
  const rows = batch.records as (string[] | MalformedRecord)[];
  if (rows.every((row) => isFitting(width, row))) return batch;
  const lines: number[] = [];
  const records: (string[] | MalformedRecord)[] = [];
  for (const [index, row] of rows.entries()) {
    const line = batch.lines[index] ?? 0;
    const isEmpty = !(row instanceof MalformedRecord) && row.every((field) => field.trim() === "");
    if (isEmpty) continue;
    const record = row instanceof MalformedRecord ? row : fittedRow(width, row);
    const isUnended = batch.isUnended === true && index === rows.length - 1;
    if (isUnended && record instanceof MalformedRecord && isShort(width, row)) {
      throw new UnreadableInput(line, message("cutOff", messageText(record.problem)));
    }
    lines.push(line);
    records.push(record);
  }
  return { lines, records };
}

function isShort(width: number, row: string[] | MalformedRecord): boolean {
  return !(row instanceof MalformedRecord) && row.length < width;
}

/** True for a row that may stay as it is. One that begins with an empty field may be blank. */
function isFitting(width: number, row: string[] | MalformedRecord): boolean {
  return !(row instanceof MalformedRecord) && row.length === width && row[0] !== "";
}

function fittedRow(width: number, row: string[]): string[] | MalformedRecord {
  const surplus = row.length - width;
  if (surplus === 0) return row;
  if (surplus > 0 && row.slice(width).every((field) => field === "")) return row.slice(0, width);
  const problem = message("fieldCount", String(width), String(row.length));
  return new MalformedRecord(problem, row.join(","));
}
