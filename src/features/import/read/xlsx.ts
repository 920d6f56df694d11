/** Workbooks: their texts, numbers, dates and merged cells, and nothing else that they have. */
import { posix } from "node:path";
import { inflateRawSync } from "node:zlib";
import { decodeXML } from "entities/decode";
import { dayMs, isoSeconds } from "../../../domain/clock.ts";
import { message } from "../messages.ts";
import { limits, orUnreadable, tooLarge, UnreadableInput } from "./input.ts";
import { boundRecords, rowsMax, sharedTexts } from "./table.ts";

/** More texts and formats than an import's cells have, and each takes memory of its own. */
const elementsMax = 800_000;

/**
 * The sheets of a workbook that are not hidden. Throws UnreadableInput for what is no workbook, or
 * unpacks to more than an import takes.
 */
export function sheetsOf(bytes: Uint8Array) {
  const archive = archiveOf(bytes, limits.bytes);
  const text = (name = "") => xmlOf(archive.part(name));
  const path = targetsOf(text, "").get("officeDocument") ?? "xl/workbook.xml";
  const workbook = text(path);
  if (workbook === "") throw otherArchive(archive.names);
  const targets = targetsOf(text, path);
  const sheets = all(workbook, "sheet", (_, tag) => tag);
  if (sheets.length === 0) throw unreadable("it has no sheets");
  const [[, properties = ""] = []] = elements(workbook, "workbookPr");
  const book: Book = {
    shared: all(text(targets.get("sharedStrings")), "si", textIn),
    formats: dateFormats(text(targets.get("styles"))),
    is1904: /^(?:1|true)$/.test(attribute(properties, "date1904")),
    same: sharedTexts(),
  };
  return sheets.flatMap((tag) => {
    if (/hidden/i.test(attribute(tag, "state"))) return [];
    const target = targets.get(attribute(tag, String.raw`(?:\w{1,20}:)?id`));
    let xml: string | undefined;
    /** Its filled rows, of which the first are enough to tell whether it is a list. */
    const rows = (max?: number) => rowsOf((xml ??= text(target)), book, max);
    return [{ name: decodeXML(attribute(tag, "name")), rows }];
  });
}

const unreadable = (why: string) => new UnreadableInput(0, message("workbookUnreadable", why));
const damaged = () => unreadable("it is damaged");

/** A ZIP archive that is no workbook; one with a single file says which. */
function otherArchive(names: readonly string[]): UnreadableInput {
  const files = names.filter((name) => !/\/$|^__MACOSX/.test(name));
  if (files.length !== 1 || /^xl\//i.test(files[0] ?? "")) return unreadable("it has no sheets");
  return new UnreadableInput(0, message("archived", files[0] ?? ""));
}

const directoryMark = 0x02014b50;

/**
 * A ZIP archive, whose parts are unpacked as they are asked for, whatever the case of their names:
 * at most `bytesMax` in all. It and its parts throw UnreadableInput.
 */
export function archiveOf(bytes: Uint8Array, bytesMax: number) {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const names: string[] = [];
  const entries = new Map<string, number>();
  orUnreadable(damaged, () => {
    const end = archive.lastIndexOf("PK\u0005\u0006");
    let at = archive.readUInt32LE(end + 16);
    for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
      const nameEnd = at + 46 + archive.readUInt16LE(at + 28);
      const name = archive.toString("utf8", at + 46, nameEnd);
      const isEntry = archive.readUInt32LE(at) === directoryMark && !entries.has(keyOf(name));
      if (!isEntry) throw damaged();
      names.push(name);
      entries.set(keyOf(name), at);
      at = nameEnd + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    }
  });
  let left = bytesMax;
  const part = (name: string): Uint8Array | undefined => {
    const entry = entries.get(keyOf(name));
    if (entry === undefined) return undefined;
    const whole = orUnreadable(damaged, () => unpacked(archive, entry, left));
    left -= whole.length;
    if (left < 0) throw tooLarge();
    return whole;
  };
  return { names, part };
}

const keyOf = (name: string) => name.replaceAll("\\", "/").replace(/^\//, "").toLowerCase();

function unpacked(archive: Buffer, entry: number, bytesMax: number): Buffer {
  const local = archive.readUInt32LE(entry + 42);
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const size = archive.readUInt32LE(entry + 20);
  const packed = archive.subarray(start, start + size);
  if (packed.length < size) throw damaged();
  const isStored = archive.readUInt16LE(entry + 10) === 0;
  return isStored ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(bytesMax, 1) });
}

