import { isJsonObject } from "../../../domain/exact-json.ts";
import type { PetStatus } from "../../../domain/pet.ts";
import type { CandidateCategory } from "../candidate.ts";
import { UnreadableInput } from "../read/input.ts";
import type { Format, RecordMapper } from "./format.ts";
import {
  type Field,
  FieldFault,
  categoryName,
  fieldOf,
  int64Of,
  isBlank,
  mapperOf,
  type Notation,
  notationOf,
  shelterName,
  shown,
  sourceId,
} from "./values.ts";

const targets = ["name", "categoryId", "status", "externalId"] as const;
type Target = (typeof targets)[number];

/** Which column (CSV) or field (JSON, dots lead into objects) holds which of our fields. */
export type FieldMap = ReadonlyMap<Target, string>;

/** A `--map` option that cannot be understood; the message says what is wrong and what would be right. */
export class InvalidFieldMap extends Error {
  override readonly name = "InvalidFieldMap";
}

const example = "for example name=Pet Name,categoryId=Species,status=State,externalId=Tag";

/**
 * Reads the value of `--map`: `field=Column` pairs parted by commas; a column whose name has a comma is
 * quoted as in CSV. `name` and `categoryId` are needed. Throws InvalidFieldMap.
 */
export function parseFieldMap(text: string): FieldMap {
  const map = new Map<Target, string>();
  for (const pair of text.match(/(?:"[^"]*"|[^,])+/g) ?? []) {
    const equals = pair.indexOf("=");
    const target = pair.slice(0, Math.max(equals, 0)).trim();
    const column = pair
      .slice(equals + 1)
      .trim()
      .replace(/^"(.*)"$/, "$1");
    if (equals < 0 || column === "") {
      throw new InvalidFieldMap(
        `--map: expected field=Column, found ${JSON.stringify(pair)}; ${example}`,
      );
    }
    if (!isTarget(target)) {
      throw new InvalidFieldMap(
        `--map: there is no field ${JSON.stringify(target)}; the fields are ${targets.join(", ")}`,
      );
    }
    if (map.has(target)) throw new InvalidFieldMap(`--map: ${target} is given twice`);
    map.set(target, column);
  }
  for (const needed of ["name", "categoryId"] as const) {
    if (!map.has(needed)) throw new InvalidFieldMap(`--map: ${needed} is missing; ${example}`);
  }
  return map;
}

function isTarget(text: string): text is Target {
  return (targets as readonly string[]).includes(text);
}

/** A format made from a map: for everything that has no format of its own. */
export function mappedFormat(map: FieldMap): Format {
  return {
    name: "map",
    title: "any other, by --map",
    recognises: () => false,
    mapper: (columns) => mappedMapper(map, columns),
  };
}

function mappedMapper(map: FieldMap, columns: readonly string[] | undefined): RecordMapper {
  const field = (target: Target): Field => {
    const column = map.get(target);
    if (column === undefined) return () => undefined;
    if (columns === undefined) return pathField(column.split("."));
    return fieldOf(columns, existing(columns, target, column));
  };
  const name = field("name");
  const category = field("categoryId");
  const status = field("status");
  const id = field("externalId");
  const notation = notationOf(columns);
  const at = (target: Target) => map.get(target) ?? target;
  return mapperOf(columns, (record, line) => ({
    kind: "pet",
    line,
    name: shelterName(at("name"), name(record)),
    category: idOrName(at("categoryId"), category(record), notation),
    status: statusWord(at("status"), status(record)),
    externalId: sourceId(at("externalId"), id(record)),
  }));
}

/** The column as the header has it; case makes no difference unless it has to. */
function existing(columns: readonly string[], target: Target, column: string): string {
  const exact = columns.filter((name) => name === column);
  const found =
    exact.length > 0
      ? exact
      : columns.filter((name) => name.toLowerCase() === column.toLowerCase());
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (found.length > 1) {
    throw new UnreadableInput(
      1,
      `--map ${target}=${column}: the header has this column ${found.length} times`,
    );
  }
  const shownMax = 20;
  const list = columns
    .slice(0, shownMax)
    .map((name) => JSON.stringify(name))
    .join(", ");
  const more = columns.length > shownMax ? ` and ${columns.length - shownMax} more` : "";
  throw new UnreadableInput(
    1,
    `--map ${target}=${column}: there is no such column; there are ${list}${more}`,
  );
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

/** What shelters write for our three statuses. */
const statusWords: ReadonlyMap<string, PetStatus> = new Map([
  ["available", "available"],
  ["adoptable", "available"],
  ["pending", "pending"],
  ["adoption pending", "pending"],
  ["reserved", "pending"],
  ["sold", "sold"],
  ["adopted", "sold"],
  ["adoption", "sold"],
]);

function statusWord(field: string, value: unknown): PetStatus | undefined {
  if (isBlank(value)) return undefined;
  const status =
    typeof value === "string" ? statusWords.get(value.trim().toLowerCase()) : undefined;
  if (status === undefined) {
    throw new FieldFault(
      field,
      `expected one of ${[...statusWords.keys()].join(", ")}, found ${shown(value)}`,
    );
  }
  return status;
}
