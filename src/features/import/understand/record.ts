/** What the records of a list say of their animals, once it is known where they say it. */
import { decodeHTML } from "entities/decode";
import { isJsonObject } from "../../../domain/exact-json.ts";
import { parseInt64 } from "../../../domain/int64.ts";
import {
  characterCount,
  isPetName,
  type NewPet,
  petNameLengthMax,
  type PetStatus,
} from "../../../domain/pet.ts";
import {
  isBlank,
  type Message,
  message,
  messageText,
  type Notes,
  shown,
  wordOf,
} from "../messages.ts";
import { MalformedRecord } from "../read/table.ts";
import { type Dates, isNever } from "./dates.ts";
import { isPlaceholderId, type Meaning, passing, Statuses, wordKey } from "./words.ts";

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
  /** Its last change as YYYYMMDDhhmmss, in UTC or an unknown zone; an animal's greatest holds. */
  readonly version?: number | undefined;
}

export interface Candidate extends FromLine, Omit<NewPet, "categoryId"> {
  readonly kind: "pet";
  readonly category: CandidateCategory;
  /** True where it is in a list of stays, and has not left by this record. */
  readonly isStay?: true | undefined;
}

/** A sound record of an animal that is not for adoption (any more): it died, left, or was found. */
export interface Gone extends FromLine {
  readonly kind: "gone";
  /** True where it was only found, lost or in foster: any other record tells more of it. */
  readonly isPassing?: true | undefined;
  readonly reason: string;
  /** What the record calls the animal, to find two animals under one id. */
  readonly name: string | undefined;
  readonly category?: CandidateCategory | undefined;
}

export type SoundRecord = Candidate | Gone;

/** Bad records that are kept as they are; the rest of them are counted. */
export const problemsMax = 1_000;

/** A record that cannot be imported, with the field at fault (empty: the record as a whole). */
export interface Rejection extends FromLine {
  readonly kind: "reject";
  readonly field: string;
  readonly problem: Message;
  readonly record: unknown;
  readonly unknownStatus?: string | undefined;
  readonly status?: PetStatus | undefined;
}

export type Outcome = SoundRecord | Rejection;

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
  /** True where the ids count from 0, which is none elsewhere. */
  readonly isFromZero?: boolean;
}

/** What else a record says against its status: a meaning, or a value that is to be explained. */
export type Weigh = (
  base: Meaning | undefined,
  record: unknown,
  line: number,
  name: string,
) =>
  | { readonly meaning: Exclude<Meaning, "none">; readonly reason: string }
  | { readonly column: string; readonly asked: unknown }
  | undefined;

export interface RecordReader {
  /** What the record on a line has. May throw FieldFault. */
  readonly partsOf: (record: unknown, line: number) => Parts;
  readonly context: MapperContext;
  /** The columns that its status is read from: nothing else is said by them. */
  readonly own: ReadonlySet<string>;
  /** How an animal left, where that is its status. */
  readonly outcome?: ((record: unknown) => unknown) | undefined;
}

export type Said =
  | { readonly field: string; readonly value: unknown; readonly isStay?: true }
  | { readonly gone: string };

export interface Parts extends Omit<FromLine, "line"> {
  readonly says: Said;
  /** A fault of it says nothing where the animal is gone: such a record is sound. */
  readonly pet: () => Pick<Candidate, "name" | "category">;
}

/** A field that cannot be imported; caught by `mapperOf` and made a rejection. */
export class FieldFault extends Error {
  /** What the record says of its animal, where that is sound. */
  status?: PetStatus | undefined;

  constructor(
    readonly field: string,
    readonly problem: Message,
    readonly unknownStatus?: string,
  ) {
    super(messageText(problem));
  }
}

const unknownStatus = (field: string, value: unknown) =>
  new FieldFault(field, message("statusUnknown", shown(value)), wordOf(value).trim());

