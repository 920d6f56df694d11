import { isJsonObject } from "../../../domain/exact-json.ts";
import { type Message, message, type Note, shown } from "../messages.ts";

import { csvTable } from "./csv.ts";
import { opened, UnreadableInput } from "./input.ts";
import {
  type FoundList,
  includedIn,
  isListName,
  listsWithin,
  parseJsonInput,
  partialReason,
  usualList,
  valueAt,
} from "./json.ts";
import { boundRecords, type Headings, type Records, tableOf } from "./table.ts";
import { type Sheet, sheetsOf } from "./xlsx.ts";

/** How an input is to be read. What is absent is found out. */
export interface ReadOptions {
  /** A name that TextDecoder knows. */
  readonly encoding?: string | undefined;
  readonly sheet?: string | undefined;
  /** The fields that lead to the list of records within JSON objects. */
  readonly records?: readonly string[] | undefined;
}

/** What the formats know of the records that are looked for. */
export interface Known extends Headings {
  /** True for a JSON object that is a record, and not around a list of them. */
  isObject(value: unknown): boolean;
  /** True for the name of a kind of animal. */
  isKind(name: string): boolean;
}

/** An input that was read to its end, before anybody knows what its records mean. */
export interface Input extends Records {
  readonly shape: "json" | "ndjson" | "csv" | "xlsx";
  /** How it was read; what an import reads the same way again. */
  readonly options: ReadOptions;
  readonly notes: readonly Note[];
  /** Why it says itself that it is no whole list. */
  readonly partial?: string | undefined;
  /** What JSON:API lists beside the records. */
  readonly included: readonly unknown[];
  /** What it takes unpacked. */
  readonly bytes: number;
}

/** One of several lists in an input: a sheet of a workbook, or a list in a JSON document. */
export type Part = Readonly<{ sheet?: string; records?: readonly string[] }>;

/** A part as it is shown, and as `--records` takes it: a step with a dot or a comma is quoted. */
export const partName = ({ sheet, records = [] }: Part): string =>
  sheet ?? records.map((step) => (/[.,"]/.test(step) ? JSON.stringify(step) : step)).join(".");

/** The steps of `--records`. */
export const stepsOf = (path: string): readonly string[] =>
  (path.match(/"(?:[^"\\]|\\.)*"|[^."]+/g) ?? []).map((step) =>
    step.startsWith('"') ? (JSON.parse(step) as string) : step,
  );

/** An input of several lists, of which one is to be chosen. */
export interface Several {
  readonly parts: readonly Part[];
}

/** Reads all of an input. Throws UnreadableInput for what is no list of records. */
export function readInput(
  bytes: Uint8Array,
  { encoding: told, sheet, records: path }: ReadOptions,
  known: Known,
): Input | Several {
  const input = opened(bytes, told);
  const options = { encoding: told, sheet, records: path };
  if (input.kind === "workbook") return workbook(input.bytes, options, known);
  const { text, encoding } = input;
  const start = text.search(/\S/);
  if (start < 0) throw new UnreadableInput(0, message("empty"));
  const isGuessed = encoding !== "utf-8" && told === undefined;
  const isJson = text[start] === "[" || text[start] === "{";
  const list = isJson
    ? jsonRecords(text, path, known)
    : { shape: "csv" as const, included: [], options: {}, ...tableOf(csvTable(text), known) };
  if ("parts" in list) return list;
  return {
    ...list,
    options: { ...options, ...(encoding !== "utf-8" && { encoding }), ...list.options },
    notes: [...(isGuessed ? [note(message("encodingGuessed", encoding))] : []), ...list.notes],
    bytes: Math.max(bytes.length, text.length),
  };
}

const note = (said: Message, records = 0): Note => ({ said, records, firstLine: 0, example: "" });

function workbook(bytes: Uint8Array, options: ReadOptions, known: Known): Input | Several {
  const sheets = sheetsOf(bytes);
  const chosen = chosenSheet(sheets, options.sheet, known);
  if ("parts" in chosen) return chosen;
  const { sheet, unread } = chosen;
  const rows = sheet.rows();
  if (rows.rows.length === 0) throw new UnreadableInput(0, message("sheetEmpty"));
  const table = tableOf(rows, known);
  const others = message("sheetsUnread", namesOf(unread));
  const notes = unread.length === 0 ? [] : [note(others, unread.length)];
  return {
    shape: "xlsx",
    ...table,
    options: sheets.length === 1 ? options : { ...options, sheet: sheet.name },
    notes: [...notes, ...table.notes],
    included: [],
    bytes: bytes.length,
  };
}

const namesOf = (sheets: readonly Sheet[]) =>
  sheets.map(({ name }) => JSON.stringify(name)).join(", ");

/** Rows that tell whether a sheet is a list of animals. */
const beginningRows = 60;