/** What a part refers to, by the id and by the last word of the type; "" is the archive itself. */
function targetsOf(text: (name: string) => string, part: string): ReadonlyMap<string, string> {
  const [folder, targets] = [posix.dirname(part), new Map<string, string>()];
  const relations = text(posix.join(folder, `_rels/${posix.basename(part)}.rels`));
  for (const [, tag] of elements(relations, "Relationship")) {
    const path = decodeXML(attribute(tag, "Target")).replaceAll("\\", "/");
    const target = posix.resolve("/", folder, path).slice(1);
    targets.set(attribute(tag, "Type").replace(/^.*\//, ""), target);
    targets.set(attribute(tag, "Id"), target);
  }
  return targets;
}

/** The text of a part without the prefixes of a namespace; empty if there is none. */
function xmlOf(part: Uint8Array | undefined): string {
  const xml = new TextDecoder().decode(part);
  const hasPrefix = /<\w{1,20}:(?:workbook|worksheet|sst|styleSheet|Relationships)\b/;
  if (!hasPrefix.test(xml.slice(0, 4_096))) return xml;
  return xml.replaceAll(/<(\/?)\w{1,20}:/g, "<$1");
}

/** What is in each element of this name, and in its tag, which has no `<`. */
function* elements(xml: string, name: string): Generator<readonly [string, string]> {
  const tag = new RegExp(String.raw`<${name}((?:\s[^<>]{0,2000})?)/?>`, "g");
  for (let found = tag.exec(xml); found; found = tag.exec(xml)) {
    const from = tag.lastIndex;
    const isEmpty = xml[from - 2] === "/";
    const end = isEmpty ? from : xml.indexOf(`</${name}>`, from);
    if (end < 0) return;
    yield [xml.slice(from, end), found[1] ?? ""];
    if (!isEmpty) tag.lastIndex = end + name.length + 3;
  }
}

/** What each element of this name comes to. Throws UnreadableInput for too many. */
function all<T>(xml: string, name: string, of: (inner: string, tag: string) => T): T[] {
  const found: T[] = [];
  for (const [inner, tag] of elements(xml, name)) {
    if (found.push(of(inner, tag)) > elementsMax) throw tooLarge();
  }
  return found;
}

const patterns = new Map<string, RegExp>();

function attribute(attributes: string, name: string): string {
  const pattern = patterns.getOrInsertComputed(
    name,
    () => new RegExp(String.raw`\s${name}\s*=\s*(?:"([^"]*)"|'([^']*)')`),
  );
  const [, double, single = ""] = pattern.exec(attributes) ?? [];
  return double ?? single;
}

/** A text in pieces. One that is read out (`rPh`) is none of them. */
function textIn(xml: string): string {
  const [first = "", ...others] = xml.split("<rPh");
  const pieces = [first, ...others.map((each) => each.slice(each.indexOf("</rPh>") + 1))];
  const texts = pieces.join("").matchAll(/<t(?:\s[^<>]*)?>([^<]*)/g);
  return Array.from(texts, ([, text = ""]) => plain(text)).join("");
}

/** A text of XML, with the characters that Excel writes by their codes. */
const plain = (xml: string): string =>
  (xml.includes("&") ? decodeXML(xml) : xml).replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

/** True, by the number of a cell's format, for those that show a date. */
function dateFormats(xml: string): readonly boolean[] {
  const idOf = (tag: string) => attribute(tag, "numFmtId");
  const isDate = (_: string, tag: string) =>
    [idOf(tag), isDateCode(decodeXML(attribute(tag, "formatCode")))] as const;
  const own = new Map(all(xml, "numFmt", isDate));
  const [[cells = ""] = []] = elements(xml, "cellXfs");
  return all(cells, "xf", (_, tag) => own.get(idOf(tag)) ?? usualDates.has(Number(idOf(tag))));
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
  readonly same: (text: string) => string;
}

/**
 * The filled rows of a sheet, each with its number: texts, dates as ISO 8601, formulas as their
 * values. Throws UnreadableInput for a sheet that cannot be read.
 */
function rowsOf(xml: string, book: Book, max = Infinity) {
  const lines: number[] = [];
  const rows: string[][] = [];
  let line = 0;
  // A text that is stored once may be in every row, and a value may stand far out in each.
  let size = 0;
  for (const [inner, tag] of elements(xml, "row")) {
    line = Number(attribute(tag, "r")) || line + 1;
    const row = rowOf(inner, line, book);
    if (row.length === 0) continue;
    lines.push(line);
    rows.push(row);
    for (const text of row) size += text.length + placeBytes;
    if (size > limits.bytes) throw tooLarge();
    boundRecords(lines, rowsMax);
    if (rows.length === max) break;
  }
  spread(xml, new Map(lines.map((each, at) => [each, rows[at] ?? []])));
  return { lines, rows };
}

const placeBytes = 4;

/**
 * The texts of a row up to the last one. Throws UnreadableInput for a formula without a value, as
 * programs write it that do not compute: as a blank it could make an animal available that is gone.
 */
function rowOf(xml: string, line: number, book: Book): string[] {
  const row: string[] = [];
  let [column, filled] = [-1, 0];
  for (const [inner, tag] of elements(xml, "c")) {
    const name = attribute(tag, "r");
    column = name === "" ? column + 1 : columnOf(name);
    const text = textOf(inner, tag, book);
    if (text === "" && /<f[\s/>]/.test(inner) && attribute(tag, "t") !== "str") {
      throw new UnreadableInput(line, message("formulaValueless", name));
    }
    // Formatted sheets have cells up to their last column, but nothing in them.
    if (text === "") continue;
    if ((filled += 1) > limits.columns) {
      throw new UnreadableInput(line, message("columnsMany", String(limits.columns)));
    }
    // What stands far out is none of the list.
    if (column >= limits.columns) continue;
    while (row.length < column) row.push("");
    row[column] = book.same(text);
  }
  return row;
}

/** The column of a cell such as `BC7`, from 0. */
function columnOf(cell: string): number {
  let column = 0;
  for (let at = 0; cell.charCodeAt(at) >= 65; at += 1) {
    column = column * 26 + cell.charCodeAt(at) - 64;
  }
  return column - 1;
}

function textOf(inner: string, tag: string, { shared, formats, is1904 }: Book): string {
  const kind = attribute(tag, "t");
  if (kind === "inlineStr") return textIn(inner);
  const value = plain(/<v(?:\s[^<>]*)?>([^<]*)/.exec(inner)?.[1] ?? "");
  if (kind === "s") return shared[Number(value)] ?? "";
  if (kind === "d") return value.replace(/(?:T00:00:00(?:\.0+)?)?Z?$/, "");
  if (value === "") return "";
  if (kind === "b") return String(value === "1" || value === "true");
  const number = Number(value);
  if ((kind !== "" && kind !== "n") || Number.isNaN(number)) return value;
  const isDate = formats[Number(attribute(tag, "s") || "-1")] === true;
  return isDate ? dateText(number, is1904) : String(number);
}

/** Some thousand years. */
const secondsMax = 1e11;
/** Days from Excel's day 0, or that of an old Mac, to 1970. */
const [days1900, days1904] = [25_569, 24_107];

/** A cell's date, which has no zone; without its time where it has none. */
function dateText(serial: number, is1904: boolean): string {
  const seconds = Math.round((serial - (is1904 ? days1904 : days1900)) * (dayMs / 1_000));
  if (!(Math.abs(seconds) < secondsMax)) return String(serial);
  return isoSeconds(seconds * 1_000).replace(/(?:T00:00:00)?Z$/, "");
}

/** More cells than these under one value are a layout, not a list. */
const mergedCellsMax = 10_000;
/** More places than these are of merged cells that lie over one another. */
const mergedMax = 100 * limits.records;

/** Gives each row that a merged cell spans its value; a title spans columns alone. */
function spread(xml: string, rows: ReadonlyMap<number, string[]>): void {
  let left = mergedMax;
  for (const [, tag] of elements(xml, "mergeCell")) {
    const [, letters = "", first, last] =
      /^([A-Z]{1,3})(\d{1,7}):\1(\d{1,7})$/.exec(attribute(tag, "ref")) ?? [];
    const [column, from, to] = [columnOf(letters), Number(first), Number(last)];
    const value = rows.get(from)?.[column] ?? "";
    if (value === "" || to - from > mergedCellsMax) continue;
    left -= (to - from + 1) * (column + 1);
    if (left < 0) throw unreadable("its cells overlap");
    for (let line = from; line <= to; line += 1) {
      const cells = rows.get(line) ?? [];
      while (cells.length <= column) cells.push("");
      cells[column] = value;
    }
  }
}
