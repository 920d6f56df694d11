/** Workbooks: their texts, numbers, dates and merged cells, and nothing else that they have. */
import { decodeXML } from "entities/decode";
import { isoSeconds } from "../../../domain/clock.ts";
import { message } from "../messages.ts";
import { limits, tooLarge, UnreadableInput } from "./input.ts";
import { sharedTexts as sharedCells } from "./table.ts";
import { Archive, BadArchive } from "./zip.ts";

/** A sheet that people see, and how to read its rows. */
export interface Sheet {
  readonly name: string;
  beginning(): SheetRows;
  rows(): SheetRows;
}

/** Rows of texts, dates as ISO 8601, formulas as their values; each with its number. */
export interface SheetRows {
  readonly lines: number[];
  readonly rows: string[][];
}

const beginningRows = 60;
/** More of them are not looked at: no list of animals is behind them. */
const sheetsMax = 50;
/** More texts than an import's cells have, and each takes memory of its own. */
const sharedTextsMax = 800_000;
/** Excel has no more formats for cells. */
const formatsMax = 65_536;

/**
 * The sheets of a workbook that are not hidden. Throws UnreadableInput for what is no workbook, or
 * unpacks to more than an import takes.
 */
export function sheetsOf(bytes: Uint8Array): readonly Sheet[] {
  const archive = inWords(() => new Archive(bytes, limits.bytes));
  const text = (name: string) => inWords(() => archive.text(name));
  const main = relationsOf(text, "").find(({ type }) => type === "officeDocument");
  const path = main?.target ?? "xl/workbook.xml";
  const workbook = text(path);
  if (workbook === "") throw otherArchive(archive.names);
  const relations = relationsOf(text, path);
  const partOf = (kind: string) => {
    const target = relations.find(({ type }) => type === kind)?.target;
    return target === undefined ? "" : text(target);
  };
  const sheets = tags(workbook, "sheet");
  if (sheets.length === 0) throw unreadable("it has no sheets");
  const shared = sharedTexts(partOf("sharedStrings"));
  const formats = dateFormats(partOf("styles"));
  const is1904 = /^(?:1|true)$/.test(attribute(tags(workbook, "workbookPr")[0] ?? "", "date1904"));
  return sheets.slice(0, sheetsMax).flatMap((tag) => {
    if (/hidden/i.test(attribute(tag, "state"))) return [];
    const id = attribute(tag, String.raw`(?:\w{1,20}:)?id`);
    const target = relations.find((each) => each.id === id)?.target ?? "";
    let known: string | undefined;
    const xml = () => (known ??= text(target));
    return [
      {
        name: decodeXML(attribute(tag, "name")),
        beginning: () => rowsOf(xml(), { shared, formats, is1904 }, beginningRows),
        rows: () => merged(rowsOf(xml(), { shared, formats, is1904 }), mergesIn(xml())),
      },
    ];
  });
}

function inWords<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge();
    if (error instanceof BadArchive) throw unreadable(error.message);
    throw error;
  }
}

const unreadable = (why: string) => new UnreadableInput(0, message("workbookUnreadable", why));

/** A ZIP archive that is no workbook; one with a single file says which. */
function otherArchive(names: readonly string[]): UnreadableInput {
  const files = names.filter((name) => !/\/$|^__MACOSX/.test(name));
  if (files.length !== 1 || /^xl\//i.test(files[0] ?? "")) return unreadable("it has no sheets");
  return new UnreadableInput(0, message("archived", files[0] ?? ""));
}

interface Relation {
  readonly id: string;
  /** The last word of its type. */
  readonly type: string;
  readonly target: string;
}

/** What a part refers to; the archive itself is the part without a name. */
function relationsOf(text: (name: string) => string, part: string): readonly Relation[] {
  const [, folder = "", name = ""] = /^(.*\/)?([^/]*)$/.exec(part) ?? [];
  return tags(text(`${folder}_rels/${name}.rels`), "Relationship").map((tag) => {
    const target = decodeXML(attribute(tag, "Target")).replaceAll("\\", "/");
    return {
      id: attribute(tag, "Id"),
      type: attribute(tag, "Type").replace(/^.*\//, ""),
      target: pathOf(target.startsWith("/") ? target.slice(1) : `${folder}${target}`),
    };
  });
}

/** A path without `.` and `..` in it. */
function pathOf(path: string): string {
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== ".") steps.push(step);
  }
  return steps.join("/");
}

/** The tags of this name, whatever prefix of a namespace they have. No tag has `<` in it. */
const tags = (xml: string, name: string) =>
  xml.match(new RegExp(String.raw`<(?:\w{1,20}:)?${name}(?:\s[^<>]{0,2000})?>`, "g")) ?? [];

