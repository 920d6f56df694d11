import type { SheetFilterInfo } from "hucre";
import { cellRef, readXlsx, streamXlsxRows } from "hucre/xlsx";
import { type ByteChunks, UnreadableInput, wholeInput } from "./input.ts";
import type { RecordBatch } from "./records.ts";
import { type Message, message } from "../messages.ts";

/** The largest workbook: its archive and shared texts are in memory; its sheet is streamed. */
const workbookMebibytesMax = 32;
const batchRows = 512;

/** The largest workbook that is searched for formulas without a value: all of it, in memory. */
const formulasBytesMax = 4 * 1024 * 1024;

/**
 * Rows of the sheet that is named, or of the first visible one, whose siblings go to `onUnread`:
 * texts, dates as ISO 8601, formulas as their values. The line of a record is its row. Throws
 * UnreadableInput for what is no workbook.
 */
export async function* xlsxRows(
  chunks: ByteChunks,
  sheet?: string,
  onUnread?: (sheets: readonly string[]) => void,
): AsyncGenerator<RecordBatch> {
  const tooLarge = message("workbookLarge", String(workbookMebibytesMax));
  const bytes = await wholeInput(chunks, workbookMebibytesMax * 1024 * 1024, tooLarge);
  let lines: number[] = [];
  let records: string[][] = [];
  let width = 0;
  try {
    const options = { sheet: sheet ?? (await firstVisible(bytes, onUnread)) };
    await refuseValueless(bytes, options.sheet);
    for await (const { index, values } of streamXlsxRows(bytes, options)) {
      // Empty cells at a row's end are left out of the file.
      width = Math.max(width, values.length);
      lines.push(index + 1);
      records.push(Array.from({ length: width }, (_, at) => cellText(values[at])));
      if (lines.length < batchRows) continue;
      yield { lines, records };
      lines = [];
      records = [];
    }
  } catch (error) {
    if (error instanceof UnreadableInput) throw error;
    throw new UnreadableInput(0, message("workbookUnreadable", (error as Error).message));
  }
  if (width === 0) throw new UnreadableInput(0, await emptiness(bytes, sheet));
  if (lines.length > 0) yield { lines, records };
}

/** What the workbook says of its sheets, without reading them. */
async function sheetsOf(bytes: Uint8Array): Promise<readonly SheetFilterInfo[]> {
  const sheets: SheetFilterInfo[] = [];
  await readXlsx(bytes, { sheets: (info) => sheets.push(info) < 0 });
  return sheets;
}

/** The position of the first sheet that people see: an old list may be hidden before it. */
async function firstVisible(
  bytes: Uint8Array,
  onUnread?: (sheets: readonly string[]) => void,
): Promise<number> {
  const sheets = await sheetsOf(bytes);
  const [first, ...others] = sheets.filter(
    ({ hidden, veryHidden }) => hidden !== true && veryHidden !== true,
  );
  onUnread?.(others.map(({ name }) => name));
  return first?.index ?? 0;
}

/**
 * Throws UnreadableInput for a formula without a value, as programs write it that do not compute:
 * read as blank, it could make an animal available that is gone.
 */
async function refuseValueless(bytes: Uint8Array, sheet: number | string): Promise<void> {
  if (bytes.length > formulasBytesMax) return;
  const { sheets } = await readXlsx(bytes, { sheets: [sheet] });
  for (const [place, { formula, value }] of sheets[0]?.cells ?? []) {
    if (formula === undefined || value !== null) continue;
    const [row = 0, column = 0] = place.split(",").map(Number);
    throw new UnreadableInput(row + 1, message("formulaValueless", cellRef(row, column)));
  }
}

/** Why a workbook gives no rows. */
async function emptiness(bytes: Uint8Array, sheet: string | undefined): Promise<Message> {
  const names = (await sheetsOf(bytes)).map(({ name }) => name);
  if (sheet === undefined || names.includes(sheet)) return message("sheetEmpty");
  const all = names.map((name) => JSON.stringify(name)).join(", ");
  return message("sheetUnknown", JSON.stringify(sheet), all);
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return dateText(value);
  const isPlain =
    typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isPlain ? String(value) : "";
}

/** A cell's date, which has no zone; without its time where it has none. */
function dateText(date: Date): string {
  if (Number.isNaN(date.getTime())) return "";
  const text = date.toISOString().replace(/\.\d+Z$/, "");
  return text.replace(/T00:00:00$/, "");
}
