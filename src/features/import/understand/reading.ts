/** How a list is read: proposed from what is known of it, and carried out on all its records. */
import { isJsonObject } from "../../../domain/exact-json.ts";
import { shellWord } from "../../../domain/errors.ts";
import {
  isBlank,
  type Message,
  message,
  type Note,
  Notes,
  shown,
  shownCharacters,
  wordOf,
} from "../messages.ts";
import { collectBehind, limits, UnreadableInput } from "../read/input.ts";
import { type Input, type Known, readInput, type ReadOptions } from "../read/read.ts";
import { asm } from "./asm.ts";
import { Dates } from "./dates.ts";
import { type Corrected, correctionReader, deathReader } from "./exclusion.ts";
import { type Format, hasFields, requireNeeded, type Sample, sampleOf } from "./format.ts";
import { familiarHeadings, guessed, type Guess, isOfStays, kindIn, listHints } from "./guess.ts";
import { type FieldMap, fieldMapText, mappedFormat, requireColumns } from "./map.ts";
import {
  type Candidate,
  type CandidateCategory,
  type Gone,
  goneOf,
  type MapperContext,
  type Outcome,
  problemsMax,
} from "./record.ts";
import { rehome } from "./rehome.ts";
import { petstore, rescuegroups } from "./services.ts";
import { shelters } from "./shelters.ts";
import { statusKey, Statuses, statusWordsText } from "./statuses.ts";
import { columnKey, type Field, fieldOf } from "./values.ts";
import type { Meaning } from "./words.ts";

export const formats: readonly Format[] = [rehome, petstore, rescuegroups, asm, ...shelters];

/**
 * How a list is read, as JSON: what a person confirmed once is read the same way the next time,
 * without any guess.
 */
export interface Reading extends ReadOptions {
  /** A known format, or `map`. */
  readonly format: string;
  readonly columns?: FieldMap | undefined;
  /** The category of all animals, where no column has it. */
  readonly category?: string | undefined;
  /** Words for the status and what they mean here, beside the words that are known. */
  readonly statuses: Readonly<Record<string, Meaning>>;
  /** What a blank status means, or that of all animals where no column has any. */
  readonly defaultStatus?: Meaning | undefined;
  /** True for a report with a row per stay, whose outcome is blank while the animal is there. */
  readonly isOutcome?: true | undefined;
  /** Whose ids the animals have; empty when nobody said. */
  readonly source: string;
}

/** What somebody says of a list; the rest is found out or guessed. */
export interface Given extends ReadOptions {
  readonly format?: string | undefined;
  readonly columns?: FieldMap | undefined;
  readonly category?: string | undefined;
  readonly statuses?: ReadonlyMap<string, Meaning> | undefined;
  readonly defaultStatus?: Meaning | undefined;
  readonly source?: string | undefined;
  /** The name of the file, which may tell the kind of animal. */
  readonly called?: string | undefined;
  /** Asks what the columns mean, of a list whose format is known too. */
  readonly asksColumns?: boolean | undefined;
}

type Proposal = Pick<Prepared, "reading" | "isGuessed">;

/** What formats know of the records that are looked for in an input. */
function knownBy(given: Pick<Given, "format" | "columns">): Known {
  const isHeader = (columns: readonly string[]) => {
    const sample = sampleOf({ columns, records: [] });
    const sought =
      given.columns === undefined
        ? formats.filter(({ name }) => name === (given.format ?? name))
        : [mappedFormat(given.columns)];
    return sought.some((each) => each.recognises(sample));
  };
  return { ...listHints, isHeader, isObject };
}

const objectKeys = /^(?:.*(?:animal|pet|dog|cat|species|breed).*|name|nombre|nom|naam|nome)$/;
const listKeys =
  /^(?:animals|pets|data|items|results|records|features|rows|pagination|meta|links)$/;