function attribute(tag: string, name: string): string {
  const [, , value = ""] =
    new RegExp(String.raw`\s${name}\s*=\s*(["'])(.*?)\1`, "s").exec(tag) ?? [];
  return value;
}

/** Tags that say what is in cells. A text that is read out (`rPh`) is none of a cell. */
const cellTags = /<(\/?)(?:\w{1,20}:)?(row|c|v|f|t|si|rPh)((?:\s[^<>]{0,2000})?)(?<!\/)(\/?)>/g;

/** The texts that cells share, by their numbers. */
function sharedTexts(xml: string): readonly string[] {
  const texts: string[] = [];
  const tag = new RegExp(cellTags);
  let [text, from, isRead] = ["", -1, false];
  for (let found = tag.exec(xml); found; found = tag.exec(xml)) {
    const [, close, name, , empty] = found;
    if (name === "si" && (close !== "" || empty !== "")) {
      if (texts.push(text) > sharedTextsMax) throw tooLarge();
      text = "";
    } else if (name === "rPh") isRead = close === "";
    else if (name === "t" && close === "" && empty === "") from = tag.lastIndex;
    else if (name === "t" && from >= 0) {
      if (!isRead) text += plain(xml.slice(from, found.index));
      from = -1;
    }
  }
  return texts;
}

/** A text of XML, with the characters that Excel writes by their codes. */
const plain = (xml: string): string =>
  (xml.includes("&") ? decodeXML(xml) : xml).replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

/** True, by the number of a cell's format, for those that show a date. */
function dateFormats(xml: string): readonly boolean[] {
  const own = new Map(
    tags(xml, "numFmt").map((tag) => [
      attribute(tag, "numFmtId"),
      decodeXML(attribute(tag, "formatCode")),
    ]),
  );
  const [cells = ""] = /<(?:\w{1,20}:)?cellXfs[^<>]*>.*?<\/(?:\w{1,20}:)?cellXfs>/s.exec(xml) ?? [];
  const formats = tags(cells, "xf");
  if (formats.length > formatsMax || own.size > formatsMax) throw tooLarge();
  return formats.map((tag) => {
    const id = attribute(tag, "numFmtId");
    const code = own.get(id);
    return code === undefined ? usualDates.has(Number(id)) : isDateCode(code);
  });
}

const usualDates: ReadonlySet<number> = new Set([
  14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 52, 53, 54, 57, 58,
]);

