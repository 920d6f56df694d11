/** JSON: a document, or one record a line, and the list of records within. */
import { isJsonObject } from "../../../domain/exact-json.ts";
import { message, shown } from "../messages.ts";
import { type Known, tooLarge, UnreadableInput } from "./input.ts";
import type { Input, Several } from "./read.ts";
import { boundRecords, MalformedRecord } from "./table.ts";

/** With the fields that lead to the records where the name is unusual. */
type JsonRecords = Omit<Input, "options" | "notes" | "bytes"> & {
  readonly path?: readonly string[];
};
/** A list of records within a document, and the fields that lead to it. */
type FoundList = Readonly<{ path: readonly string[]; records: readonly unknown[] }>;
type Json = Readonly<Record<string, unknown>>;
type KnownObjects = Pick<Known, "isObject">;

/** What a text has at most: an object takes a hundred bytes of memory, a value or line thirty. */
const most = { "{": 3_000_000, "[": 3_000_000, ",": 8_000_000, "\n": 8_000_000 };

/**
 * The records of a JSON text, at `path` if one is told; or the paths of several lists. Throws
 * UnreadableInput for what is no JSON, and for a service's error.
 */
export function jsonRecords(
  text: string,
  path: readonly string[] | undefined,
  known: KnownObjects,
): JsonRecords | Several {
  for (const [sign, max] of Object.entries(most)) {
    let count = 0;
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
      if ((count += 1) > max) throw tooLarge();
    }
  }
  const { value, why } = parsed(text);
  if (why !== undefined) {
    const byLine = path === undefined ? recordsByLine(text, known) : undefined;
    if (byLine !== undefined) return byLine;
    const isEnded = text.trimEnd().endsWith(text.trimStart().startsWith("[") ? "]" : "}");
    const isCut = !isEnded && /^Expected|EOF|Unterminated/.test(why);
    throw new UnreadableInput(0, message(isCut ? "cutOff" : "notJson", why));
  }
  refuseError(value, known);
  const lists = listsOf(value, path, known);
  const [list] = lists;
  if (list === undefined || lists.length > 1) {
    return { parts: lists.map((each) => ({ records: each.path })) };
  }
  const lines = list.records.map((_, index) => index + 1);
  boundRecords(lines);
  const around = isJsonObject(value) && !known.isObject(value) ? value : {};
  const included = around[includedName];
  // One record on one line may be what is left of many lines.
  const isLine = list.records[0] === value && !text.trim().includes("\n");
  return {
    shape: isLine ? "ndjson" : "json",
    records: list.records.map(fieldsOf),
    lines,
    path: list.path,
    partial: partialReason(around, lines.length),
    included: Array.isArray(included) ? included : undefined,
  };
}

/** Records of a line each; undefined where the first line is no record. */
function recordsByLine(text: string, known: KnownObjects): JsonRecords | undefined {
  const all = text.split("\n");
  const lines = all.flatMap((each, at) => (each.trim() === "" ? [] : [at + 1]));
  const textAt = (line = 0) => all[line - 1] ?? "";
  const { value: first } = parsed(textAt(lines[0]));
  if (!isJsonObject(first) || listsWithin(first, known).length > 0) return undefined;
  boundRecords(lines);
  const records = lines.map((line) => {
    const { value, why } = parsed(textAt(line));
    if (why === undefined) return fieldsOf(value);
    if (line === all.length) throw new UnreadableInput(line, message("cutOff", why));
    return new MalformedRecord(message("notJson", why), textAt(line));
  });
  return { shape: "ndjson", records, lines };
}

/** The value of one JSON text, or why it is none, in the words of the engine, which are short. */
function parsed(text: string): { readonly value?: unknown; readonly why?: string } {
  try {
    return { value: JSON.parse(withLongNumbers(text)) as unknown };
  } catch (error) {
    return { why: (error as Error).message.replace(/^JSON Parse error: /, "") };
  }
}

const string = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"?`;
/** A string, or a whole number of more digits than every double keeps. */
const stringOrLong = new RegExp(String.raw`${string}|(?<![\w.+-])-?[1-9]\d{15,}(?![\d.eE])`, "gs");
const mayBeLong = /(?<![\w.+-])-?\d{16}/;
/**
 * The text with its long whole numbers as strings, which ids are read from as well: a reviver with
 * the source of each number takes many times as much memory as the text.
 */
const withLongNumbers = (text: string) =>
  mayBeLong.test(text)
    ? text.replace(stringOrLong, (each) => (each.startsWith('"') ? each : `"${each}"`))
    : text;

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

const listNames = words(`animals animales animais animaux tiere pets mascotas data items results
  records features rows`);
/** True for what programs call the list of their records, in a document or a workbook. */
export const isListName = (name: string) => listNames.has(name.toLowerCase());

/** JSON:API's second list: what the records refer to. */
const includedName = "included";
const notRecords = words(`${includedName} errors error warnings links`);
const depthMax = 6;

/** All lists of objects within a document, but for those within records. */
function listsWithin(
  value: unknown,
  known: KnownObjects,
  path: readonly string[] = [],
): readonly FoundList[] {
  if (Array.isArray(value)) {
    const isEmpty = value.length === 0 && isListName(path.at(-1) ?? "");
    const isList =
      path.length === 0 || value.some((each) => isJsonObject(each) || Array.isArray(each));
    return isList || isEmpty ? [{ path, records: value }] : [];
  }
  if (!isJsonObject(value) || path.length === depthMax || known.isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    notRecords.has(name) ? [] : listsWithin(inner, known, [...path, name]),
  );
}