/** True for a JSON object that is an animal, by the names of its fields. */
function isObject(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const names = Object.keys(value);
  if (names.length > limits.columns) return false;
  if (names.some((name) => listKeys.test(name) && mayHoldList(value[name]))) return false;
  if ("attributes" in value && "type" in value) return true;
  const keys = names.map(columnKey);
  const isTold = names.some((name, at) => objectKeys.test(keys[at] ?? "") && !isList(value[name]));
  return isTold || familiarHeadings(names) >= 3;
}

/** Not a list of plain values, such as `"data": [2026, 5, 6]` for a date. */
const mayHoldList = (value: unknown) =>
  isJsonObject(value) || isList(value) || (Array.isArray(value) && value.length === 0);

const isList = (value: unknown) =>
  Array.isArray(value) && value.some((each) => isJsonObject(each) || Array.isArray(each));

/** Reads an input as a list of records. Throws UnreadableInput. */
function readFor(
  bytes: Uint8Array,
  given: ReadOptions & Pick<Given, "format" | "columns">,
): Promise<Input> {
  return readInput(bytes, given, knownBy(given));
}

/** The first records are enough to tell a format. A list without records is no fault. */
function detected(sample: Sample): Format | undefined {
  if (sample.columns === undefined && sample.records.length === 0) return rehome;
  return formats.find((format) => format.recognises(sample));
}

/**
 * How an input is to be read, by what was said of it, by its format, or by a guess. Throws
 * UnknownFormat where that leaves open what an animal is.
 */
export function proposed(input: Input, given: Given): Proposal {
  const sample = sampleOf(input);
  const format =
    given.columns === undefined && given.asksColumns !== true
      ? (given.format ?? detected(sample)?.name)
      : given.format;
  const common = {
    ...input.options,
    category: given.category,
    statuses: Object.fromEntries(given.statuses ?? []),
    defaultStatus: given.defaultStatus,
  };
  if (format !== undefined && format !== "map") {
    if (given.format !== undefined)
      requireNeeded(formatOf({ ...common, format, source: "" }), sample);
    const source = given.source ?? (format === rehome.name ? "" : format);
    return { reading: { ...common, format, source }, isGuessed: false };
  }
  if (sample.columns === undefined && !sample.first.some(isJsonObject)) {
    throw new UnreadableInput(0, message("noObjects"));
  }
  const { columns = {}, source = "" } = given;
  requireColumns(columns, sample);
  const isWhole =
    (columns.categoryId ?? given.category) !== undefined &&
    columns.name !== undefined &&
    (columns.status ?? given.defaultStatus) !== undefined;
  if (isWhole) {
    const stays = isOfStays(sample.names, columns.status) && { isOutcome: true as const };
    return { reading: { ...common, format: "map", columns, ...stays, source }, isGuessed: false };
  }
  return guessedReading(sample, given, { ...common, format: "map", columns, source });
}

function guessedReading(sample: Sample, given: Given, common: Reading): Proposal {
  const { columns = {} } = common;
  const statuses = new Statuses(given.statuses, given.defaultStatus);
  const guess = guessed(sample, withoutCategory(columns, given), statuses);
  const found = withoutCategory(guess.columns, given);
  const isOpen = found.categoryId === undefined && given.asksColumns !== true;
  const called = [common.records?.at(-1), common.sheet, given.called];
  const category = given.category ?? (isOpen ? called.map(kindIn).find(Boolean) : undefined);
  const isFound = (found.categoryId ?? category) !== undefined;
  const isStatus = (found.status ?? given.defaultStatus) !== undefined;
  if (!isFound || !isStatus || given.asksColumns === true) {
    throw new UnknownFormat(sample, found, { ...given, category }, guess);
  }
  const reading: Reading = {
    ...common,
    columns: found,
    category,
    statuses: { ...Object.fromEntries(guess.words), ...common.statuses },
    defaultStatus: given.defaultStatus ?? guess.whenBlank,
    ...(guess.isOutcome && { isOutcome: true as const }),
  };
  // A list without names may have all of its columns given.
  const isGuessed =
    fieldMapText(found) !== fieldMapText(columns) ||
    category !== given.category ||
    [...guess.words.keys()].some((word) => given.statuses?.has(word) !== true) ||
    reading.defaultStatus !== given.defaultStatus;
  return { reading, isGuessed };
}