/** Turns records into outcomes. Never throws: what is wrong with a record is a rejection. */
export function mapperOf(
  columns: readonly string[] | undefined,
  { context, partsOf }: RecordReader,
  weigh: Weigh,
): (record: unknown, line: number) => Outcome {
  const { source } = context;
  let faults = 0;
  return (record, line) => {
    let externalId: string | undefined;
    try {
      if (record instanceof MalformedRecord) throw new FieldFault("", record.problem);
      if (columns === undefined && !isJsonObject(record)) {
        throw new FieldFault("", message("notObject", shown(record)));
      }
      const parts = partsOf(record, line);
      externalId = parts.externalId;
      return outcomeOf(context, line, parts, (base, name) => weigh(base, record, line, name));
    } catch (fault) {
      if (!(fault instanceof FieldFault)) throw fault;
      const { field, problem, status, unknownStatus: word } = fault;
      const written = (faults += 1) > problemsMax ? undefined : writtenOf(columns, record);
      const found = { line, source, externalId, field, problem, record: written, status };
      return { kind: "reject", ...found, unknownStatus: word };
    }
  };
}

/** A CSV row as an object, so that what is written down about it can be read without the header. */
function writtenOf(columns: readonly string[] | undefined, record: unknown): unknown {
  if (record instanceof MalformedRecord) return record.text;
  if (columns === undefined) return record;
  return Object.fromEntries(columns.map((name, at) => [name, (record as readonly string[])[at]]));
}

function outcomeOf(
  { statuses, notes, dates, now }: MapperContext,
  line: number,
  { id, externalId, source, version, says, pet: read }: Parts,
  weigh: (base: Meaning | undefined, name: string) => ReturnType<Weigh>,
): Outcome {
  const pet = orFault(read);
  const { name, category } = pet instanceof FieldFault ? { name: "" } : pet;
  const gone = (reason: string): Gone => {
    const called = name === unnamed ? undefined : name;
    return { kind: "gone", line, id, externalId, source, version, reason, name: called, category };
  };
  if ("gone" in says) return gone(says.gone);
  const { field, value } = says;
  const isMissing = isBlank(value) || isNever(wordOf(value));
  const base = isMissing ? (statuses.whenMissing ?? "none") : statuses.meaningOf(value);
  // A day that is still to come says nothing yet: what it means is asked.
  const isAhead = /\d{2}/.test(wordOf(value)) && (dates.sortable(value) ?? 0) > now;
  if (!isMissing && isAhead) throw unknownStatus(field, value);
  if (base === "gone") {
    const found = gone(isMissing ? `${field} blank` : `${field} ${shown(value)}`);
    return passing.has(wordKey(wordOf(value))) ? { ...found, isPassing: true } : found;
  }
  const other = weigh(base, name);
  if (other !== undefined && "asked" in other) throw unknownStatus(other.column, other.asked);
  if (other?.meaning === "gone") return gone(other.reason);
  const meaning = other?.meaning ?? base;
  if (meaning === undefined) throw unknownStatus(field, value);
  const status = meaning === "none" ? undefined : meaning;
  if (category === undefined) throw Object.assign(pet, { status });
  const note = (code: "namesTell" | "statusesBlank") =>
    notes.add(message(code), line, JSON.stringify(name));
  if (meaning === "available" && saysOther(name)) note("namesTell");
  if (meaning === "none" && isMissing) note("statusesBlank");
  const isStay = says.isStay === true && meaning === "available";
  // Written out: there are many, and a spread object takes twice the memory.
  const kind = "pet";
  if (!isStay) return { kind, line, id, externalId, source, version, name, category, status };
  return { kind, line, id, externalId, source, version, name, category, status, isStay };
}

function orFault<T>(work: () => T): T | FieldFault {
  try {
    return work();
  } catch (fault) {
    if (fault instanceof FieldFault) return fault;
    throw fault;
  }
}