/** The list of records in a document; of several the one under a name that services use. */
function listsOf(
  document: unknown,
  path: readonly string[] | undefined,
  known: KnownObjects,
): readonly FoundList[] {
  if (path !== undefined) {
    // Without the quotes that a shell took, a name with dots is one step.
    const value = valueAt(document, path) ?? valueAt(document, [path.join(".")]);
    if (Array.isArray(value)) return [{ path, records: value as unknown[] }];
    throw new UnreadableInput(0, message("noList", path.join(".")));
  }
  const lists = listsWithin(document, known);
  const usual = lists.filter((each) => each.path.length === 1 && isListName(each.path[0] ?? ""));
  if (usual.length === 1) return usual.map(({ records }) => ({ path: [], records }));
  return lists.length > 0 ? lists : [{ path: [], records: recordsOfObject(document, known) }];
}

/** The records of an object without a list: itself, or animals by their ids. */
function recordsOfObject(document: unknown, known: KnownObjects): readonly unknown[] {
  if (!isJsonObject(document) || known.isObject(document)) return [document];
  const entries = Object.entries(document);
  const inner = entries.filter(([, value]) => known.isObject(value));
  if (inner.length === 1) return [inner[0]?.[1]];
  if (inner.length < 2 || inner.length < entries.length) return [document];
  // Where they are called nothing else, what they stand under is their name.
  const isNamed = inner.some(([, value]) =>
    Object.keys(value as Json).some((name) => named.test(name)),
  );
  return inner.map(([key, value]) => ({
    id: key,
    ...(!isNamed && /\p{L}/u.test(key) && { name: key }),
    ...(value as Json),
  }));
}

const named = /name$|^(?:nombre|nom|naam|nome|imie|imię|jmeno|jméno|meno|title)$/i;

export const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, step) => (isJsonObject(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined),
    value,
  );

/** A value of MongoDB's Extended JSON, such as `{"$oid": "5f"}`, or a WordPress text as shown. */
function plainValue(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const [[name, inner] = ["", undefined], other] = Object.entries(value);
  if (other === undefined && /^\$(?:oid|date|number\w+)$/.test(name)) {
    const plain = plainValue(inner);
    const isMs = name === "$date" && /^-?\d{1,14}$/.test(String(plain));
    return isMs ? new Date(Number(plain)).toISOString() : plain;
  }
  return typeof value["rendered"] === "string" ? value["rendered"] : value;
}

/** The fields of a record: the inner ones of GeoJSON or a map. */
function fieldsOf(record: unknown): unknown {
  if (!isJsonObject(record)) return record;
  const { type, properties, attributes, geometry } = record;
  if (type === "Feature" && isJsonObject(properties)) return properties;
  const isAround = geometry !== undefined || Object.keys(record).length === 1;
  if (isJsonObject(attributes) && isAround) return attributes;
  const changed = Object.entries(record).flatMap(([name, value]) => {
    const plain = plainValue(value);
    return plain === value ? [] : [[name, plain]];
  });
  return changed.length === 0 ? record : { ...record, ...Object.fromEntries(changed) };
}

/** Throws UnreadableInput for an object that is a service's error, and no record or list. */
function refuseError(record: unknown, known: KnownObjects): void {
  if (!isJsonObject(record)) return;
  if (listsWithin(record, known).some(({ records }) => records.length > 0)) return;
  const { errors, success } = record;
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
  const given = ["message", "detail", "error_message", "error"].map((name) => record[name]);
  const said = [...given, first, record["title"]].find((value) => value !== undefined);
  const isCoded = ["code", "status", "statusCode"].some((name) => Number(record[name]) >= 300);
  const isError = hasError(record) && !known.isObject(record);
  const isFailed = success === false || success === 0 || (isCoded && said !== undefined);
  if (!isError && !isFailed) return;
  const text = isJsonObject(said) ? (said["message"] ?? said["detail"] ?? said["title"]) : said;
  throw new UnreadableInput(0, message("serviceError", shown(text)));
}

const isSaid = (value: unknown) =>
  ![undefined, null, false, ""].includes(value as null) &&
  !(Array.isArray(value) && value.length === 0);

/** True for an object with an error of its own name, beside which a list says nothing. */
const hasError = ({ error, errors }: Json): boolean => isSaid(error) || isSaid(errors);

const mores = words(
  `has_more hasMore has_next hasNext hasNextPage isTruncated exceededTransferLimit`,
);
const nextPages =
  words(`next nextPageToken next_page nextPage next_page_url nextPageUrl next_cursor nextCursor @odata.nextLink
  nextLink next_link`);
/** What documents call the number of all records, whatever page this is. */
const totals =
  words(`total total_count totalCount count_total count total_pets totalItems total_items totalResults total_results
  totalRecords total_records recordsTotal totalElements numFound num_found`);
const pageCounts = words("total_pages totalPages pages last_page");

/** Why a document says itself that its list is not whole; undefined where it does not. */
export function partialReason(document: Json, count: number): string | undefined {
  if (hasError(document)) return "a part of it is an error";
  for (const around of [document, ...Object.values(document).filter(isJsonObject)]) {
    for (const [name, value] of Object.entries(around)) {
      if (value === true && mores.has(name)) return `${name}: true`;
      if (value === false && name === "last") return "last: false";
      if (nextPages.has(name) && isSaid(value)) return name;
      if (typeof value !== "number") continue;
      if (totals.has(name) && value > count) return `${name}: ${value}`;
      if (pageCounts.has(name) && value > 1) return `${value} pages`;
    }
  }
  return undefined;
}
