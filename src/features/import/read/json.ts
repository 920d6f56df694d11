import { isJsonObject, nestingMax, parseJson } from "../../../domain/exact-json.ts";
import { message } from "../messages.ts";
import { tooLarge, UnreadableInput } from "./input.ts";
import { boundRecords, MalformedRecord } from "./table.ts";

/** A JSON text as its documents, which may follow one another, or as one record a line. */
export interface JsonInput {
  readonly shape: "json" | "ndjson";
  readonly documents: readonly unknown[];
  readonly lines: readonly number[];
}

/** What a parsed text has at most: an object takes a hundred bytes of memory, a value thirty. */
const objectsMax = 3_000_000;
const valuesMax = 8_000_000;

function hasMore(text: string, sign: string, max: number): boolean {
  let count = 0;
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
    if ((count += 1) > max) return true;
  }
  return false;
}

/**
 * Parses JSON text. `isRecord` tells an object that is a record from one around a list of them.
 * Throws UnreadableInput for what is no JSON, naming the record where it stops being that.
 */
export function parseJsonInput(text: string, isRecord: (value: unknown) => boolean): JsonInput {
  if (hasMore(text, "{", objectsMax) || hasMore(text, "[", objectsMax)) throw tooLarge();
  if (hasMore(text, ",", valuesMax)) throw tooLarge();
  const start = text.search(/\S/);
  const lineEnd = text.indexOf("\n", start);
  const firstLine = text.slice(start, lineEnd < 0 ? text.length : lineEnd).trimEnd();
  if (firstLine.startsWith("{") && firstLine.endsWith("}")) {
    const { value } = parsed(firstLine);
    if (value !== undefined && isRecord(value)) return byLine(text);
  }
  const { value, why } = parsed(text);
  return { shape: "json", documents: why === undefined ? [value] : documents(text), lines: [] };
}

function byLine(text: string): JsonInput {
  const documents: unknown[] = [];
  const lines: number[] = [];
  if (hasMore(text, "\n", objectsMax)) throw tooLarge();
  const all = text.split("\n");
  for (const [index, line] of all.entries()) {
    if (line.trim() === "") continue;
    boundRecords(documents.length, index);
    const { value, why } = parsed(line);
    if (why !== undefined && index === all.length - 1) {
      throw new UnreadableInput(index + 1, message("cutOff", why));
    }
    lines.push(index + 1);
    documents.push(why === undefined ? value : new MalformedRecord(message("notJson", why), line));
  }
  return { shape: "ndjson", documents, lines };
}

/** The value of one JSON text, or why it is none, in the words of the engine, which are short. */
function parsed(text: string): { readonly value?: unknown; readonly why?: string } {
  const exact = withLongNumbers(text);
  try {
    const value: unknown = JSON.parse(exact);
    return { value: exact === text ? value : revived(value) };
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep();
    return { why: (error as Error).message.replace(/^JSON Parse error: /, "") };
  }
}

function tooDeep(): UnreadableInput {
  return new UnreadableInput(0, message("nestedDeep", String(nestingMax)));
}