/** What stands behind a name: `Bella (ADOPTION PENDING)`, `Max - adopted!`. */
const besideName = /[([*\u2013\u2014-]\s*(\p{L}[\p{L}\s]*)/u;

/** Apart from the words of the list, which are told as they were read. */
const known = new Statuses();

function saysOther(name: string): boolean {
  const meaning = known.meaningOf(besideName.exec(name)?.[1]);
  return meaning === "pending" || meaning === "sold";
}

/** The name of an animal whose shelter has none for it. Each reader is shown a word for that. */
export const unnamed = "";

/** A name exactly as it is: what a service like ours holds. */
export function exactName(field: string, value: unknown): string {
  if (typeof value === "string" && isPetName(value)) return value;
  if (value === undefined || value === null) throw new FieldFault(field, message("missing"));
  if (typeof value !== "string") throw new FieldFault(field, message("notText", shown(value)));
  refuseLong(field, value, petNameLengthMax);
  throw new FieldFault(field, message("illFormed"));
}

function refuseLong(field: string, text: string, max: number): void {
  const count = characterCount(text);
  if (count > max) throw new FieldFault(field, message("tooLong", String(max), String(count)));
}

/** What stands in name columns of animals without a name. */
const noNames: ReadonlySet<string> = new Set(
  `name not known,unknown,no name,unnamed,n/a,na,none,null,-,?,sin nombre,sem nome,ohne namen,ohne name,sans nom,zonder naam,senza nome,bez imienia,bez jmena,bez mena`.split(
    ",",
  ),
);

/** Shelters mark a name that staff gave, not a former owner, with a leading asterisk. */
const givenByStaff = /^\*+\s*/;

/** What a spreadsheet shows in place of a value that it could not compute. */
const errorCell =
  /^(?:#(?:[¡¿]?\p{L}[\p{L}/\d]*[!?]|N\/[AD]|NV|GETTING_DATA)|(?:Loading|Cargando|Carregando|Chargement|Caricamento|Wird geladen|Laden)(?: ?\.{3}|…)|#{3,})$/iu;

/** A text as it is meant: HTML decoded once. Throws FieldFault for an error of a spreadsheet. */
function meantText(field: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (errorCell.test(value.trim())) throw new FieldFault(field, message("errorCell", shown(value)));
  return value.includes("&") ? decodeHTML(value) : value;
}

/** A name of shelter software without its marks and blanks; `unnamed` if there is none. */
export function shelterName(field: string, value: unknown): string {
  if (isBlank(value)) return unnamed;
  // Some lists number their animals instead of naming them.
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  const name = exactName(field, meantText(field, value)).trim().replace(givenByStaff, "").trim();
  return noNames.has(name.toLowerCase()) ? unnamed : name;
}

/** The int64 that `value`, from `parseJson` or a text of digits, is; undefined when it is none. */
export function int64Of(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === "string" ? parseInt64(value.trim()) : undefined;
}

export function int64In(field: string, value: unknown): bigint {
  const id = int64Of(value);
  if (id === undefined) throw new FieldFault(field, message("notInt64", shown(value)));
  return id;
}

export function idOrName(field: string, value: unknown): CandidateCategory {
  const id = int64Of(value);
  return id === undefined ? categoryName(field, value) : { id };
}

export function categoryName(field: string, value: unknown): { readonly name: string } {
  if (isBlank(value)) throw new FieldFault(field, message("missing"));
  return { name: exactName(field, meantText(field, value)).trim() };
}

const externalIdCharactersMax = 200;

export function sourceId(field: string, value: unknown): string | undefined {
  if (isBlank(value)) return undefined;
  const written = typeof value === "string" ? value : (int64Of(value)?.toString() ?? value);
  const text = exactName(field, written).trim();
  // Tools for tables write whole numbers so where one of them is missing.
  const id = text.replace(/^(\d+)\.0+$/, "$1");
  refuseLong(field, id, externalIdCharactersMax);
  return id;
}

/** What a spreadsheet made of an id: `9.8102E+14` of a microchip's number, `01-Mar` of `1-3`. */
const damaged =
  /^(?:\d(?:[.,]\d+)?E\+\d+|\d{1,2}-(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)-\d{1,2})$/i;

/** What a workbook's cell is that was typed as an id, such as `1-3`, and became a date. */
const dateCell = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2})?$/;

/** What ids of this source begin with: equal ids of two sources are two animals. */
export const idPrefix = (source: string): string => `${source}:`;

/** `source:id`, as it is kept; undefined for no id, or what a spreadsheet left of one. */
export function idInSource(
  { source, notes, isWorkbook, isFromZero }: Omit<MapperContext, "statuses" | "dates" | "now">,
  field: string,
  value: unknown,
  line: number,
): string | undefined {
  const id = sourceId(field, value);
  const isNone = id === undefined || (isPlaceholderId(id) && !(isFromZero && id === "0"));
  if (isNone) return undefined;
  if (damaged.test(id) || (isWorkbook && dateCell.test(id))) {
    notes.add(message("idsDamaged"), line, id);
    return undefined;
  }
  return source === "" ? id : `${idPrefix(source)}${id}`;
}