function withoutCategory(columns: FieldMap, { category }: Given): FieldMap {
  if (category === undefined) return columns;
  const { categoryId: _, ...rest } = columns;
  return rest;
}

/** All records of an input, understood. */
export interface Understanding {
  readonly outcomes: readonly Outcome[];
  readonly notes: readonly Note[];
  /** Words that were read by their stems, with their meanings. */
  readonly stems: ReadonlyMap<string, Meaning>;
}

/**
 * What the records of an input say. `readsStems` is false for a reading that was confirmed before:
 * a new word is asked for then. Throws UnreadableInput where the reading does not fit the input.
 */
export function understand(
  input: Input,
  reading: Reading,
  { readsStems = true, dates }: { readsStems?: boolean; dates?: Dates } = {},
): Understanding {
  const sample = sampleOf(input);
  const dateFields = dateFieldsOf(sample);
  const allDates = new Dates();
  const firstDates = dates ?? new Dates();
  for (const record of sample.first) learn(firstDates, dateFields, record);
  const format = formatOf(reading);
  const own = new Map(
    Object.entries(reading.statuses).map(([word, meaning]) => [statusKey(word), meaning]),
  );
  const statuses = new Statuses(own, reading.defaultStatus, { readsStems });
  const notes = new Notes();
  const context: MapperContext = {
    source: reading.source,
    statuses,
    dates: firstDates,
    notes,
    isWorkbook: input.shape === "xlsx",
    included: input.included,
  };
  const map = format.mapper(sample, context);
  const death = deathReader(sample, context);
  const correction =
    reading.format === "map"
      ? correctionReader(sample, reading.columns?.status !== undefined)
      : () => undefined;
  const share = sharer(reading);
  const outcomes: Outcome[] = [];
  let rejected = 0;
  for (const record of input.records) {
    collectBehind(outcomes.length);
    learn(allDates, dateFields, record);
    let outcome = map(record, input.lines[outcomes.length] ?? 0);
    if (outcome.kind === "pet" && outcome.status !== "sold") {
      outcome = corrected(unlessGone(outcome, death(record)), record, correction);
    } else if (outcome.kind === "reject" && (rejected += 1) > problemsMax) {
      outcome = { ...outcome, record: undefined };
    }
    outcomes.push(share(outcome));
  }
  // Later records tell how the first ones are meant.
  if (allDates.isDayFirst !== firstDates.isDayFirst) {
    return understand(input, reading, { readsStems, dates: allDates });
  }
  return { outcomes, notes: notes.list(), stems: statuses.stems() };
}

function unlessGone(animal: Candidate, reason: string | undefined): Candidate | Gone {
  return reason === undefined ? animal : goneOf(animal, reason, () => animal);
}

function corrected(found: Candidate | Gone, record: unknown, correction: Corrected): typeof found {
  if (found.kind === "gone" || found.status !== "available") return found;
  const { meaning, reason } = correction(record) ?? {};
  if (meaning === undefined || meaning === "none") return found;
  return meaning === "gone" ? unlessGone(found, reason) : { ...found, status: meaning };
}

/** Gives all records one object for a category, and one text for a reason: both are few. */
function sharer({ category: told, format }: Reading): (outcome: Outcome) => Outcome {
  const all = told !== undefined && format !== "map" ? { name: told } : undefined;
  const categories = new Map<string, CandidateCategory>();
  const reasons = new Map<string, string>();
  return (outcome) => {
    if (outcome.kind === "reject") return outcome;
    if (outcome.kind === "gone")
      outcome.reason = reasons.getOrInsert(outcome.reason, outcome.reason);
    else if (all !== undefined) outcome.category = all;
    const { category } = outcome;
    if (category !== undefined && category.id === undefined) {
      outcome.category = categories.getOrInsert(category.name, category);
    }
    return outcome;
  };
}

