/** A list before anybody knows what its columns mean, and how they are found by their names. */
import { isJsonObject } from "../../../domain/exact-json.ts";
import { petFieldNames } from "../../../domain/pet.ts";
import { UsageError } from "../../usage-error.ts";
import { isBlank, message } from "../messages.ts";
import { limits, UnreadableInput } from "../read/input.ts";
import { valueAt } from "../read/json.ts";
import type { Records } from "../read/table.ts";
import { pairsIn, pairsText } from "./words.ts";

export type Field = (record: unknown) => unknown;

/** A column of a table, or a field of JSON: `inner` within an object. */
export interface Column {
  readonly name: string;
  readonly read: Field;
  /** True for one of a table that has another one of its name before it. */
  readonly isAgain?: boolean;
  readonly within?: { readonly outer: string; readonly inner: string };
}

export interface Sample {
  readonly columns: readonly string[] | undefined;
  readonly records: readonly unknown[];
  readonly first: readonly unknown[];
  /** The columns, or all fields that the records have. */
  readonly names: readonly string[];
  /** The same as columns; those of one name are one in the maps. */
  readonly own: readonly Column[];
  readonly byName: ReadonlyMap<string, Column>;
  readonly byKey: ReadonlyMap<string, Column>;
}

export const hasFields = (record: unknown): boolean =>
  Array.isArray(record) || isJsonObject(record);

const firstMax = 512;

export function sampleOf({ columns, records }: Pick<Records, "columns" | "records">): Sample {
  const names = columns ?? fieldNames(records);
  const own = names.map((name, at): Column => {
    const place = columns === undefined ? name : at;
    const isAgain = names.indexOf(name) < at;
    return { name, isAgain, read: (record) => (record as Record<string | number, unknown>)[place] };
  });
  const byName = new Map<string, Column>();
  for (const { name, read } of own) {
    const first = byName.get(name)?.read;
    // Of several columns of one name, the first that is filled.
    const either: Field = (record) => (isBlank(first?.(record)) ? read : first)?.(record);
    byName.set(name, { name, read: first === undefined ? read : either });
  }
  const byKey = new Map<string, Column>();
  for (const each of byName.values()) byKey.getOrInsert(columnKey(each.name), each);
  return { columns, records, first: records.slice(0, firstMax), names, own, byName, byKey };
}

function fieldNames(records: readonly unknown[]): readonly string[] {
  const names = new Set<string>();
  for (const record of records) {
    if (isJsonObject(record)) for (const name in record) names.add(name);
    if (names.size > limits.columns) {
      throw new UnreadableInput(0, message("columnsMany", String(limits.columns)));
    }
  }
  return [...names];
}

/** What names of columns are compared by: case, blanks and what joins words make no difference. */
export const columnKey = (column: string): string =>
  column
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}#]+/gu, "");

export function columnsOf(sample: Sample): readonly Column[] {
  if (sample.columns !== undefined) return sample.own;
  const inner = sample.names.flatMap((outer) => {
    const holder = sample.first.find((each) => isJsonObject(valueAt(each, [outer])));
    const found = valueAt(holder, [outer]);
    return Object.keys(found ?? {}).map((name) => {
      const read: Field = (record) => valueAt(record, [outer, name]);
      return { name: `${outer}.${name}`, read, within: { outer, inner: name } };
    });
  });
  return [...sample.own, ...inner];
}

export const hasColumn = ({ byKey }: Sample, names: readonly string[]): boolean =>
  names.some((name) => byKey.has(columnKey(name)));

/** The first of `names` that the input has: no other one takes its place in some records. */
export function columnAmong({ byKey }: Sample, names: readonly string[]): Column {
  const found = names.map((each) => byKey.get(columnKey(each))).find(Boolean);
  return found ?? { name: names[0] ?? "", read: () => undefined };
}

export const lineOf = ({ columns }: Sample) => (columns === undefined ? 0 : 1);

export const missingStatus = (columns: string): UnreadableInput =>
  new UnreadableInput(0, message("statusMissing", columns));

export const mapTargets = [...petFieldNames, "externalId", "updatedAt"] as const;
export type MapTarget = (typeof mapTargets)[number];

/** Which column (CSV) or field (JSON, dots lead into objects) holds which of our fields. */
export type FieldMap = Readonly<Partial<Record<MapTarget, string>>>;

const example = "for example name=Pet Name,categoryId=Species,status=State,externalId=Tag";

/**
 * Reads the values of `--map`: `field=Column` pairs parted by commas; a column whose name has a
 * comma is quoted as in CSV. Throws UsageError.
 */
export function parseFieldMap(...texts: readonly string[]): FieldMap {
  const map: Partial<Record<MapTarget, string>> = {};
  const pairs = texts.flatMap((text) => pairsIn(text, (each) => each.indexOf("=")));
  for (const { pair, left, right: column } of pairs) {
    const target = mapTargets.find((each) => each === left);
    if (left === "" || column === "") {
      throw invalid(`expected field=Column, found ${JSON.stringify(pair)}; ${example}`);
    }
    if (target === undefined) {
      throw invalid(
        `there is no field ${JSON.stringify(left)}; the fields are ${mapTargets.join(", ")}`,
      );
    }
    if (map[target] !== undefined) throw invalid(`${target} is given twice`);
    map[target] = column;
  }
  if (Object.keys(map).length === 0) throw invalid(`expected field=Column; ${example}`);
  return map;
}

const invalid = (problem: string) =>
  new UsageError(`--map: ${problem}`, "rehome pets import --help");

export const fieldMapText = (map: FieldMap): string =>
  pairsText(mapTargets.flatMap((target) => (map[target] ? [[target, map[target]] as const] : [])));

const namesShown = 20;

/** The names of the columns as a message has them. */
export function shownNames({ names }: Sample): string {
  const first = names.slice(0, namesShown).map((each) => JSON.stringify(each));
  const more = names.length > namesShown ? ` and ${names.length - namesShown} more` : "";
  return `${first.join(", ")}${more}`;
}

/**
 * The field of JSON or the column that the map means: spelling makes no difference unless it has
 * to. Throws UnreadableInput if there is none, or more than one.
 */
export function mappedField(sample: Sample, target: string, name: string): Field {
  const { columns, names, records, byName } = sample;
  const pair = `${target}=${name}`;
  if (columns === undefined) {
    // A value of MongoDB's is read without the `$oid` around it.
    const steps = name.split(".").filter((step) => !step.startsWith("$"));
    const path = names.includes(name) ? [name] : steps;
    const read: Field = (record) => valueAt(record, path);
    if (records.length === 0 || records.some((each) => read(each) !== undefined)) return read;
  } else {
    const [only, other] = matching([...byName.keys()], name).map((each) => byName.get(each));
    if (other !== undefined) throw new UnreadableInput(1, message("columnTwice", pair, "2"));
    if (only !== undefined) return only.read;
  }
  throw new UnreadableInput(lineOf(sample), message("columnUnknown", pair, shownNames(sample)));
}

/** The columns that a name means: of several spellings the very one. */
export const matching = (columns: readonly string[], column: string): readonly string[] =>
  columns.includes(column)
    ? [column]
    : columns.filter((name) => columnKey(name) === columnKey(column));
