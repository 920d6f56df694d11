import { UsageError } from "../../usage-error.ts";
import { petFieldNames } from "../../../domain/pet.ts";
import { isBlank, message, shown, wordOf } from "../messages.ts";
import { UnreadableInput } from "../read/input.ts";
import { valueAt } from "../read/json.ts";
import type { CandidateCategory } from "./record.ts";
import { hasFields, type Sample } from "./sample.ts";
import {
  categoryName,
  columnKey,
  type Field,
  firstFilled,
  int64Of,
  type Notation,
} from "./values.ts";
import { pairsIn } from "./words.ts";

export const mapTargets = [...petFieldNames, "externalId", "updatedAt"] as const;
export type MapTarget = (typeof mapTargets)[number];

/** Which column (CSV) or field (JSON, dots lead into objects) holds which of our fields. */
export type FieldMap = Readonly<Partial<Record<MapTarget, string>>>;

const example = "for example name=Pet Name,categoryId=Species,status=State,externalId=Tag";

/**
 * Reads the value of `--map`: `field=Column` pairs parted by commas; a column whose name has a
 * comma is quoted as in CSV. Throws UsageError.
 */
export function parseFieldMap(text: string): FieldMap {
  const map: Partial<Record<MapTarget, string>> = {};
  const pairs = pairsIn(text, (pair) => pair.indexOf("="));
  for (const { pair, left, right: column } of pairs) {
    if (!pair.includes("=") || column === "") {
      throw invalid(`expected field=Column, found ${JSON.stringify(pair)}; ${example}`);
    }
    const target = mapTargets.find((each) => each === left);
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

function invalid(problem: string): UsageError {
  return new UsageError(`--map: ${problem}`, "rehome pets import --help");
}

export function fieldMapText(map: FieldMap): string {
  return mapTargets
    .flatMap((target) => {
      const column = map[target];
      if (column === undefined) return [];
      return `${target}=${/[,"]/.test(column) ? `"${column}"` : column}`;
    })
    .join(",");
}

/**
 * The field of JSON or the column that the map means: spelling makes no difference unless it has
 * to. Throws UnreadableInput if there is none, or more than one.
 */
export function mappedField(
  { columns, names, records }: Sample,
  target: MapTarget,
  name: string,
): Field {
  const pair = `${target}=${name}`;
  if (columns === undefined) {
    const path = names.includes(name) ? [name] : name.split(".");
    const read: Field = (record) => valueAt(record, path);
    let isThere = records.length === 0;
    for (const record of records) {
      if (isThere) break;
      isThere = read(record) !== undefined;
    }
    if (isThere) return read;
  } else {
    const [only, other] = [...new Set(matching(columns, name))];
    if (other !== undefined) {
      throw new UnreadableInput(1, message("columnTwice", pair, "2"));
    }
    if (only !== undefined) return firstFilled(columns, only);
  }
  const shownMax = 20;
  const shownNames = names.slice(0, shownMax).map((each) => JSON.stringify(each));
  const more = names.length > shownMax ? ` and ${names.length - shownMax} more` : "";
  const found = `${shownNames.join(", ")}${more}`;
  throw new UnreadableInput(columns === undefined ? 0 : 1, message("columnUnknown", pair, found));
}

/** Values that are looked at to see whether a column has categories. */
const categoryValues = 1_000;

/** Refuses a column of ages, weights or dates for the category. Throws UnreadableInput. */
export function refuseNoCategories(
  { categoryId = "" }: FieldMap,
  sample: Sample,
  read: Field,
): void {
  const values = sample.records
    .slice(0, categoryValues)
    .map((record) => (hasFields(record) ? read(record) : undefined))
    .filter((value) => !isBlank(value) && int64Of(value, "csv") === undefined);
  const measures = values.filter((value) => /^\D{0,2}\d/.test(wordOf(value)));
  if (values.length === 0 || 2 * measures.length <= values.length) return;
  const problem = message("columnNoCategory", `categoryId=${categoryId}`, shown(measures[0]));
  throw new UnreadableInput(0, problem);
}

/** Throws UnreadableInput for a column of the map that the list does not have. */
export function requireColumns(map: FieldMap, sample: Sample): void {
  for (const [target, column] of Object.entries(map) as [MapTarget, string][]) {
    mappedField(sample, target, column);
  }
}

export function matching(columns: readonly string[], column: string): readonly string[] {
  const exact = columns.filter((name) => name === column);
  return exact.length > 0 ? exact : columns.filter((name) => columnKey(name) === columnKey(column));
}

/** Whole numbers are ids; anything else is a name. */
export function idOrName(field: string, value: unknown, notation: Notation): CandidateCategory {
  const id = int64Of(value, notation);
  return id === undefined ? categoryName(field, value) : { id };
}