/** A string, or a whole number of more digits than every double keeps. */
const stringOrLong = /"[^"\\]*(?:\\.[^"\\]*)*"?|(?<![\w.+-])-?\d{16,}(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;
const mayBeLong = /(?<![\w.+-])-?\d{16}/;
/** A string that a long number is read as: no text of an animal is so. */
const marked = /^\0-?\d{16,}(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * The text with its long numbers as marked strings: a reviver with the source of each number takes
 * many times as much memory as the text.
 */
function withLongNumbers(text: string): string {
  if (!mayBeLong.test(text)) return text;
  const pieces: string[] = [];
  let from = 0;
  stringOrLong.lastIndex = 0;
  // By `test`, which makes no list of what it found: most are strings.
  for (let at = 0; stringOrLong.test(text); at = stringOrLong.lastIndex) {
    if (text[stringOrLong.lastIndex - 1] === '"') continue;
    stringOrLong.lastIndex = at;
    const { 0: number = "", index = at } = stringOrLong.exec(text) ?? {};
    pieces.push(text.slice(from, index), `"\\u0000${number}"`);
    from = stringOrLong.lastIndex;
  }
  return pieces.join("") + text.slice(from);
}

/** The value with its marked numbers as `parseJson` has them. Throws SyntaxError for none. */
function revived(value: unknown): unknown {
  if (typeof value === "string") return marked.test(value) ? parseJson(value.slice(1)) : value;
  if (typeof value !== "object" || value === null) return value;
  const object = value as Record<string | number, unknown>;
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const before = object[name];
    const after = revived(before);
    if (after !== before) object[name] = after;
  }
  return value;
}

const stringOrBracket = /"[^"\\]*(?:\\.[^"\\]*)*"?|[[\]{}]/gs;

/** Documents behind one another, such as the pages of a service in one file. */
function documents(text: string): readonly unknown[] {
  const all: unknown[] = [];
  let [from, depth] = [0, 0];
  for (const { 0: mark, index } of text.matchAll(stringOrBracket)) {
    if (mark.startsWith('"')) continue;
    depth += mark === "[" || mark === "{" ? 1 : -1;
    if (depth > nestingMax) throw tooDeep();
    if (depth > 0) continue;
    const { value, why } = parsed(text.slice(from, index + 1));
    if (why !== undefined) throw new UnreadableInput(0, message("notJson", why));
    all.push(value);
    [from, depth] = [index + 1, 0];
  }
  const rest = text.slice(from);
  if (rest.trim() === "") return all;
  const { why = "text behind it" } = parsed(rest);
  throw new UnreadableInput(0, message(depth > 0 ? "cutOff" : "notJson", why));
}

/** Names under which services wrap the list of their records. */
const listNames =
  `animals animales animais animaux tiere pets mascotas data items results records features rows`.split(
    " ",
  );
/** True for what programs call the list of their records, in a document or a workbook. */
export const isListName = (name: string) => listNames.includes(name.toLowerCase());

/** JSON:API's second list: what the records refer to. */
const includedName = "included";
const notRecords: ReadonlySet<string> = new Set([
  includedName,
  "errors",
  "error",
  "warnings",
  "links",
]);

type Json = Readonly<Record<string, unknown>>;

/** A list of records within a document, and the fields that lead to it. */
export interface FoundList {
  readonly path: readonly string[];
  readonly records: readonly unknown[];
}

const depthMax = 6;

/** All lists of objects within a document, but for those within records. */
export function listsWithin(
  value: unknown,
  isRecord: (value: unknown) => boolean,
  path: readonly string[] = [],
): readonly FoundList[] {
  if (Array.isArray(value)) {
    const isEmpty = value.length === 0 && isListName(path.at(-1) ?? "");
    const isList =
      path.length === 0 || value.some((each) => isJsonObject(each) || Array.isArray(each));
    return isList || isEmpty ? [{ path, records: value }] : [];
  }
  if (!isJsonObject(value) || path.length === depthMax || isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    notRecords.has(name) ? [] : listsWithin(inner, isRecord, [...path, name]),
  );
}

/** Of several lists the one under a name that services use for their records. */
export function usualList(lists: readonly FoundList[]): FoundList | undefined {
  const usual = lists.filter(({ path }) => path.length === 1 && isListName(path[0] ?? ""));
  return usual.length === 1 ? usual[0] : undefined;
}

export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, step) => (isJsonObject(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined),
    value,
  );
}

/** What JSON:API lists beside the records. */
export function includedIn(document: unknown): readonly unknown[] {
  const included = isJsonObject(document) ? document[includedName] : undefined;
  return Array.isArray(included) ? included : [];
}

/** What documents call the number of all records, whatever page this is. */
const totals = `total total_count totalCount count_total count total_pets totalItems total_items
  totalResults total_results totalRecords total_records recordsTotal numFound num_found`.split(
  /\s+/,
);

/** Why a document says itself that its list is not whole; undefined where it does not. */
export function partialReason(document: unknown, count: number): string | undefined {
  if (!isJsonObject(document)) return undefined;
  const around = [document, ...Object.values(document).filter(isJsonObject)] as Json[];
  for (const each of around) {
    for (const name of ["has_more", "hasMore", "exceededTransferLimit"]) {
      if (each[name] === true) return `${name}: true`;
    }
    for (const name of ["next", "nextPageToken", "next_page", "nextPage"]) {
      const next = each[name];
      if ((typeof next === "string" && next !== "") || typeof next === "number") return name;
    }
    for (const name of totals) {
      const total = each[name];
      if (typeof total === "number" && total > count) return `${name}: ${total}`;
    }
    const pages = each["total_pages"] ?? each["pages"];
    if (typeof pages === "number" && pages > 1) return `${pages} pages`;
  }
  return undefined;
}
