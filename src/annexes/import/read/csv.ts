import { quietly } from "../../../service/closing.ts";
import { csvRows } from "./csv-rows.ts";
import { type ByteChunks, UnreadableInput } from "./input.ts";
import { MalformedRecord, type RecordBatch } from "./records.ts";

/** A CSV input: the names in its header line, then its rows as arrays with one field for each name. */
export interface CsvRecords {
  readonly columns: readonly string[];
  readonly batches: AsyncGenerator<RecordBatch>;
}

/**
 * Reads CSV (RFC 4180; CRLF or LF, quoted newlines; comma, semicolon or tab, as the header line has it).
 * Blank lines are passed over. A row with fields missing or left over becomes a `MalformedRecord`.
 * Throws UnreadableInput for a missing or ambiguous header, and from `batches` for broken quoting.
 */
export async function readCsv(chunks: ByteChunks, delimiter: string): Promise<CsvRecords> {
  const rows = csvRows(chunks, delimiter);
  const first = await rows.next();
  if (first.done === true) {
    throw new UnreadableInput(0, "expected a CSV header line, found nothing");
  }
  try {
    const [header = [], ...records] = first.value.records as string[][];
    const [, ...lines] = first.value.lines;
    const columns = columnNames(header);
    return { columns, batches: fittingRows(columns.length, { lines, records }, rows) };
  } catch (error) {
    await quietly(() => rows.return(undefined));
    throw error;
  }
}

function columnNames(header: readonly string[]): string[] {
  const names = header.map((name) => name.trim());
  // Spreadsheets leave empty cells behind the last name.
  while (names.at(-1) === "") names.pop();
  if (names.length === 0) {
    throw new UnreadableInput(1, "expected a CSV header line, found only empty fields");
  }
  if (names.some((name) => name.includes("\r"))) {
    throw new UnreadableInput(1, "expected lines that end in LF or CRLF, found CR alone");
  }
  return names;
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
  const rows = batch.records as string[][];
  if (rows.every((row) => row.length === width)) return batch;
  return { lines: batch.lines, records: rows.map((row) => fittedRow(width, row)) };
}

function fittedRow(width: number, row: string[]): string[] | MalformedRecord {
  const surplus = row.length - width;
  if (surplus === 0) return row;
  if (surplus > 0 && row.slice(width).every((field) => field === "")) return row.slice(0, width);
  const fields = row.length === 1 ? "1 field" : `${row.length} fields`;
  return new MalformedRecord(
    `expected ${width} fields as in the header, found ${fields}`,
    row.join(","),
  );
}
