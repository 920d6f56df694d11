import { setImmediate } from "node:timers/promises";
import { decodeXML } from "entities/decode";
import { cellRef, parseCellRef, streamXlsxRows } from "hucre/xlsx";
import { message } from "../messages.ts";
import { collectBehind, limits, ownText, tooLarge, UnreadableInput } from "./input.ts";
import { BadArchive, unzipped, zipped } from "./zip.ts";

/** A sheet that people see, and how to read its rows. */
export interface Sheet {
  readonly name: string;
  beginning(): Promise<SheetRows>;
  rows(): Promise<SheetRows>;
}

/** Rows of texts, dates as ISO 8601, formulas as their values; each with its number. */
export interface SheetRows {
  readonly lines: number[];
  readonly rows: string[][];
}

const beginningRows = 60;
/** Different texts of cells that are compared with later ones. */
const sharedCellsMax = 20_000;
/** More of them are not looked at: no list of animals is behind them. */
const sheetsMax = 50;
/** More texts than cells are possible, and each takes memory of its own. */
const sharedTextsMax = 800_000;
/** They and the tags are read again for each sheet, to see what is in it. */
const readAgainMax = 3_000_000;

/** How much of a sheet is read at once. */
const pieceBytes = 256 * 1024;

const workbookPart = "xl/workbook.xml";
const relationsPart = "xl/_rels/workbook.xml.rels";
/** These are read as a tree, of some 400 bytes a tag. Styles have at most 65,000 formats. */
const treePart = /\.rels$|^\[Content_Types\]\.xml$|^xl\/(?:workbook|styles)\.xml$/i;
const tagsMax = 400_000;
const textsPart = /^xl\/sharedStrings\.xml$/i;
/** Its reader needs the other parts first. */
const isSheet = (name: string) => Number(/^xl\/worksheets\//i.test(name));
const isRead = (name: string) =>
  /\.(?:xml|rels)$/i.test(name) && !/^(?:customXml|docProps)\//i.test(name);

/**
 * The sheets of a workbook that are not hidden. Throws UnreadableInput for what is no workbook, or
 * unpacks to more than an import takes.
 */
export function sheetsOf(bytes: Uint8Array): readonly Sheet[] {
  const parts = inWords(() => unzipped(bytes, isRead, limits.bytes));
  let texts = 0;
  let tagsInAll = 0;
  for (const [name, part] of parts) {
    if (textsPart.test(name)) texts += countOf(part, "<si");
    const ofTree = treePart.test(name) ? countOf(part, "<") : 0;
    if (ofTree > tagsMax) throw tooLarge();
    tagsInAll += ofTree;
  }
  const workbook = textOf(parts.get(workbookPart));
  const targets = new Map(
    tags(textOf(parts.get(relationsPart)), "Relationship").map((each) => [
      attribute(each, "Id"),
      `xl/${attribute(each, "Target").replace(/^\/?(?:xl\/)?/, "")}`,
    ]),
  );
  const sheets = tags(workbook, "sheet");
  const readAgain = (texts + tagsInAll) * sheets.length;
  if (texts > sharedTextsMax || readAgain > readAgainMax) throw tooLarge();
  if (sheets.length === 0) {
    throw new UnreadableInput(0, message("workbookUnreadable", "it has no sheets"));
  }
  const ordered = [...parts].toSorted(([a], [b]) => isSheet(a) - isSheet(b));
  // What is read whole comes whole: the reader would copy what it has with each further piece.
  const whole = new Set(ordered.filter(([name]) => !isSheet(name)).map(([, part]) => part));
  const archive = zipped(new Map(ordered)).flatMap((bytes) =>
    whole.has(bytes) ? [bytes] : piecesOf(bytes),
  );
  return sheets.slice(0, sheetsMax).flatMap((each, index) => {
    if (/hidden/i.test(attribute(each, "state"))) return [];
    const name = decodeXML(attribute(each, "name"));
    const part = parts.get(targets.get(attribute(each, "r:id")) ?? "");
    return [
      {
        name,
        beginning: () => rowsOf(archive, index, { maxRows: beginningRows }),
        rows: async () => {
          // Before the rows: the text of a large sheet and its rows are not in memory at once.
          const merges = mergesIn(textOf(part));
          return merged(await rowsOf(archive, index), merges);
        },
      },
    ];
  });
}

function inWords<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge();
    if (error instanceof BadArchive) throw unreadable(error);
    throw error;
  }
}

function unreadable(error: unknown): UnreadableInput {
  return new UnreadableInput(0, message("workbookUnreadable", (error as Error).message));
}

const piecesOf = (part: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(part.length / pieceBytes) }, (_, at) =>
    part.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  );

