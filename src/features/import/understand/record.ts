import { isJsonObject } from "../../../domain/exact-json.ts";
import type { NewPet, PetStatus } from "../../../domain/pet.ts";
import { isBlank, type Message, message, type Notes, shown, wordOf } from "../messages.ts";
import { MalformedRecord } from "../read/table.ts";
import { type Dates, isNever } from "./dates.ts";
import { Statuses } from "./words.ts";
import { type Meaning, passing, wordKey } from "./words.ts";
import { externalId as idInSource, FieldFault, unnamed } from "./values.ts";

/** The category as the input has it: our id, with its name where that is known, or a name. */
export type CandidateCategory =
  | { readonly id: bigint; readonly name?: string }
  | { readonly name: string; readonly id?: undefined };

export interface FromLine {
  /** Where the record is in the input: its line, or its number, from 1. */
  readonly line: number;
  /** The animal's own id, which this catalogue gave. */
  readonly id?: bigint | undefined;
  /** `source:id`, so that two sources cannot take each other's animals; unique in the catalogue. */
  readonly externalId?: string | undefined;
  /** Whose id that is, and whose list it is without any id; empty when nobody said. */
  readonly source: string;
  /**
   * Time of the record's last change as YYYYMMDDhhmmss, in UTC or in a zone that is not known; of
   * two records for one animal the greater one holds.
   */
  readonly version?: number | undefined;
}

export interface Candidate extends FromLine, Omit<NewPet, "categoryId"> {
  readonly kind: "pet";
  readonly category: CandidateCategory;
  /** True where it is in a list of stays, and has not left by this record. */
  readonly isStay?: true | undefined;
}

/**
 * A sound record of an animal that is not for adoption (any more): it died, left otherwise, or was
 * only found. It takes the animal out of the catalogue, and replaces an older record of it in the
 * same input.
 */
export interface Gone extends FromLine {
  readonly kind: "gone";
  /** True where it was only found, lost or in foster: any other record tells more of it. */
  readonly isPassing?: true | undefined;
  readonly reason: string;
  /** What the record calls the animal, to find two animals under one id. */
  readonly name: string | undefined;
  readonly category?: CandidateCategory | undefined;
}

/** A record that says what becomes of its animal. */
export type SoundRecord = Candidate | Gone;

/** Bad records that are kept as they are; the rest of them are counted. */
export const problemsMax = 1_000;

/** A record that cannot be imported, with the field at fault (empty: the record as a whole). */
export interface Rejection extends FromLine {
  readonly kind: "reject";
  readonly field: string;
  readonly problem: Message;
  readonly record: unknown;
  /** Set when all that is missing is an id for the category's name. */
  readonly unknownCategory?: true;
  /** Set when all that is missing is the meaning of this status. */
  readonly unknownStatus?: string;
  /** What it says of its animal, where that much is sound. */
  readonly status?: PetStatus | undefined;
}

export type Outcome = SoundRecord | Rejection;

/** What the records of one import are read with. */
export interface MapperContext {
  /** Whose ids the records have: the format's name, or what `--source` says. */
  readonly source: string;
  readonly statuses: Statuses;
  readonly dates: Dates;
  /** What `dates` has for this moment, with a day for the zones of the earth. */
  readonly now: number;
  readonly notes: Notes;
  /** True for a workbook, whose cells of dates are read as ISO 8601. */
  readonly isWorkbook: boolean;
}

/** What other columns make of an animal: a meaning, or a value that is to be explained. */
export type Weighed =
  | { readonly meaning: Exclude<Meaning, "none">; readonly reason: string }
  | { readonly column: string; readonly asked: unknown };

/** Weighs what else a record says against its status; undefined where that stands. */
export type Weigh = (
  base: Meaning | undefined,
  record: unknown,
  line: number,
  pet: Parts["pet"],
) => Weighed | undefined;

/** How a list of one layout is read. */
export interface RecordReader {
  /** What a record has. May throw FieldFault. */
  readonly partsOf: (record: unknown) => Parts;
  readonly context: MapperContext;
  /** The columns that its status is read from: nothing else is said by them. */
  readonly own: ReadonlySet<string>;
  /** How an animal left, where that is its status. */
  readonly outcome?: ((record: unknown) => unknown) | undefined;
}

/** What a record says of its animal: a value to be understood, or what that comes to. */
export type Said =
  | { readonly field: string; readonly value: unknown }
  | { readonly status: PetStatus; readonly isStay?: true }
  | { readonly gone: string };

/** A field as the input calls it, and its value in a record. */
type Named = readonly [field: string, value: unknown];

/** What a format reads of a record. */
export interface Parts {
  /** The animal's id in the source, and when the record was changed. */
  readonly id?: Named | undefined;
  readonly changed?: Named | undefined;
  /** In place of these, what our own exports have. */
  readonly origin?: Partial<FromLine>;
  readonly says: Said;
  /** Is not asked for where the animal is gone: such a record is sound whatever else it has. */
  readonly pet: () => Pick<Candidate, "name" | "category">;
}

/** An unknown status; `--status` can define it. */
class UnknownStatus extends FieldFault {
  readonly word: string;

  constructor(field: string, value: unknown) {
    super(field, message("statusUnknown", shown(value)));
    this.word = wordOf(value).trim();
  }
}

/**
 * Turns records into outcomes, where `weigh` says what else a record says. Never throws: what is
 * wrong with a record is a rejection.
 */
