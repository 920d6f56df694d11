/** Bytes to records, before anybody knows what these mean. */
import { UsageError } from "../../usage-error.ts";
import { type Message, message, type Note } from "../messages.ts";
import { type Known, opened, UnreadableInput } from "./input.ts";
import { isListName, jsonRecords } from "./json.ts";
import { csvTable, type Records, tableOf } from "./table.ts";
import { type Sheet, sheetsOf } from "./xlsx.ts";

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
  readonly included: readonly unknown[];
  /** What it takes unpacked. */
  readonly bytes: number;
}

/** One of several lists in an input: a sheet of a workbook, or a list in a JSON document. */
export type Part = Readonly<{ sheet?: string; records?: readonly string[] }>;

/** A part as it is shown, and as `--records` takes it: a step with a dot or a comma is quoted. */
export const partName = ({ sheet, records = [] }: Part): string =>
  sheet ?? records.map((step) => (/[.,"]/.test(step) ? JSON.stringify(step) : step)).join(".");

/** The steps of `--records`. Throws UsageError for a quoted one that is not as in JSON. */
export function stepsOf(path: string): readonly string[] {
  const steps = path.match(/"(?:[^"\\]|\\.)*"|[^."]+/g) ?? [];
  try {
    return steps.map((step) => (step.startsWith('"') ? (JSON.parse(step) as string) : step));
  } catch (error) {
    const problem = `--records ${path} cannot be read: a name in quotes is written as in JSON.`;
    throw new UsageError(problem, 'Write \\\\ for a backslash in it, and \\" for a quote.', error);
  }
}

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
  const own = {
    options: { ...options, ...(encoding !== "utf-8" && { encoding }) },
    notes: isGuessed ? [note(message("encodingGuessed", encoding))] : [],
    bytes: Math.max(bytes.length, text.length),
  };
  if (text[start] !== "[" && text[start] !== "{") {
    const { notes, ...table } = tableOf(csvTable(text), known);
    return { ...own, ...table, shape: "csv", included: [], notes: [...own.notes, ...notes] };
  }
  const list = jsonRecords(text, path, known);
  if ("paths" in list) return { parts: list.paths.map((records) => ({ records })) };
  const { path: used = [], ...found } = list;
  const { partial } = list;
  return {
    ...own,
    ...found,
    options: used.length === 0 ? own.options : { ...own.options, records: used },
    notes: [...own.notes, ...(partial ? [note(message("listPartial", partial))] : [])],
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
  const beginnings = sheets.map((sheet) => ({ sheet, rows: sheet.rows(beginningRows).rows }));
  const filled = beginnings.filter(({ rows }) => rows.length > 0);
  const isList = (row: readonly string[]) => known.isHeader(row) || known.familiar(row) >= 2;
  const lists = filled.filter(({ rows }) => rows.length > 1 && rows.some(isList));
  // Beside animals there are people and places, unless a list is called by a kind.
  const usual = lists.filter(({ sheet }) => isListName(sheet.name));
  const isUsual = usual.length === 1 && !lists.some(({ sheet }) => known.isKind(sheet.name));
  if (lists.length > 1 && !isUsual) {
    return { parts: lists.map(({ sheet }) => ({ sheet: sheet.name })) };
  }
  const sheet = ((isUsual ? usual : lists)[0] ?? filled[0])?.sheet ?? first;
  const unread = filled.map((each) => each.sheet).filter((each) => each !== sheet);
  return { sheet, unread };
}
