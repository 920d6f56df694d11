/** JSON: a document, or one record a line, and the list of records within. */
import { isJsonObject } from "../../../domain/exact-json.ts";
import { message, shown } from "../messages.ts";
import { type Known, tooLarge, UnreadableInput } from "./input.ts";
import { boundRecords, MalformedRecord, type Records } from "./table.ts";

export interface JsonRecords extends Records {
  readonly shape: "json" | "ndjson";
  /** The fields that lead to the records where the name is unusual. */
  readonly path?: readonly string[];
  /** Why it says itself that it is no whole list. */
  readonly partial?: string | undefined;
  /** What JSON:API lists beside the records. */
  readonly included: readonly unknown[];
}

/** A list of records within a document, and the fields that lead to it. */
interface FoundList {
  readonly path: readonly string[];
  readonly records: readonly unknown[];
}

type Json = Readonly<Record<string, unknown>>;
type KnownObjects = Pick<Known, "isObject">;

/** What a parsed text has at most: an object takes a hundred bytes of memory, a value thirty. */
const most = { "{": 3_000_000, "[": 3_000_000, ",": 8_000_000 };

/**
 * The records of a JSON text, at `path` if one is told; or the paths of several lists. Throws
 * UnreadableInput for what is no JSON, and for a service's error.
 */
export function jsonRecords(
  text: string,
  path: readonly string[] | undefined,
  known: KnownObjects,
): JsonRecords | { readonly paths: readonly (readonly string[])[] } {
  for (const [sign, max] of Object.entries(most)) boundSigns(text, sign, max);
  const start = text.search(/\S/);
  const lineEnd = text.indexOf("\n", start);
  const firstLine = text.slice(start, lineEnd < 0 ? text.length : lineEnd).trimEnd();
  if (path === undefined && firstLine.startsWith("{") && firstLine.endsWith("}")) {
    const { value: record } = parsed(firstLine);
    const isMany = record !== undefined && text.trimEnd().length > start + firstLine.length;
    const isPlain = isMany && listsWithin(record, known).length === 0;
    if (isPlain || known.isObject(record)) return recordsByLine(text, known);
  }
  const { value, why } = parsed(text);
  if (why !== undefined) {
    const isEnded = text.trimEnd().endsWith(text[start] === "[" ? "]" : "}");
    const isCut = !isEnded && /^Expected|EOF|Unterminated/.test(why);
    throw new UnreadableInput(0, message(isCut ? "cutOff" : "notJson", why));
  }
  const error = serviceError(value, known);
  if (error !== undefined) throw error;
  const [list, ...others] = listsOf(value, path, known);
  if (others.length > 0) return { paths: [list, ...others].map((each) => each?.path ?? []) };
  const { records = [], path: used = [] } = list ?? {};
  boundRecords(records.length, records.length);
  const around = isJsonObject(value) && !known.isObject(value) ? value : {};
  const included = around[includedName];
  return {
    shape: "json",
    columns: undefined,
    records: records.map((record) => rendered(fieldsOf(record))),
    lines: records.map((_, index) => index + 1),
    path: used,
    partial: hasError(around) ? "a part of it is an error" : partialReason(around, records.length),
    included: Array.isArray(included) ? included : [],
  };
}

function boundSigns(text: string, sign: string, max: number): void {
  let count = 0;
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
    if ((count += 1) > max) throw tooLarge();
  }
}

function recordsByLine(text: string, known: KnownObjects): JsonRecords {
  const records: unknown[] = [];
  const lines: number[] = [];
  boundSigns(text, "\n", most["{"]);
  const all = text.split("\n");
  for (const [index, line] of all.entries()) {
    if (line.trim() === "") continue;
    const { value, why } = parsed(line);
    if (why !== undefined && index === all.length - 1) {
      throw new UnreadableInput(index + 1, message("cutOff", why));
    }
    lines.push(index + 1);
    records.push(
      why === undefined
        ? rendered(fieldsOf(value))
        : new MalformedRecord(message("notJson", why), line),
    );
    boundRecords(records.length, index + 1);
  }
  const error = records.length === 1 ? serviceError(records[0], known) : undefined;
  if (error !== undefined) throw error;
  return { shape: "ndjson", columns: undefined, records, lines, included: [] };
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
    pieces.push(text.slice(from, index), `"${number}"`);
    from = stringOrLong.lastIndex;
  }
  return pieces.join("") + text.slice(from);
}

