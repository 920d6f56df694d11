import { UsageError } from "../../usage-error.ts";
import { petFieldNames } from "../../../domain/pet.ts";
import { optionalTextNames } from "../../optional-texts.ts";
import { isBlank, message, shown, wordOf } from "../messages.ts";
import { UnreadableInput } from "../read/input.ts";
import { valueAt } from "../read/json.ts";
import { absenceReader } from "./exclusion.ts";
import { type Format, hasFields, missingStatus, NamedFields, type Sample } from "./format.ts";
import {
  type CandidateCategory,
  type MapperContext,
  mapperOf,
  type RecordMapper,
} from "./record.ts";
import {
  categoryName,
  columnKey,
  type Field,
  fieldOf,
  int64Of,
  type Notation,
  notationOf,
  optionalTextsOf,
  shelterName,
  unnamed,
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
 * A format made from a map: for everything that has no format of its own. `kind` is the category of
 * all animals, where no column has it; with `isOutcome` who has a blank status is still there.
 */
export function mappedFormat(map: FieldMap, kind?: string, isOutcome = false): Format {
  return {
    name: "map",
    title: "any other, by --map",
    recognises: ({ columns }) =>
      columns !== undefined &&
      Object.values(map).every((column) => matching(columns, column).length === 1),
    mapper: (sample, context) => mappedMapper(map, sample, context, kind, isOutcome),
  };
}

function mappedMapper(
  map: FieldMap,
  sample: Sample,
  context: MapperContext,
  kind: string | undefined,
  isOutcome: boolean,
): RecordMapper {
  const { columns } = sample;
  const field = (target: MapTarget): Field => {
    const column = map[target];
    return column === undefined ? () => undefined : mappedField(sample, target, column);
  };
  const name = field("name");
  const category = field("categoryId");
  const status = field("status");
  const id = field("externalId");
  const updatedAt = field("updatedAt");
  if (map.status === undefined && context.statuses.whenMissing === undefined) {
    throw missingStatus("status=COLUMN in --map");
  }
  if (kind === undefined) refuseNoCategories(map, sample, category);
  const texts = optionalTextNames.map((each) => [each, field(each)] as const);
  const notation = notationOf(columns);
  const at = (target: MapTarget) => map[target] ?? target;
  const absence = isOutcome
    ? absenceReader(new NamedFields(sample), { column: at("status"), read: status }, context)
    : () => undefined;
  return mapperOf(columns, context, (record) => {
    const value = status(record);
    const absent = isBlank(value) ? absence(record) : undefined;
    return {
      id: [at("externalId"), id(record)],
      changed: [at("updatedAt"), updatedAt(record)],
      says: absent === undefined ? { field: at("status"), value } : { gone: absent },
      pet: () => ({
        ...optionalTextsOf(texts, record),
        name: map.name === undefined ? unnamed : shelterName(at("name"), name(record)),
        category:
          kind === undefined
            ? idOrName(at("categoryId"), category(record), notation)
            : { name: kind },
      }),
    };
  });
}

/**
 * The field of JSON or the column that the map means: spelling makes no difference unless it has
 * to. Throws UnreadableInput if there is none, or more than one.
 */
function mappedField({ columns, names, records }: Sample, target: MapTarget, name: string): Field {
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
    const [only, ...others] = matching(columns, name);
    if (others.length > 0) {
      throw new UnreadableInput(1, message("columnTwice", pair, String(others.length + 1)));
    }
    if (only !== undefined) return fieldOf(columns, only);
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
function refuseNoCategories({ categoryId = "" }: FieldMap, sample: Sample, read: Field): void {
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

function matching(columns: readonly string[], column: string): readonly string[] {
  const exact = columns.filter((name) => name === column);
  return exact.length > 0 ? exact : columns.filter((name) => columnKey(name) === columnKey(column));
}

/** Whole numbers are ids; anything else is a name. */
export function idOrName(field: string, value: unknown, notation: Notation): CandidateCategory {
  const id = int64Of(value, notation);
  return id === undefined ? categoryName(field, value) : { id };
}