/** The sheet that is named, or the only one that looks like a list of animals, or the first. */
function chosenSheet(
  sheets: readonly Sheet[],
  wanted: string | undefined,
  known: Known,
): { readonly sheet: Sheet; readonly unread: readonly Sheet[] } | Several {
  if (wanted !== undefined) {
    const sheet = sheets.find(({ name }) => name === wanted);
    if (sheet !== undefined) return { sheet, unread: [] };
    const problem = message("sheetUnknown", JSON.stringify(wanted), namesOf(sheets));
    throw new UnreadableInput(0, problem);
  }
  const [first] = sheets;
  if (first === undefined) throw new UnreadableInput(0, message("sheetEmpty"));
  if (sheets.length === 1) return { sheet: first, unread: [] };
  const filled: Sheet[] = [];
  const lists: Sheet[] = [];
  for (const sheet of sheets) {
    const { rows } = sheet.rows(beginningRows);
    if (rows.length > 0) filled.push(sheet);
    const isList = rows.some((row) => known.isHeader(row) || known.familiar(row) >= 2);
    if (isList && rows.length > 1) lists.push(sheet);
  }
  // Beside animals there are people and places, unless a list is called by a kind.
  const usual = lists.filter(({ name }) => isListName(name));
  const isUsual = usual.length === 1 && !lists.some(({ name }) => known.isKind(name));
  if (lists.length > 1 && !isUsual) {
    return { parts: lists.map(({ name }) => ({ sheet: name })) };
  }
  const sheet = (isUsual ? usual : lists)[0] ?? filled[0] ?? first;
  return { sheet, unread: filled.filter((each) => each !== sheet) };
}

type Json = Readonly<Record<string, unknown>>;

function jsonRecords(
  text: string,
  path: readonly string[] | undefined,
  known: Known,
): Omit<Input, "bytes"> | Several {
  const isObject = path === undefined ? known.isObject : () => false;
  const { shape, documents, lines } = parseJsonInput(text, isObject);
  const [first, ...others] = documents;
  const error = serviceError(first, known);
  if (error !== undefined && (shape === "json" || others.length === 0)) throw error;
  if (shape === "ndjson") {
    boundRecords(documents.length, lines.at(-1) ?? 0);
    return { shape, ...objects(documents), lines, notes: [], included: [], options: {} };
  }
  const sound = others.filter((each) => serviceError(each, known) === undefined);
  const found = [first, ...sound].map((each) => listOf(each, path, known));
  const several = found.find((each) => "parts" in each);
  if (several !== undefined) return several;
  const lists = found.flatMap((each) => ("parts" in each ? [] : [each]));
  const records = lists.flatMap((list) => [...list.records]);
  boundRecords(records.length, records.length);
  const isLost = sound.length < others.length;
  const partial = isLost ? partError : partialReasons(documents, records.length, known);
  const usedPath = lists[0]?.path ?? [];
  return {
    shape,
    ...objects(records),
    lines: records.map((_, index) => index + 1),
    notes: partial === undefined ? [] : [note(message("listPartial", partial))],
    partial,
    included: documents.flatMap(includedIn),
    options: usedPath.length === 0 ? {} : { records: usedPath },
  };
}

const partError = "a part of it is an error";

function partialReasons(
  documents: readonly unknown[],
  count: number,
  { isObject }: Known,
): string | undefined {
  const around = documents.filter((each) => !isObject(each));
  if (around.some((each) => isJsonObject(each) && hasError(each))) return partError;
  const reason = around.map((each) => partialReason(each, count)).find(Boolean);
  const isMany = documents.length > 1 && around.length > 0;
  return reason ?? (isMany ? `${documents.length} lists behind one another` : undefined);
}

/** The list of records in a document, and the fields that lead to it where the name is unusual. */
function listOf(
  document: unknown,
  path: readonly string[] | undefined,
  known: Known,
): FoundList | Several {
  if (path !== undefined) {
    const value = valueAt(document, path);
    if (Array.isArray(value)) return { path, records: value as unknown[] };
    throw new UnreadableInput(0, message("noList", path.join(".")));
  }
  const lists = listsWithin(document, known.isObject);
  const usual = usualList(lists);
  if (usual !== undefined) return { path: [], records: usual.records };
  if (lists.length > 1) return { parts: lists.map((each) => ({ records: each.path })) };
  const [only] = lists;
  if (only !== undefined) return only;
  return { path: [], records: recordsOfObject(document, known) };
}

/** The records of an object without a list: itself, or animals by their ids. */
function recordsOfObject(document: unknown, known: Known): readonly unknown[] {
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

/** Objects without what maps wrap around each of them. */
function objects(records: readonly unknown[]): Pick<Input, "columns" | "records"> {
  return { columns: undefined, records: records.map((record) => rendered(fieldsOf(record))) };
}

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

/** True for an object with an error of its own name, beside which a list says nothing. */
function hasError({ error, errors }: Json): boolean {
  const isNone = (value: unknown) => value === undefined || value === null || value === false;
  return !isNone(error) || (!isNone(errors) && !(Array.isArray(errors) && errors.length === 0));
}

/** How an object is refused that is a service's error; undefined for a record or a list. */
function serviceError(record: unknown, known: Known): UnreadableInput | undefined {
  if (!isJsonObject(record)) return undefined;
  if (listsWithin(record, known.isObject).some(({ records }) => records.length > 0))
    return undefined;
  const { error, errors, message: text, detail, title, error_message: other, success } = record;
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
  const said = [text, detail, other, error, first, title].find((value) => value !== undefined);
  const isCoded = ["code", "status", "statusCode"].some((name) => Number(record[name]) >= 300);
  const isError = hasError(record) && !known.isObject(record);
  if (!isError && success !== false && success !== 0 && !(isCoded && said !== undefined)) {
    return undefined;
  }
  const words = isJsonObject(said) ? (said["message"] ?? said["detail"] ?? said["title"]) : said;
  return new UnreadableInput(0, message("serviceError", shown(words)));
}