const listNames =
  `animals animales animais animaux tiere pets mascotas data items results records features rows`.split(
    " ",
  );
/** True for what programs call the list of their records, in a document or a workbook. */
export const isListName = (name: string) => listNames.includes(name.toLowerCase());

/** JSON:API's second list: what the records refer to. */
const includedName = "included";
const notRecords: ReadonlySet<string> = new Set(
  `${includedName} errors error warnings links`.split(" "),
);
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

/** Texts of WordPress as they are shown: `title: { rendered }`. */
function rendered(record: unknown): unknown {
  if (!isJsonObject(record)) return record;
  const texts = Object.entries(record).flatMap(([name, value]) => {
    const text = valueAt(value, ["rendered"]);
    return typeof text === "string" ? [[name, text]] : [];
  });
  return texts.length === 0 ? record : { ...record, ...Object.fromEntries(texts) };
}

/** What GeoJSON and maps have around the fields of a record. */
function fieldsOf(record: unknown): unknown {
  if (!isJsonObject(record)) return record;
  const { type, properties, attributes, geometry } = record;
  if (type === "Feature" && isJsonObject(properties)) return properties;
  const isAround = geometry !== undefined || Object.keys(record).length === 1;
  return isJsonObject(attributes) && isAround ? attributes : record;
}

const isSaid = (value: unknown) =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  !(Array.isArray(value) && value.length === 0);

/** True for an object with an error of its own name, beside which a list says nothing. */
const hasError = ({ error, errors }: Json): boolean => isSaid(error) || isSaid(errors);

/** How an object is refused that is a service's error; undefined for a record or a list. */
function serviceError(record: unknown, known: KnownObjects): UnreadableInput | undefined {
  if (!isJsonObject(record)) return undefined;
  if (listsWithin(record, known).some(({ records }) => records.length > 0)) return undefined;
  const { error, errors, message: text, detail, title, error_message: other, success } = record;
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
  const said = [text, detail, other, error, first, title].find((value) => value !== undefined);
  const isCoded = ["code", "status", "statusCode"].some((name) => Number(record[name]) >= 300);
  const isError = hasError(record) && !known.isObject(record);
  const isFailed = success === false || success === 0 || (isCoded && said !== undefined);
  if (!isError && !isFailed) return undefined;
  const words = isJsonObject(said) ? (said["message"] ?? said["detail"] ?? said["title"]) : said;
  return new UnreadableInput(0, message("serviceError", shown(words)));
}

/** What documents call the number of all records, whatever page this is. */
const totals = `total total_count totalCount count_total count total_pets totalItems total_items
  totalResults total_results totalRecords total_records recordsTotal totalElements numFound num_found`.split(
  /\s+/,
);

const mores =
  `has_more hasMore has_next hasNext hasNextPage isTruncated exceededTransferLimit`.split(" ");
const nextPages = `next nextPageToken next_page nextPage next_page_url nextPageUrl next_cursor
  nextCursor @odata.nextLink nextLink next_link`.split(/\s+/);

/** Why a document says itself that its list is not whole; undefined where it does not. */
export function partialReason(document: unknown, count: number): string | undefined {
  if (!isJsonObject(document)) return undefined;
  const around = [document, ...Object.values(document).filter(isJsonObject)] as Json[];
  for (const each of around) {
    for (const name of mores) if (each[name] === true) return `${name}: true`;
    if (each["last"] === false) return "last: false";
    for (const name of nextPages) {
      const next = each[name];
      if (isSaid(next) && next !== "") return name;
    }
    for (const name of totals) {
      const total = each[name];
      if (typeof total === "number" && total > count) return `${name}: ${total}`;
    }
    const pages = each["total_pages"] ?? each["totalPages"] ?? each["pages"] ?? each["last_page"];
    if (typeof pages === "number" && pages > 1) return `${pages} pages`;
  }
  return undefined;
}