/**
 * An archive for the reader, which lets a piece wait until the rows of the last one are taken: it
 * reads ahead of who takes them, and would have those of the whole sheet in memory.
 */
function streamed(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await setImmediate();
      const piece = pieces[(at += 1) - 1];
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
  });
}

async function rowsOf(
  archive: readonly Uint8Array[],
  sheet: number,
  options: { readonly maxRows?: number } = {},
): Promise<SheetRows> {
  const lines: number[] = [];
  const rows: string[][] = [];
  // A text that is stored once may be in every row.
  let characters = 0;
  // Most cells repeat a text of another row: one string for all of them saves a tenth.
  const known = new Map<string, string>();
  const shared = (text: string): string => {
    const same = known.get(text);
    if (same !== undefined) return same;
    const own = ownText(text);
    if (known.size < sharedCellsMax) known.set(own, own);
    return own;
  };
  try {
    for await (const { index, values } of streamXlsxRows(streamed(archive), {
      sheet,
      ...options,
    })) {
      // Formatted sheets have cells up to their last column, but nothing in them.
      const texts = Array.from(values, cellText);
      const end = texts.findLastIndex((text) => text !== "") + 1;
      if (end === 0) continue;
      if (end > limits.columns) {
        throw new UnreadableInput(index + 1, message("columnsMany", String(limits.columns)));
      }
      if (rows.length > limits.records + beginningRows) {
        throw new UnreadableInput(index + 1, message("recordsMany", String(limits.records)));
      }
      collectBehind(rows.length);
      lines.push(index + 1);
      for (const text of texts) characters += text.length;
      if (characters > limits.bytes) throw tooLarge();
      rows.push(texts.slice(0, end).map(shared));
    }
  } catch (error) {
    throw error instanceof UnreadableInput ? error : unreadable(error);
  }
  return { lines, rows };
}

/** More cells than these under one value are a layout, not a list. */
const mergedCellsMax = 10_000;
/** More merged cells in all lie over one another. */
const mergedMax = 10 * limits.records;

/** The rows with the value of a merged cell in each row that it spans. */
function merged({ lines, rows }: SheetRows, merges: readonly string[]): SheetRows {
  const at = new Map(lines.map((line, index) => [line, index]));
  let left = mergedMax;
  for (const each of merges) {
    const [first = "", last = first] = each.split(":");
    const [from, to] = [parseCellRef(first), parseCellRef(last)];
    // Titles span columns; what spans rows is a value of each of them.
    if (from.col !== to.col || to.row - from.row > mergedCellsMax) continue;
    left -= to.row - from.row + 1;
    if (left < 0) throw new UnreadableInput(0, message("workbookUnreadable", "its cells overlap"));
    const value = rows[at.get(from.row + 1) ?? -1]?.[from.col] ?? "";
    for (let row = from.row + 1; row <= to.row; row += 1) {
      const cells = rows[at.get(row + 1) ?? -1];
      if (cells === undefined) continue;
      while (cells.length <= from.col) cells.push("");
      cells[from.col] = value;
    }
  }
  return { lines, rows };
}

/**
 * The merged cells of a sheet. Throws UnreadableInput for a formula without a value, as programs
 * write it that do not compute: read as blank, it could make an animal available that is gone.
 */
function mergesIn(xml: string): string[] {
  const formula =
    /<c\b([^<>]{1,200})><f\b(?:[^<>]{0,200}\/>|[^<>]{0,200}>[^<]*<\/f>)(?:<v\/>|<v><\/v>)?<\/c>/;
  const [, attributes = ""] = formula.exec(xml) ?? [];
  if (attributes === "") return tags(xml, "mergeCell").map((each) => attribute(each, "ref"));
  const { row, col } = parseCellRef(attribute(attributes, "r"));
  throw new UnreadableInput(row + 1, message("formulaValueless", cellRef(row, col)));
}

const textOf = (part: Uint8Array | undefined) => new TextDecoder().decode(part);

function countOf(bytes: Uint8Array, text: string): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = buffer.indexOf(text); at >= 0; at = buffer.indexOf(text, at + 1)) count += 1;
  return count;
}

/** The tags of this name, whatever prefix of a namespace they have. No tag has `<` in it. */
const tags = (xml: string, name: string) =>
  xml.match(new RegExp(String.raw`<(?:\w{1,20}:)?${name}\s[^<>]{0,2000}>`, "g")) ?? [];

function attribute(tag: string, name: string): string {
  const [, , value = ""] =
    new RegExp(String.raw`\s${name}\s*=\s*(["'])(.*?)\1`, "s").exec(tag) ?? [];
  return value;
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