function formatOf({ format: name, columns = {}, category, isOutcome }: Reading): Format {
  if (name === "map") return mappedFormat(columns, category, isOutcome);
  const format = formats.find((each) => each.name === name);
  if (format === undefined) throw new Error(`there is no format ${name}`);
  return format;
}

/** The fields with dates: some of them, in any field, show the order of day and month for all. */
function dateFieldsOf({ columns, names }: Sample): readonly Field[] {
  return names
    .filter((each) => /date|fecha|datum|data|time|update|chang|modif/i.test(each))
    .map((name) => fieldOf(columns, name));
}

function learn(dates: Dates, fields: readonly Field[], record: unknown): void {
  if (hasFields(record)) for (const read of fields) dates.learn(read(record));
}

/** Records of an unknown format that a person is shown. */
const shownRows = 5;

/** The category of all animals, whether all are for adoption, or what words of a column mean. */
type Open =
  | { readonly is: "category" | "status" }
  | { readonly is: "words"; readonly column: string; readonly words: readonly string[] };

/** An input of which nobody can tell what its columns mean, with what is needed to say so. */
export class UnknownFormat extends UnreadableInput {
  override readonly name = "UnknownFormat";
  readonly columns: readonly string[];
  /** The values of the first records, in the order of the columns. */
  readonly rows: readonly (readonly string[])[];
  /** A guess which of them are ours. */
  readonly guess: FieldMap;
  /** What somebody can tell of all animals at once; undefined if their names are not found. */
  readonly open: Open | undefined;

  constructor(sample: Sample, map: FieldMap, given: Given, guess: Guess) {
    const { names, columns } = sample;
    // By its place: several columns may have one name, or none.
    const values = (record: unknown) =>
      names.map((name, at) =>
        columns === undefined ? fieldOf(columns, name)(record) : (record as string[])[at],
      );
    const rows = sample.first.filter(hasFields).slice(0, shownRows).map(values);
    const width = Math.max(...names.map((name) => name.length));
    const lines = names.map((name, at) => {
      const value = rows[0]?.[at] ?? undefined;
      return `  ${name.padEnd(width)}  ${value === undefined ? "" : shown(value)}`;
    });
    super(0, message("formatUnknown", lines.join("\n"), advice(map, given, guess)));
    this.columns = names;
    const short = (value: unknown) =>
      isBlank(value) ? "" : wordOf(value).slice(0, shownCharacters);
    this.rows = rows.map((row) => row.map(short));
    this.guess = map;
    if (map.name === undefined) return;
    if ((map.categoryId ?? given.category) === undefined) this.open = { is: "category" };
    else if (map.status === undefined) {
      this.open = guess.asked === undefined ? { is: "status" } : { is: "words", ...guess.asked };
    }
  }
}

