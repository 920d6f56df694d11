import { isJsonObject } from "../../../domain/exact-json.ts";
import { parseInt64 } from "../../../domain/int64.ts";
import { characterCount, isPetName, type NewPet, petNameLengthMax } from "../../../domain/pet.ts";
import type { Candidate, FromLine, Gone, Outcome, Rejection } from "../candidate.ts";
import { UnreadableInput } from "../read/input.ts";
import { MalformedRecord } from "../read/records.ts";
import type { MapperContext, RecordMapper } from "./format.ts";
import { type Message, message, messageText } from "../messages.ts";
import type { OptionalTextName } from "../../optional-texts.ts";

/** A field that cannot be imported; caught by `mapperOf` and made a rejection. */
export class FieldFault extends Error {
  readonly field: string;

  readonly problem: Message;

  constructor(field: string, problem: Message) {
    super(messageText(problem));
    this.problem = problem;
    this.field = field;
  }
}

/** An unknown status; `--status` can define it. */
class UnknownStatus extends FieldFault {
  readonly value: string;

  constructor(field: string, value: unknown) {
    super(field, message("statusUnknown", shown(value)));
    this.value = wordOf(value).trim();
  }
}

/** A mapper that makes rejections of each FieldFault of `map`, and of records of another kind. */
export function mapperOf(columns: readonly string[] | undefined, map: RecordMapper): RecordMapper {
  return (record, line) => {
    if (record instanceof MalformedRecord) return malformed(record, line);
    if (columns === undefined && !isJsonObject(record)) {
      const problem = message("notObject", shown(record));
      return { kind: "reject", line, field: "", problem, record };
    }
    return outcomeOf(columns, () => map(record, line), record, line);
  };
}

/** What `work` makes of a record; what it throws as `FieldFault` becomes a rejection. */
export function outcomeOf<T>(
  columns: readonly string[] | undefined,
  work: () => T,
  record: unknown,
  line: number,
): T | Rejection {
  try {
    return work();
  } catch (fault) {
    if (!(fault instanceof FieldFault)) throw fault;
    return {
      kind: "reject",
      line,
      field: fault.field,
      problem: fault.problem,
      record: named(columns, record),
      ...(fault instanceof UnknownStatus ? { unknownStatus: fault.value } : {}),
    };
  }
}

/** What a record says of an animal beside its status. Throws FieldFault. */
type PetOf = () => Omit<Candidate, "kind" | "status" | "reason" | keyof FromLine>;

/** A record of an animal that is gone. It is sound whatever its other fields are. */
export function goneOf(origin: FromLine, reason: string, pet: PetOf): Gone {
  return { ...origin, kind: "gone", reason, name: nameOf(pet) };
}

function nameOf(pet: PetOf): string | undefined {
  try {
    const { name } = pet();
    return name === unnamed ? undefined : name;
  } catch (fault) {
    if (!(fault instanceof FieldFault)) throw fault;
    return undefined;
  }
}

/**
 * What a record says that has this status: with one of ours it is the animal that `pet` makes of
 * it. Throws FieldFault for an unknown word.
 */
export function byStatus(
  { statuses }: MapperContext,
  origin: FromLine,
  { field, value }: { readonly field: string; readonly value: unknown },
  pet: PetOf,
): Outcome {
  const meaning = isBlank(value) ? (statuses.whenMissing ?? "none") : statuses.meaningOf(value);
  if (meaning === undefined) throw new UnknownStatus(field, value);
  if (meaning === "gone") return goneOf(origin, `${field} ${shown(value)}`, pet);
  return { ...origin, kind: "pet", ...pet(), status: meaning === "none" ? undefined : meaning };
}

/** Refuses an input in which nothing tells whether its animals are for adoption. */
export function missingStatus(columns: string): UnreadableInput {
  return new UnreadableInput(1, message("statusMissing", columns));
}

/** The time of a record's last change; a note where there is one that cannot be read. */
export function versionOf(
  { dates, notes }: MapperContext,
  field: string,
  value: unknown,
  line: number,
): number | undefined {
  if (isBlank(value)) return undefined;
  const version = dates.sortable(value);
  if (version === undefined) notes.add(message("datesUnreadable", field), line, shown(value));
  return version;
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

/** One field of a record, undefined if it is missing. */
export type Field = (record: unknown) => unknown;

/** The field of this name: a CSV column, or a property of a JSON object. */
export function fieldOf(columns: readonly string[] | undefined, name: string): Field {
  if (columns === undefined) {
    return (record) => (record as Readonly<Record<string, unknown>>)[name];
  }
  const index = columns.indexOf(name);
  return index < 0 ? () => undefined : (record) => (record as readonly string[])[index];
}

/** What names of columns are compared by: case, blanks and what joins words make no difference. */
export function columnKey(column: string): string {
  return column
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}#]+/gu, "");
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

/** A value as the word or number that it may be. Of a list or an object nothing is known. */
export function wordOf(value: unknown): string {
  return typeof value === "string" ? value : shown(value);
}

export function isBlank(value: unknown): boolean {
  return (
    value === undefined || value === null || (typeof value === "string" && value.trim() === "")
  );
}

/** A name exactly as it is: what a service like ours holds. */
export function exactName(field: string, value: unknown): string {
  if (value === undefined || value === null) {
    throw new FieldFault(field, message("nameMissing"));
  }
  if (typeof value !== "string") {
    throw new FieldFault(field, message("notText", shown(value)));
  }
  if (!isPetName(value)) {
    const count = characterCount(value);
    if (count > petNameLengthMax) {
      const problem = message("nameLong", String(petNameLengthMax), String(count));
      throw new FieldFault(field, problem);
    }
    throw new FieldFault(field, message("nameIllFormed"));
  }
  return value;
}

/** Where a record has the optional texts of an animal. */
type OptionalTexts = readonly (readonly [OptionalTextName, Field])[];

/** The optional texts of a record; an empty one is none. */
export function optionalTextsOf(texts: OptionalTexts, record: unknown): Partial<NewPet> {
  const found = texts.flatMap(([name, read]) => {
    const value = read(record);
    const isAbsent = value === undefined || value === null || value === "";
    return isAbsent ? [] : [[name, exactName(name, value)] as const];
  });
  return Object.fromEntries(found);
}

/**
 * NEVER change: the name of an animal whose shelter has none for it. It is up for adoption like any
 * other, and an empty name in a list helps nobody.
 */
export const unnamed = "Unnamed";

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

/** A name of shelter software without its marks and blanks; `unnamed` if there is none. */
export function shelterName(field: string, value: unknown): string {
  if (isBlank(value)) return unnamed;
  const name = exactName(field, value).trim().replace(givenByStaff, "").trim();
  return name === "" || noNames.has(name.toLowerCase()) ? unnamed : name;
}

/** How a value was written: a text of CSV may be a number, one of JSON is none. */
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

/** The id in a field that has to hold one of ours. */
export function int64In(field: string, value: unknown, notation: Notation): bigint {
  const id = int64Of(value, notation);
  if (id === undefined) throw new FieldFault(field, message("notInt64", shown(value)));
  return id;
}

/** The category named in a field that has to hold a name. */
export function categoryName(field: string, value: unknown): { readonly name: string } {
  if (isBlank(value)) throw new FieldFault(field, message("categoryMissing"));
  if (typeof value !== "string" || !isPetName(value)) {
    throw new FieldFault(field, message("notCategory", shown(value)));
  }
  return { name: value.trim() };
}
