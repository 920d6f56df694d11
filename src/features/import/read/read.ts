/** Bytes to records, before anybody knows what these mean. */
import { type Message, message, type Note } from "../messages.ts";
import { type Known, opened, UnreadableInput } from "./input.ts";
import { isListName, jsonRecords } from "./json.ts";
import { csvTable, type Records, tableOf } from "./table.ts";
import { sheetsOf } from "./xlsx.ts";

/** How an input is to be read. What is absent is found out. */
export interface ReadOptions {
  /** A name that TextDecoder knows. */
  readonly encoding?: string | undefined;
  readonly sheet?: string | undefined;
  /** The fields that lead to the list of records within JSON objects. */
  readonly records?: readonly string[] | undefined;
}

export interface Input extends Records {
  readonly shape: "json" | "ndjson" | "csv" | "xlsx";
  /** How it was read; what an import reads the same way again. */
  readonly options: ReadOptions;
  readonly notes: readonly Note[];
  /** Why it says itself that it is no whole list. */
  readonly partial?: string | undefined;
  /** What JSON:API lists beside the records. */
  readonly included?: readonly unknown[] | undefined;
  /** What it takes unpacked. */
  readonly bytes: number;
}

/** One of several lists in an input: a sheet of a workbook, or a list in a JSON document. */
export type Part = Readonly<{ sheet?: string; records?: readonly string[] }>;

/** A part as it is shown, and as `--records` takes it: a step with a dot or a comma is quoted. */
export const partName = ({ sheet, records = [] }: Part): string =>
  sheet ?? records.map((step) => (/[.,]/.test(step) ? `"${step}"` : step)).join(".");

/** The steps of `--records`. */
export const stepsOf = (path: string): readonly string[] =>
  (path.match(/"[^"]*"|[^."]+/g) ?? []).map((step) => step.replaceAll('"', ""));

/** An input of several lists, of which one is to be chosen. */
export type Several = Readonly<{ parts: readonly Part[] }>;

/** Reads all of an input. Throws UnreadableInput for what is no list of records. */
export function readInput(
  bytes: Uint8Array,
  { encoding: told, sheet, records: path }: ReadOptions,
  known: Known,
): Input | Several {
  const input = opened(bytes, told);
  const options = { encoding: told, sheet, records: path };
  if (input instanceof Uint8Array) return workbook(input, options, known);
  const { text, encoding } = input;
  const start = text.search(/\S/);
  if (start < 0) throw new UnreadableInput(0, message("empty"));
  const isOther = encoding !== "utf-8";
  const own = {
    options: isOther ? { ...options, encoding } : options,
    notes: isOther && told === undefined ? [note(message("encodingGuessed", encoding))] : [],
    bytes: Math.max(bytes.length, text.length),
  };
  if (text[start] !== "[" && text[start] !== "{") {
    const { notes, ...table } = tableOf(csvTable(text), known);
    return { ...own, ...table, shape: "csv", notes: [...own.notes, ...notes] };
  }
  const list = jsonRecords(text, path, known);
  if ("parts" in list) return list;
  const { path: used = [], ...found } = list;
  if (found.partial) own.notes.push(note(message("listPartial", found.partial)));
  if (used.length > 0) own.options.records = used;
  return { ...own, ...found };
}

const note = (said: Message, records = 0): Note => ({ said, records, firstLine: 0, example: "" });

/** Rows that tell whether a sheet is a list of animals. */
const beginningRows = 60;

/** The sheet that is named, or the only one that looks like a list of animals, or the first. */
function workbook(bytes: Uint8Array, options: ReadOptions, known: Known): Input | Several {
  const sheets = sheetsOf(bytes);
  const namesOf = (some: readonly { readonly name: string }[]) =>
    some.map(({ name }) => JSON.stringify(name)).join(", ");
  const { sheet: wanted } = options;
  const asked = sheets.filter(({ name }) => name === (wanted ?? name));
  if (asked.length === 0 && wanted !== undefined) {
    const problem = message("sheetUnknown", JSON.stringify(wanted), namesOf(sheets));
    throw new UnreadableInput(0, problem);
  }
  const filled = asked.filter((sheet) => sheet.rows(1).rows.length > 0);
  const isList = (row: readonly string[]) => known.isHeader(row) || known.familiar(row) >= 2;
  const lists = filled.filter((sheet) => {
    const { rows } = sheet.rows(beginningRows);
    return rows.length > 1 && rows.some(isList);
  });
  // Beside animals there are people and places, unless a list is called by a kind.
  const usual = lists.filter(({ name }) => isListName(name));
  const isUsual = usual.length === 1 && !lists.some(({ name }) => known.isKind(name));
  if (lists.length > 1 && !isUsual) return { parts: lists.map(({ name }) => ({ sheet: name })) };
  const chosen = (isUsual ? usual : lists)[0] ?? filled[0];
  if (chosen === undefined) throw new UnreadableInput(0, message("sheetEmpty"));
  const unread = filled.filter((sheet) => sheet !== chosen);
  const table = tableOf(chosen.rows(), known);
  const said = note(message("sheetsUnread", namesOf(unread)), unread.length);
  return {
    shape: "xlsx",
    ...table,
    notes: [...(unread.length > 0 ? [said] : []), ...table.notes],
    options: sheets.length === 1 ? options : { ...options, sheet: chosen.name },
    bytes: bytes.length,
  };
}