/** What is open, as options to paste: nothing that was not guessed is proposed. */
function advice(map: FieldMap, given: Given, { asked, words, whenBlank }: Guess): string {
  const isCategory = (map.categoryId ?? given.category) !== undefined;
  const open = {
    // Some lists have no names; one that has nothing else that was found has them, too.
    ...(map.name === undefined && map.externalId === undefined && { name: "COLUMN" }),
    ...(!isCategory && { categoryId: "COLUMN" }),
  };
  const told = given.category === undefined ? "" : ` --category ${shellWord(given.category)}`;
  const option = `--map ${shellWord(fieldMapText({ ...map, ...open }))}${told}`;
  const kind = isCategory
    ? ""
    : "; if all animals are of one kind, --category NAME says so instead of categoryId";
  const unknown = asked?.words.map((word) => [word, "?"] as const) ?? [];
  const pairs = statusWordsText([...words, ...unknown]);
  const meanings = pairs === "" ? "" : ` --status ${shellWord(pairs)}`;
  if ((map.status ?? given.defaultStatus) !== undefined) {
    const isBlankGuessed = given.defaultStatus === undefined && whenBlank !== undefined;
    return `${option}${meanings}${isBlankGuessed ? ` --default-status ${whenBlank}` : ""}${kind}`;
  }
  if (asked === undefined) {
    return `${option} --default-status available|pending|sold|none|gone${kind}`;
  }
  const ofWords = meanings === "" ? "" : `, and what its words mean:${meanings}`;
  return `${option}${kind}. If ${JSON.stringify(asked.column)} says whether an animal is for adoption, add status=${asked.column} to the map${ofWords}. If no column says it, add --default-status available|pending|sold|none|gone`;
}

/** A list whose records are understood; nothing of the store was looked at yet. */
export interface Prepared {
  readonly input: Pick<Input, "shape" | "notes" | "partial" | "bytes">;
  readonly reading: Reading;
  /** True if columns or meanings were guessed: somebody has to agree. */
  readonly isGuessed: boolean;
  readonly understanding: Understanding;
}

/** How it was read, with what words meant by their sense: it reads the next list the same way. */
export const confirmedReading = ({ reading, understanding }: Prepared): Reading => ({
  ...reading,
  statuses: { ...Object.fromEntries(understanding.stems), ...reading.statuses },
});

/**
 * Reads and understands an input, as `said` of its columns where that is given. Throws
 * UnreadableInput, UnknownFormat among them.
 */
export async function prepare(
  bytes: Uint8Array,
  given: Given,
  said: (columns: readonly string[]) => Promise<Given> = async () => given,
): Promise<Prepared> {
  const input = await readFor(bytes, given);
  const known = await said(sampleOf(input).names);
  const { reading, isGuessed } = proposed(input, known);
  const found = prepared(input, reading, isGuessed, understand(input, reading));
  const nobody = found.input.notes.find((each) => each.said.code === "noneForAdoption")?.said;
  const isStatusGuessed =
    known.columns?.status === undefined && reading.columns?.status !== undefined;
  if (nobody !== undefined && isGuessed && isStatusGuessed) {
    throw new UnreadableInput(0, { ...nobody, code: "noneGuessed" });
  }
  return found;
}

/** The same by a reading that was confirmed before: nothing is guessed, and no stem is read. */
export async function prepareAgain(bytes: Uint8Array, reading: Reading): Promise<Prepared> {
  const input = await readFor(bytes, reading);
  return prepared(input, reading, false, understand(input, reading, { readsStems: false }));
}

function prepared(
  { shape, partial, bytes, notes: own }: Input,
  reading: Reading,
  isGuessed: boolean,
  understanding: Understanding,
): Prepared {
  // What an export has without a status is as it was.
  const nobody = reading.format === "rehome" ? undefined : nobodyIn(understanding, reading);
  const notes = nobody ? [...own, { said: nobody, records: 0, firstLine: 0, example: "" }] : own;
  return { input: { shape, notes, partial, bytes }, reading, isGuessed, understanding };
}

/** What is said of a list of which no animal is for adoption; undefined if one is, or may be. */
function nobodyIn({ outcomes }: Understanding, reading: Reading): Message | undefined {
  const isOpen = outcomes.some(
    (each) =>
      (each.kind === "pet" && (each.status === "available" || each.status === "pending")) ||
      each.kind === "reject",
  );
  const count = outcomes.length;
  if (isOpen || count === 0) return undefined;
  const column =
    reading.columns?.status ?? (reading.format === "map" ? "the status of all" : reading.format);
  return message("noneForAdoption", String(count), column);
}
