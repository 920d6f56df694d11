import { UsageError } from "../../../cli/errors.ts";
import { isJsonObject } from "../../../domain/exact-json.ts";
import { petFieldNames } from "../../../domain/pet.ts";
import type { CandidateCategory } from "../candidate.ts";
import { UnreadableInput } from "../read/input.ts";
import type { Format, MapperContext, RecordMapper, Sample } from "./format.ts";
import { externalId } from "./ids.ts";
import {
  type Field,
  byStatus,
  categoryName,
  columnKey,
  fieldOf,
  int64Of,
  mapperOf,
  missingStatus,
  type Notation,
  notationOf,
  optionalTextsOf,
  shelterName,
  versionOf,
} from "./values.ts";
import { message } from "../messages.ts";
import { optionalTextNames } from "../../optional-texts.ts";

export const mapTargets = [...petFieldNames, "externalId", "updatedAt"] as const;
export type MapTarget = (typeof mapTargets)[number];

/** Which column (CSV) or field (JSON, dots lead into objects) holds which of our fields. */
export type FieldMap = ReadonlyMap<MapTarget, string>;

const example = "for example name=Pet Name,categoryId=Species,status=State,externalId=Tag";

/**
 * Reads the value of `--map`: `field=Column` pairs parted by commas; a column whose name has a
 * comma is quoted as in CSV. `name` and `categoryId` are needed. Throws UsageError.
 */
export function parseFieldMap(text: string): FieldMap {
  const map = new Map<MapTarget, string>();
  for (const pair of text.match(/(?:"[^"]*"|[^,])+/g) ?? []) {
    const equals = pair.indexOf("=");
    const target = pair.slice(0, Math.max(equals, 0)).trim();
    const column = pair
      .slice(equals + 1)
      .trim()
      .replace(/^"(.*)"$/, "$1");
    if (equals < 0 || column === "") {
      throw invalid(`expected field=Column, found ${JSON.stringify(pair)}; ${example}`);
    }
    if (!isTarget(target)) {
      throw invalid(
        `there is no field ${JSON.stringify(target)}; the fields are ${mapTargets.join(", ")}`,
      );
    }
    if (map.has(target)) throw invalid(`${target} is given twice`);
    map.set(target, column);
  }
  for (const needed of ["name", "categoryId"] as const) {
    if (!map.has(needed)) throw invalid(`${needed} is missing; ${example}`);
  }
  return map;
}

function invalid(problem: string): UsageError {
  return new UsageError(`--map: ${problem}`, "rehome pets import --help");
}

function isTarget(text: string): text is MapTarget {
  return (mapTargets as readonly string[]).includes(text);
}

/** A map as `--map` takes it. */
export function fieldMapText(map: FieldMap): string {
  return [...map]
    .map(([target, column]) => `${target}=${/[,"]/.test(column) ? `"${column}"` : column}`)
    .join(",");
}

/** A format made from a map: for everything that has no format of its own. */
export function mappedFormat(map: FieldMap): Format {
  return {
    name: "map",
    title: "any other, by --map",
    recognises: ({ columns }) =>
      columns !== undefined &&
      [...map.values()].every((column) => matching(columns, column).length === 1),
    mapper: (sample, context) => mappedMapper(map, sample, context),
  };
}

function mappedMapper(map: FieldMap, sample: Sample, context: MapperContext): RecordMapper {
  const { columns } = sample;
  const field = (target: MapTarget): Field => {
    const column = map.get(target);
    if (column === undefined) return () => undefined;
    if (columns === undefined) return pathField(column.split("."));
    return fieldOf(columns, existing(columns, target, column));
  };
  const name = field("name");
  const category = field("categoryId");
  const status = field("status");
  const id = field("externalId");
  const updatedAt = field("updatedAt");
  if (!map.has("status") && context.statuses.whenMissing === undefined) {
    throw missingStatus("status=COLUMN in --map");
  }
  const texts = optionalTextNames.map((each) => [each, field(each)] as const);
  const notation = notationOf(columns);
  const at = (target: MapTarget) => map.get(target) ?? target;
  return mapperOf(columns, (record, line) => {
    const origin = {
      line,
      externalId: externalId(context, at("externalId"), id(record), line),
      version: versionOf(context, at("updatedAt"), updatedAt(record), line),
    };
    const says = { field: at("status"), value: status(record) };
    return byStatus(context, origin, says, () => ({
      ...optionalTextsOf(texts, record),
      name: shelterName(at("name"), name(record)),
      category: idOrName(at("categoryId"), category(record), notation),
    }));
  });
}

/** The columns that a name in the map can mean; spelling makes no difference unless it has to. */
function matching(columns: readonly string[], column: string): readonly string[] {
  const exact = columns.filter((name) => name === column);
  return exact.length > 0 ? exact : columns.filter((name) => columnKey(name) === columnKey(column));
}

/** The column as the header has it. Throws UnreadableInput when there is none, or more than one. */
function existing(columns: readonly string[], target: MapTarget, column: string): string {
  const found = matching(columns, column);
  const [only] = found;
  const pair = `${target}=${column}`;
  if (only !== undefined && found.length === 1) return only;
  if (found.length > 1) {
    throw new UnreadableInput(1, message("columnTwice", pair, String(found.length)));
  }
  const shownMax = 20;
  const list = columns
    .slice(0, shownMax)
    .map((name) => JSON.stringify(name))
    .join(", ");
  const more = columns.length > shownMax ? ` and ${columns.length - shownMax} more` : "";
  throw new UnreadableInput(1, message("columnUnknown", pair, `${list}${more}`));
}

function pathField(path: readonly string[]): Field {
  return (record) =>
    path.reduce<unknown>(
      (value, step) =>
        isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined,
      record,
    );
}

/** Whole numbers are ids; anything else is a name. */
function idOrName(field: string, value: unknown, notation: Notation): CandidateCategory {
  const id = int64Of(value, notation);
  return id === undefined ? categoryName(field, value) : { id };
}