export function mapperOf(
  columns: readonly string[] | undefined,
  { context, partsOf }: RecordReader,
  weigh: Weigh,
): (record: unknown, line: number) => Outcome {
  const { source } = context;
  return (record, line) => {
    const rejection = { kind: "reject", line, source, field: "" } as const;
    if (record instanceof MalformedRecord) {
      return { ...rejection, problem: record.problem, record: record.text };
    }
    if (columns === undefined && !isJsonObject(record)) {
      return { ...rejection, problem: message("notObject", shown(record)), record };
    }
    let externalId: string | undefined;
    try {
      const parts = partsOf(record);
      const { origin, id, changed, pet } = parts;
      externalId = id === undefined ? origin?.externalId : idInSource(context, ...id, line);
      const version = changed && versionOf(context, ...changed, line);
      const from = { line, id: origin?.id, externalId, source: origin?.source ?? source, version };
      return outcomeOf(context, from, parts, (base) => weigh(base, record, line, pet));
    } catch (fault) {
      if (!(fault instanceof FieldFault)) throw fault;
      const { field, problem, status } = fault;
      const word = fault instanceof UnknownStatus ? { unknownStatus: fault.word } : {};
      return {
        ...rejection,
        externalId,
        field,
        problem,
        record: named(columns, record),
        status,
        ...word,
      };
    }
  };
}

/** A CSV row as an object, so that what is written down about it can be read without the header. */
function named(columns: readonly string[] | undefined, record: unknown): unknown {
  if (columns === undefined) return record;
  return Object.fromEntries(columns.map((name, at) => [name, (record as readonly string[])[at]]));
}

/** The time of a record's last change; a note where there is one that cannot be read. */
function versionOf(
  { dates, notes }: MapperContext,
  field: string,
  value: unknown,
  line: number,
): number | undefined {
  const version = dates.sortable(value);
  if (version === undefined && !isBlank(value)) {
    notes.add(message("datesUnreadable", field), line, shown(value));
  }
  return version;
}

function outcomeOf(
  { statuses, notes, dates, now }: MapperContext,
  from: FromLine,
  { says, pet }: Parts,
  weigh: (base: Meaning | undefined) => Weighed | undefined,
): Outcome {
  if ("gone" in says) return goneOf(from, says.gone, pet);
  const { field, value } = "status" in says ? { field: "", value: says.status } : says;
  const isMissing = isBlank(value) || isNever(wordOf(value));
  const own = isMissing ? (statuses.whenMissing ?? "none") : statuses.meaningOf(value);
  const base = "status" in says ? says.status : own;
  // A day that is still to come says nothing yet: what it means is asked.
  const isAhead = /\d{2}/.test(wordOf(value)) && (dates.sortable(value) ?? 0) > now;
  if (!isMissing && isAhead) throw new UnknownStatus(field, value);
  if (base === "gone") {
    const gone = goneOf(from, isMissing ? `${field} blank` : `${field} ${shown(value)}`, pet);
    return passing.has(wordKey(wordOf(value))) ? { ...gone, isPassing: true } : gone;
  }
  const other = weigh(base);
  if (other !== undefined && "asked" in other) throw new UnknownStatus(other.column, other.asked);
  if (other?.meaning === "gone") return goneOf(from, other.reason, pet);
  const meaning = other?.meaning ?? base;
  if (meaning === undefined) throw new UnknownStatus(field, value);
  const status = meaning === "none" ? undefined : meaning;
  const { name, category } = petOf(pet, status);
  if (meaning === "available" && saysOther(name)) {
    notes.add(message("namesTell"), from.line, JSON.stringify(name));
  }
  if (meaning === "none" && isMissing) {
    notes.add(message("statusesBlank"), from.line, JSON.stringify(name));
  }
  const { line, id, externalId, source, version } = from;
  const isStay = "status" in says && says.isStay === true && meaning === "available";
  // Written out: there are many, and a spread object takes twice the memory.
  if (!isStay)
    return { kind: "pet", line, id, externalId, source, version, name, category, status };
  return { kind: "pet", line, id, externalId, source, version, name, category, status, isStay };
}

/** What a record has of an animal. A fault of it knows the status, which counts all the same. */
function petOf(pet: Parts["pet"], status: PetStatus | undefined): ReturnType<Parts["pet"]> {
  try {
    return pet();
  } catch (fault) {
    if (fault instanceof FieldFault) fault.status = status;
    throw fault;
  }
}

/** What stands behind a name: `Bella (ADOPTION PENDING)`, `Max - adopted!`. */
const besideName = /[([*\u2013\u2014-]\s*(\p{L}[\p{L}\s]*)/u;

/** Apart from the words of the list, which are told as they were read. */
const known = new Statuses();

/** True for a name that says that its animal is adopted or reserved. */
function saysOther(name: string): boolean {
  const meaning = known.meaningOf(besideName.exec(name)?.[1]);
  return meaning === "pending" || meaning === "sold";
}

/** The record of an animal that is gone, with its name if that is sound. */
function goneOf(from: FromLine, reason: string, pet: Parts["pet"]): Gone {
  const { line, id, externalId, source, version } = from;
  const { name, category } = soundly(pet);
  return {
    kind: "gone",
    line,
    id,
    externalId,
    source,
    version,
    reason,
    name: name === unnamed ? undefined : name,
    category,
  };
}

/** What is known of an animal, as far as it is sound. */
export function soundly(pet: Parts["pet"]): Partial<ReturnType<Parts["pet"]>> {
  try {
    return pet();
  } catch (fault) {
    if (!(fault instanceof FieldFault)) throw fault;
    return {};
  }
}
