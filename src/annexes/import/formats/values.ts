import { isJsonObject } from "../../../domain/exact-json.ts";
import { parseInt64 } from "../../../domain/int64.ts";
import { type PetStatus, isPetName, isPetStatus, petStatuses } from "../../../domain/pet.ts";
import type { CandidateCategory, Rejection } from "../candidate.ts";
import { UnreadableInput } from "../read/input.ts";
import { MalformedRecord } from "../read/records.ts";
import type { RecordMapper } from "./format.ts";

/** A field that cannot be taken over; caught by `mapperOf` and made a rejection. */
export class FieldFault extends Error {
  readonly field: string;

  constructor(field: string, problem: string) {
    super(problem);
    this.field = field;
  }
}

/** A mapper that turns what `map` throws as `FieldFault`, and records that are not of the expected kind, into rejections. */
export function mapperOf(columns: readonly string[] | undefined, map: RecordMapper): RecordMapper {
  return (record, line) => {
    if (record instanceof MalformedRecord) return malformed(record, line);
    if (columns === undefined && !isJsonObject(record)) {
      return {
        kind: "reject",
        line,
        field: "",
        problem: `expected an object, found ${shown(record)}`,
        record,
      };
    }
    try {
      return map(record, line);
    } catch (fault) {
      if (!(fault instanceof FieldFault)) throw fault;
      return {
        kind: "reject",
        line,
        field: fault.field,
        problem: fault.message,
        record: named(columns, record),
      };
    }
  };
}

/** A mapper for a format that has only objects. Throws UnreadableInput for CSV columns. */
export function objectMapper(
  format: string,
  columns: readonly string[] | undefined,
  map: RecordMapper,
): RecordMapper {
  if (columns === undefined) return mapperOf(columns, map);
  throw new UnreadableInput(1, `expected JSON for --format ${format}, found CSV`);
}

function malformed(record: MalformedRecord, line: number): Rejection {
  return { kind: "reject", line, field: "", problem: record.problem, record: record.text };
}

/** A CSV row as an object, so that what is written down about it can be read without the header. */
function named(columns: readonly string[] | undefined, record: unknown): unknown {
  if (columns === undefined) return record;
  const fields = record as readonly string[];
  return Object.fromEntries(columns.map((name, index) => [name, fields[index]]));
}

/** One field of a record, undefined where it is missing. */
export type Field = (record: unknown) => unknown;

/** The field of this name: a CSV column, or a property of a JSON object. */
export function fieldOf(columns: readonly string[] | undefined, name: string): Field {
  if (columns === undefined) {
    return (record) => (record as Readonly<Record<string, unknown>>)[name];
  }
  const index = columns.indexOf(name);
  return index < 0 ? () => undefined : (record) => (record as readonly string[])[index];
}

const shownCharacters = 40;

/** A value as a message can show it: short, on one line. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return "a list";
  if (isJsonObject(value)) return "an object";
  const text = JSON.isRawJSON(value) ? value.rawJSON : JSON.stringify(value);
  if (text.length <= shownCharacters) return text;
  return `${text.slice(0, shownCharacters)}...${typeof value === "string" ? '"' : ""}`;
}

export function isBlank(value: unknown): boolean {
  return (
    value === undefined || value === null || (typeof value === "string" && value.trim() === "")
  );
}

/** A name exactly as it is: what a service like ours holds. */
export function exactName(field: string, value: unknown): string {
  if (value === undefined || value === null) {
    throw new FieldFault(field, "expected a name, found nothing");
  }
  if (typeof value !== "string") {
    throw new FieldFault(field, `expected a text, found ${shown(value)}`);
  }
  if (!isPetName(value)) {
    throw new FieldFault(
      field,
      "expected well-formed Unicode without NUL, found a name that is not",
    );
  }
  return value;
}

/** The name of an animal whose shelter has none for it: it is up for adoption all the same, and a list of empty names helps nobody. */
const unnamed = "Unnamed";

/** What stands in name columns of animals without a name. */
const noNames: ReadonlySet<string> = new Set([
  "name not known",
  "unknown",
  "no name",
  "unnamed",
  "n/a",
  "na",
  "none",
  "null",
  "-",
  "?",
]);