/** A code with a year, month or day outside of quotes and brackets. */
const isDateCode = (code: string) =>
  /[yd]|m{3}/i.test(code.replaceAll(/"[^"]*"|\[[^\]]*\]|\\./g, "")) && !/^general$/i.test(code);

interface Book {
  readonly shared: readonly string[];
  readonly formats: readonly boolean[];
  readonly is1904: boolean;
}

/** A cell while it is read. */
interface Cell {
  readonly column: number;
  readonly kind: string;
  readonly format: number;
  value: string | undefined;
  hasFormula: boolean;
}

/** The filled rows of a sheet. Throws UnreadableInput for one that cannot be read. */
function rowsOf(xml: string, book: Book, rowsMax = Infinity): SheetRows {
  const found = new Rows(book);
  const tag = new RegExp(cellTags);
  let [cell, from, isRead]: [Cell | undefined, number, boolean] = [undefined, -1, false];
  for (let at = tag.exec(xml); at && found.rows.length < rowsMax; at = tag.exec(xml)) {
    const [, close, name, attributes = "", empty] = at;
    const isEnd = close !== "" || empty !== "";
    if (name === "row" && close === "") found.begin(Number(attribute(attributes, "r")));
    if (name === "row" && isEnd) found.end();
    if (name === "c" && close === "") cell = found.cell(attributes);
    if (name === "c" && isEnd && cell !== undefined) {
      found.add(cell);
      cell = undefined;
    }
    if (cell === undefined) continue;
    if (name === "f") cell.hasFormula = true;
    else if (name === "rPh") isRead = close === "";
    else if ((name === "v" || name === "t") && !isEnd) from = tag.lastIndex;
    else if ((name === "v" || name === "t") && from >= 0) {
      if (!isRead) cell.value = (cell.value ?? "") + plain(xml.slice(from, at.index));
      from = -1;
    }
  }
  return found;
}

/** The rows of a sheet while they are read. */
class Rows implements SheetRows {
  readonly lines: number[] = [];
  readonly rows: string[][] = [];
  readonly #book: Book;
  readonly #same = sharedCells();
  #line = 0;
  #row: string[] = [];
  #column = -1;
  #filled = 0;
  /** A text that is stored once may be in every row. */
  #characters = 0;

  constructor(book: Book) {
    this.#book = book;
  }

  begin(line: number): void {
    this.#line = line || this.#line + 1;
    this.#row = [];
    this.#column = -1;
    this.#filled = 0;
  }

  cell(attributes: string): Cell {
    const [, letters] = columnPattern.exec(attributes) ?? [];
    this.#column = letters === undefined ? this.#column + 1 : columnOf(letters);
    return {
      column: this.#column,
      kind: attribute(attributes, "t"),
      format: Number(attribute(attributes, "s") || "-1"),
      value: undefined,
      hasFormula: false,
    };
  }

  /**
   * Throws UnreadableInput for a formula without a value, as programs write it that do not compute:
   * read as blank, it could make an animal available that is gone.
   */
  add(cell: Cell): void {
    const { column, value = "", hasFormula, kind } = cell;
    if (hasFormula && value === "" && kind !== "str") {
      const at = `${lettersOf(column)}${this.#line}`;
      throw new UnreadableInput(this.#line, message("formulaValueless", at));
    }
    const text = textOf(cell, this.#book);
    // Formatted sheets have cells up to their last column, but nothing in them.
    if (text === "") return;
    if ((this.#filled += 1) > limits.columns) {
      throw new UnreadableInput(this.#line, message("columnsMany", String(limits.columns)));
    }
    // What stands far out is none of the list.
    if (column >= limits.columns) return;
    while (this.#row.length < column) this.#row.push("");
    this.#row[column] = this.#same(text);
    this.#characters += text.length;
  }

  end(): void {
    if (this.#row.length === 0) return;
    this.lines.push(this.#line);
    this.rows.push(this.#row);
    this.#row = [];
    if (this.#characters > limits.bytes) throw tooLarge();
    if (this.rows.length > limits.records + beginningRows) {
      throw new UnreadableInput(this.#line, message("recordsMany", String(limits.records)));
    }
  }
}

const columnPattern = /\sr\s*=\s*["']([A-Z]{1,3})\d/;

function columnOf(letters: string): number {
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

function lettersOf(column: number): string {
  const rest = Math.floor(column / 26);
  return (rest > 0 ? lettersOf(rest - 1) : "") + String.fromCharCode(65 + (column % 26));
}

function textOf({ kind, format, value = "" }: Cell, { shared, formats, is1904 }: Book): string {
  switch (kind) {
    case "s":
      return shared[Number(value)] ?? "";
    case "b":
      return value === "" ? "" : String(value === "1" || value === "true");
    case "d":
      return value.replace(/(?:T00:00:00(?:\.0+)?)?Z?$/, "");
    case "":
    case "n": {
      const number = Number(value);
      if (value === "" || Number.isNaN(number)) return value;
      return formats[format] === true ? dateText(number, is1904) : String(number);
    }
    default:
      return value;
  }
}

const secondsOfDay = 86_400;
/** Some thousand years. */
const secondsMax = 1e11;
/** Days from Excel's day 0, or that of an old Mac, to 1970. */
const [days1900, days1904] = [25_569, 24_107];

/** A cell's date, which has no zone; without its time where it has none. */
function dateText(serial: number, is1904: boolean): string {
  const seconds = Math.round((serial - (is1904 ? days1904 : days1900)) * secondsOfDay);
  if (!(Math.abs(seconds) < secondsMax)) return String(serial);
  return isoSeconds(seconds * 1_000).replace(/(?:T00:00:00)?Z$/, "");
}

/** More cells than these under one value are a layout, not a list. */
const mergedCellsMax = 10_000;
/** More merged cells in all lie over one another. */
const mergedMax = 10 * limits.records;

const mergesIn = (xml: string) => tags(xml, "mergeCell").map((each) => attribute(each, "ref"));

/** The rows with the value of a merged cell in each row that it spans. */
function merged({ lines, rows }: SheetRows, merges: readonly string[]): SheetRows {
  const at = new Map(lines.map((line, index) => [line, index]));
  let left = mergedMax;
  for (const each of merges) {
    const [, letters = "", first, others = letters, last = first] =
      /^([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?$/.exec(each) ?? [];
    const [column, from, to] = [columnOf(letters), Number(first), Number(last)];
    // Titles span columns; what spans rows is a value of each of them.
    if (letters === "" || letters !== others || to - from > mergedCellsMax) continue;
    left -= to - from + 1;
    if (left < 0) throw unreadable("its cells overlap");
    const value = rows[at.get(from) ?? -1]?.[column] ?? "";
    for (let line = from; line <= to; line += 1) {
      const cells = rows[at.get(line) ?? -1];
      if (cells === undefined || value === "") continue;
      while (cells.length <= column) cells.push("");
      cells[column] = value;
    }
  }
  return { lines, rows };
}
