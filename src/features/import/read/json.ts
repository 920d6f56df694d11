import { int64OfJsonNumber } from "../../../domain/int64.ts";
import { isJsonObject, nestingMax } from "../../../domain/exact-json.ts";
import { message } from "../messages.ts";
import { tooLarge, UnreadableInput } from "./input.ts";
import { boundRecords, MalformedRecord } from "./table.ts";

/** A JSON text as its documents, which may follow one another, or as one record a line. */
export type JsonInput =
  | { readonly kind: "json"; readonly documents: readonly unknown[] }
  | { readonly kind: "ndjson"; readonly records: readonly unknown[]; readonly lines: number[] };

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
    const first = parsed(firstLine);
    if (first !== undefined && isRecord(first.value)) return { kind: "ndjson", ...lines(text) };
  }
  const whole = parsed(text);
  return { kind: "json", documents: whole === undefined ? documents(text) : [whole.value] };
}

function lines(text: string): { readonly records: unknown[]; readonly lines: number[] } {
  const records: unknown[] = [];
  const numbers: number[] = [];
  if (hasMore(text, "\n", objectsMax)) throw tooLarge();
  const all = text.split("\n");
  for (const [index, line] of all.entries()) {
    if (line.trim() === "") continue;
    boundRecords(records.length, index);
    const found = parsed(line);
    if (found === undefined && index === all.length - 1) {
      throw new UnreadableInput(index + 1, message("cutOff", reasonAgainst(line)));
    }
    numbers.push(index + 1);
    records.push(
      found === undefined
        ? new MalformedRecord(message("notJson", reasonAgainst(line)), line)
        : found.value,
    );
  }
  return { records, lines: numbers };
}

/** The value of one JSON text; undefined for what is none. */
function parsed(text: string): { readonly value: unknown } | undefined {
  const exact = withExactNumbers(text);
  try {
    const value: unknown = JSON.parse(exact);
    return { value: exact === text ? value : revived(value) };
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep();
    return undefined;
  }
}

/** Why a text is no JSON, in the words of the engine, which are short. */
function reasonAgainst(text: string): string {
  try {
    JSON.parse(text);
    return "a number is malformed";
  } catch (error) {
    return (error as Error).message.replace(/^JSON Parse error: /, "");
  }
}

function tooDeep(): UnreadableInput {
  return new UnreadableInput(0, message("nestedDeep", String(nestingMax)));
}

/** A number whose nearest double might be another number, where a value may stand. */
const mayBeInexact = /(?:^|[:,[])\s*-?\d(?:[\d.]{15}|[\d.]*[eE])/;
const stringOrInexact = /"|-?\d(?:[\d.]{15,}(?:[eE][+-]?\d+)?|[\d.]*[eE][+-]?\d+)/g;

/** Begins the string that an inexact number is read as. No text of an animal may hold it. */
const exactMark = "\0";

/**
 * The text with its inexact numbers as marked strings: a reviver with the source of each number
 * takes nine times as much memory as the text.
 */
function withExactNumbers(text: string): string {
  if (!mayBeInexact.test(text)) return text;
  const pieces: string[] = [];
  const mark = stringOrInexact;
  let from = 0;
  mark.lastIndex = 0;
  // By `test`, which makes no list of what it found: most are strings.
  for (let at = 0; mark.test(text); at = mark.lastIndex) {
    const last = mark.lastIndex - 1;
    if (text[last] === '"') {
      mark.lastIndex = stringEnd(text, last);
      continue;
    }
    mark.lastIndex = at;
    const { 0: number, index } = mark.exec(text) as RegExpExecArray;
    pieces.push(text.slice(from, index), `"\\u0000${number}"`);
    from = mark.lastIndex;
  }
  return pieces.join("") + text.slice(from);
}

/** Where the string that opens at `start` ends; the end of the text for one that is left open. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text[at - escapes - 1] === "\\") escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
  return text.length;
}

/** The value with its marked numbers as `parseJson` has them: int64, or as they were written. */
function revived(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith(exactMark) ? exact(value) : value;
  if (typeof value !== "object" || value === null) return value;
  const object = value as Record<string | number, unknown>;
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const before = object[name];
    const after = revived(before);
    if (after !== before) object[name] = after;
  }
  return value;
}

function exact(marked: string): unknown {
  const source = marked.slice(exactMark.length);
  const int64 = int64OfJsonNumber(source);
  if (int64 !== undefined) return Number.isSafeInteger(Number(int64)) ? Number(int64) : int64;
  const number = Number(source);
  const isFraction = Number.isFinite(number) && !Number.isInteger(number);
  // What was a string with that mark stays one: no number is written so.
  if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(source)) return marked;
  return isFraction ? number : JSON.rawJSON(source);
}

/** Places of brackets outside of strings, with the depth before each. */
function* brackets(text: string): Generator<readonly [at: number, mark: string, depth: number]> {
  const mark = /["[\]{}]/g;
  let depth = 0;
  for (let found = mark.exec(text); found; found = mark.exec(text)) {
    const [each] = found;
    if (each === '"') mark.lastIndex = stringEnd(text, found.index);
    else if (each === "[" || each === "{") yield [found.index, each, depth++];
    else yield [found.index, each, depth--];
  }
}

/** Documents behind one another, such as the pages of a service in one file. */
function documents(text: string): readonly unknown[] {
  const all: unknown[] = [];
  let from = 0;
  for (const [at, mark, depth] of brackets(text)) {
    if (depth !== 1 || mark === "[" || mark === "{") continue;
    const document = parsed(text.slice(from, at + 1));
    if (document === undefined) throw malformed(text.slice(from, at + 1));
    all.push(document.value);
    from = at + 1;
  }
  if (text.slice(from).trim() !== "") throw malformed(text.slice(from));
  return all;
}

/** A text that is no JSON, as an error: one whose brackets stay open is cut off. */
function malformed(text: string): UnreadableInput {
  let open = 0;
  for (const [, mark, depth] of brackets(text)) {
    open = mark === "[" || mark === "{" ? depth + 1 : depth - 1;
    if (open > nestingMax) return tooDeep();
  }
  return new UnreadableInput(0, message(open > 0 ? "cutOff" : "notJson", reasonAgainst(text)));
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