/** Shelters mark a name that staff gave, not a former owner, with a leading asterisk. */
const givenByStaff = /^\*+\s*/;

/** A name as shelter software has it, without marks and blanks around it; `unnamed` where there is none. */
export function shelterName(field: string, value: unknown): string {
  if (isBlank(value)) return unnamed;
  const name = exactName(field, value).trim().replace(givenByStaff, "").trim();
  return name === "" || noNames.has(name.toLowerCase()) ? unnamed : name;
}

/** How a value was written. CSV has nothing but texts, so that one may be a number there; in JSON none is. */
export type Notation = "json" | "csv";

/** How records with these CSV columns, or without any, are written. */
export function notationOf(columns: readonly string[] | undefined): Notation {
  return columns === undefined ? "json" : "csv";
}

/** The int64 that `value`, from `parseJson` or a CSV field, is; undefined when it is none. */
export function int64Of(value: unknown, notation: Notation): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return notation === "csv" && typeof value === "string" ? parseInt64(value.trim()) : undefined;
}

/** The category id in a field that has to hold one. */
export function categoryId(field: string, value: unknown, notation: Notation): CandidateCategory {
  const id = int64Of(value, notation);
  if (id === undefined) {
    throw new FieldFault(field, `expected a whole number of 64 bits, found ${shown(value)}`);
  }
  return { id };
}

/** The category named in a field that has to hold a name. */
export function categoryName(field: string, value: unknown): CandidateCategory {
  if (isBlank(value)) throw new FieldFault(field, "expected the name of a category, found nothing");
  if (typeof value !== "string" || !isPetName(value)) {
    throw new FieldFault(field, `expected the name of a category, found ${shown(value)}`);
  }
  return { name: value.trim() };
}

/** The status of a service with our three; undefined where the field is blank. */
export function exactStatus(field: string, value: unknown): PetStatus | undefined {
  if (isBlank(value)) return undefined;
  if (typeof value === "string" && isPetStatus(value)) return value;
  throw new FieldFault(
    field,
    `expected ${petStatuses.join(", ")} or nothing, found ${shown(value)}`,
  );
}

const externalIdCharactersMax = 200;

/** The id that a source has for its animal, as text; undefined where it is blank. */
export function sourceId(field: string, value: unknown): string | undefined {
  if (isBlank(value)) return undefined;
  const id = typeof value === "string" ? value.trim() : int64Of(value, "json")?.toString();
  if (id === undefined || !isPetName(id)) {
    throw new FieldFault(field, `expected an id, found ${shown(value)}`);
  }
  if (id.length > externalIdCharactersMax) {
    throw new FieldFault(
      field,
      `expected an id of at most ${externalIdCharactersMax} characters, found ${id.length}`,
    );
  }
  return id;
}

/** An id made unique among sources: `source:id`. */
export function externalId(source: string, field: string, value: unknown): string | undefined {
  const id = sourceId(field, value);
  return id === undefined ? undefined : `${source}:${id}`;
}

const isoTime = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?/;
const americanTime = /^(\d\d?)\/(\d\d?)\/(\d{4})(?:,? +(\d\d?):(\d\d)(?::(\d\d))?(?: *([AP])M)?)?/i;

/** A time as sources write it (ISO 8601, or month/day/year with AM or PM) as YYYYMMDDhhmmss; undefined if it is neither. */
export function versionOf(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const iso = isoTime.exec(value);
  if (iso !== null) {
    const [, year = "", month = "", day = "", hour = "0", minute, second] = iso;
    return sortable(year, month, day, Number(hour), minute, second);
  }
  const us = americanTime.exec(value);
  if (us === null) return undefined;
  const [, month = "", day = "", year = "", hourText = "0", minute, second, half] = us;
  const hour = Number(hourText);
  const hour24 = half === undefined ? hour : (hour % 12) + (half.toUpperCase() === "P" ? 12 : 0);
  return sortable(year, month, day, hour24, minute, second);
}

function sortable(
  year: string,
  month: string,
  day: string,
  hour: number,
  minute = "0",
  second = "0",
): number {
  return [month, day, hour, minute, second].reduce<number>(
    (sum, part) => sum * 100 + Number(part),
    Number(year),
  );
}
