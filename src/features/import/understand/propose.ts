/** How a list is to be read, and what is open about it: the same for every door. */
import { systemClock } from "../../../domain/clock.ts";
import { shellWord } from "../../../domain/errors.ts";
import { isJsonObject } from "../../../domain/exact-json.ts";
import { isBlank, type Message, message, shown, shownCharacters, wordOf } from "../messages.ts";
import { type Known as KnownRecords, UnreadableInput } from "../read/input.ts";
import { type Input, type Part, partName, readInput, type Several } from "../read/read.ts";
import { type Reading, type Understanding, understand } from "./apply.ts";
import {
  columnKey,
  type FieldMap,
  fieldMapText,
  hasFields,
  mappedField,
  matching,
  type Sample,
  sampleOf,
} from "./columns.ts";
import type { Taker } from "./evidence.ts";
import {
  countedWords,
  type Guess,
  guessed,
  isOfStays,
  kindIn,
  listHints,
  type OpenWord,
  statusIn,
} from "./guess.ts";
import { candidates, layoutOf, requireNeeded } from "./layouts.ts";
import type { Outcome } from "./record.ts";
import { type Meaning, Statuses, statusWordsText } from "./words.ts";

export type { Reading } from "./apply.ts";
export type { OpenWord } from "./guess.ts";

type Maybe<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/** What somebody says of a list; the rest is known, remembered or guessed. */
export interface Given extends Maybe<Omit<Reading, "statuses" | "isOutcome">> {
  readonly statuses?: ReadonlyMap<string, Meaning> | undefined;
  /** The name of the file, which may tell the kind of animal. */
  readonly called?: string | undefined;
  /** Asks what the columns mean, of a list whose layout is known too. */
  readonly asksColumns?: boolean | undefined;
}

/** What a list leaves open. A door shows all of them, and gives the answers in `Given`. */
export type Question =
  /** Which of several lists is meant: `sheet` or `records`. */
  | { readonly is: "part"; readonly parts: readonly Part[] }
  /** What the columns mean: `columns`. */
  | { readonly is: "columns" }
  /** Which kind of animal all are: `category`. */
  | { readonly is: "category" }
  /** Whether all are for adoption, as no column says so: `defaultStatus`. */
  | { readonly is: "status" }
  /** What words mean: `statuses`. Their records are bad until somebody says. */
  | { readonly is: "words"; readonly column: string; readonly words: readonly OpenWord[] }
  /** Whether a column means this, as it takes most of the available: `believed` or `ignored`. */
  | ({ readonly is: "column" } & Taker);

/** A list whose records are understood; nothing of the store was looked at yet. */
export interface Prepared {
  readonly input: Pick<Input, "shape" | "notes" | "partial" | "bytes">;
  readonly columns: readonly string[];
  readonly reading: Reading;
  /** True if columns or meanings were guessed: somebody has to agree. */
  readonly isGuessed: boolean;
  /** True if somebody or the format said whose list it is, and not the last with these columns. */
  readonly isSourceNamed: boolean;
  readonly understanding: Understanding;
}

export interface Proposal {
  /** Undefined as long as a question other than for words is open. */
  readonly prepared: Prepared | undefined;
  readonly reading: Reading | undefined;
  readonly open: readonly Question[];
  /** To choose the columns: their names, and the first rows. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The first question as an error, for a place where nobody can answer. */
  readonly refusal: UnreadableInput | undefined;
}

/** What somebody says of a list, and the reading that was confirmed before. */
export type Known = Given & { readonly remembered?: Reading | undefined };

export type Knows = (columns: readonly string[]) => Promise<Known>;

/**
 * Reads a list, and says how it would be read and what is open. Throws UnreadableInput for what is
 * no list, or of which nobody would be for adoption by what was guessed.
 */
export async function propose(
  bytes: Uint8Array,
  given: Given,
  knows: Knows = async () => given,
  nowMs = systemClock(),
): Promise<Proposal> {
  const list = readList(bytes, given);
  const known = "parts" in list ? given : await knows(columnsIn(list));
  return proposed(list, known, nowMs);
}

export type List = Input | Several;

export const readList = (bytes: Uint8Array, given: Given | Reading): List =>
  readInput(bytes, given, knownBy(given));

function knownBy({ format, columns: map }: Given | Reading): KnownRecords {
  const isHeader = (columns: readonly string[]) => {
    if (map !== undefined) {
      return Object.values(map).every((column) => matching(columns, column).length > 0);
    }
    const found = candidates(sampleOf({ columns, records: [] }));
    return found.some(({ name }) => format === undefined || name === format);
  };
  return { ...listHints, isHeader };
}

export const columnsIn = (list: List): readonly string[] =>
  "parts" in list ? [] : sampleOf(list).names;

export function proposed(
  input: List,
  { remembered, ...told }: Known,
  nowMs = systemClock(),
): Proposal {
  if ("parts" in input) return severalLists(input.parts);
  const sample = sampleOf(input);
  const found = readingOf(input, sample, told, remembered, nowMs);
  const { open, guess, reading } = found;
  const { columns = {} } = reading;
  const outline = { reading, columns: sample.names, rows: rowsOf(sample) };
  const asked = (questions: readonly Question[], refusal: UnreadableInput) => {
    return { ...outline, prepared: undefined, open: questions, refusal };
  };
  if (open !== undefined) {
    const advice = advised(sample, columns, { ...told, category: reading.category }, guess);
    return asked([open], new UnreadableInput(0, advice));
  }
  const prepared = orStatusMissing(() => preparedBy(input, found, told, nowMs));
  if (prepared instanceof UnreadableInput) return asked([{ is: "status" }], prepared);
  const { takers } = prepared.understanding;
  const questions = [
    ...takers.map((each) => ({ is: "column" as const, ...each })),
    ...wordsIn(prepared),
  ];
  const [taker] = takers;
  if (taker !== undefined) return asked(questions, new UnreadableInput(0, takes(taker)));
  return { ...outline, prepared, open: questions, refusal: undefined };
}

const takes = ({ column, records, available }: Taker) =>
  message("columnTakes", shellWord(column), String(records), String(available));

/** The list as it is read. Throws its first question where one is open. */
export function preparedOf({
  prepared,
  refusal,
}: Pick<Proposal, "prepared" | "refusal">): Prepared {
  if (prepared === undefined) throw refusal ?? new Error("a list without a reading or a question");
  return prepared;
}

/** Reads and understands a list, where nobody can be asked. Throws its first question. */
export async function prepare(bytes: Uint8Array, given: Given): Promise<Prepared> {
  return preparedOf(await propose(bytes, given));
}

/** The same by a reading that was confirmed before: no column is guessed, no question is open. */
export async function prepareAgain(
  bytes: Uint8Array,
  reading: Reading,
  nowMs = systemClock(),
): Promise<Prepared> {
  const input = readList(bytes, reading);
  if ("parts" in input) throw severalLists(input.parts).refusal;
  const prepared = preparedBy(
    input,
    { reading, isGuessed: false },
    { source: reading.source },
    nowMs,
  );
  const [taker] = prepared.understanding.takers;
  if (taker !== undefined) throw new UnreadableInput(0, takes(taker));
  return prepared;
}

/** How it was read, with what words meant by their sense: it reads the next list the same way. */
export const confirmedReading = ({ reading, understanding }: Prepared): Reading => ({
  ...reading,
  statuses: { ...Object.fromEntries(understanding.stems), ...reading.statuses },
  dayFirst: reading.dayFirst ?? understanding.dayFirst,
});

function severalLists(parts: readonly Part[]): Proposal & { readonly refusal: UnreadableInput } {
  const names = parts.map((part) => partName(part)).join(", ");
  const isSheets = parts.some(({ sheet }) => sheet !== undefined);
  const quoted = parts.map(({ sheet }) => JSON.stringify(sheet)).join(", ");
  const problem = isSheets ? message("sheetsMany", quoted) : message("listsMany", names);
  const refusal = new UnreadableInput(0, problem);
  const nothing = { prepared: undefined, reading: undefined, columns: [], rows: [] };
  return { ...nothing, open: [{ is: "part", parts }], refusal };
}

interface Proposed {
  readonly reading: Reading;
  readonly isGuessed: boolean;
  readonly open?: Question | undefined;
  readonly guess?: Guess | undefined;
}

/** Built in, remembered or proposed, in this order. */
function readingOf(
  input: Input,
  sample: Sample,
  given: Given,
  remembered: Reading | undefined,
  nowMs: number,
): Proposed {
  const { columns = {}, source = "" } = given;
  const isOpen = given.columns === undefined && given.asksColumns !== true;
  const format = given.format ?? (isOpen ? detected(input, sample, given, nowMs) : undefined);
  const common = { ...input.options, ...answersOf(given) };
  const layout = format === undefined ? undefined : layoutOf(format);
  if (format !== undefined && layout !== undefined) {
    if (given.format !== undefined) requireNeeded(layout, sample);
    const own = given.source ?? (format === "rehome" ? "" : format);
    const built = { ...common, format, source: own };
    // Of one that is built in, the answers are remembered.
    const isSame = remembered?.format === format;
    return { reading: isSame ? again(remembered, built, given) : built, isGuessed: false };
  }
  if (sample.columns === undefined && !sample.first.some(isJsonObject)) {
    throw new UnreadableInput(0, message("noObjects"));
  }
  if (isOpen && remembered !== undefined && fits(remembered, sample.names)) {
    const reading = again(remembered, common, given);
    const open = openOf(reading.columns ?? {}, reading.category, reading.defaultStatus);
    return { reading, isGuessed: given.source === undefined, open };
  }
  for (const [target, column] of Object.entries(columns)) mappedField(sample, target, column);
  const mapped: Reading = { ...common, format: "map", columns, source };
  const isTold =
    columns.name !== undefined &&
    openOf(columns, given.category, given.defaultStatus) === undefined;
  if (!isTold || given.asksColumns === true) return guessedReading(sample, given, mapped);
  const stays = isOfStays(sample.names, columns.status) && { isOutcome: true as const };
  return { reading: { ...mapped, ...stays }, isGuessed: false };
}

const answersOf = (given: Given) => {
  const { category, statuses = [], defaultStatus, dayFirst, believed, ignored } = given;
  const words = Object.fromEntries(statuses);
  return { category, statuses: words, defaultStatus, dayFirst, believed, ignored };
};

/** A remembered reading with the answers of today. That all are available is asked each time. */
function again(remembered: Reading, common: ReturnType<typeof answersOf>, given: Given): Reading {
  const { defaultStatus: _, ...kept } = remembered;
  const { columns, believed = [], defaultStatus } = remembered;
  const isOfAll = columns?.status === undefined && believed.length === 0;
  const blank = isOfAll && defaultStatus === "available" ? undefined : defaultStatus;
  const said = Object.entries(common).filter(([, value]) => value !== undefined);
  return {
    ...kept,
    ...Object.fromEntries(said),
    statuses: { ...remembered.statuses, ...common.statuses },
    defaultStatus: given.defaultStatus ?? blank,
    source: given.source ?? remembered.source,
  };
}

/** True for a list that has the columns which the reading uses; of JSON, where its paths begin. */
export function fits({ columns = {} }: Reading, names: readonly string[]): boolean {
  const keys = new Set(names.map(columnKey));
  return Object.values(columns).every(
    (column) => keys.has(columnKey(column)) || keys.has(columnKey(column.split(".")[0] ?? "")),
  );
}

/** The known layout that reads most of the first records; one that reads none is no match. */
function detected(input: Input, sample: Sample, given: Given, nowMs: number): string | undefined {
  const [first, ...others] = candidates(sample).map(({ name }) => name);
  if (first === undefined || first === "rehome" || sample.records.length === 0) return first;
  const few = { ...input, records: sample.first };
  /** How many records are sound, or lack nothing but the meaning of a word. */
  const readsOf = (format: string) => {
    const reading = { ...answersOf(given), format, source: format };
    const found = orStatusMissing(() => understand(few, reading, nowMs));
    if (found instanceof UnreadableInput) return 1;
    return found.outcomes.filter((each) => each.kind !== "reject" || each.unknownStatus).length;
  };
  const counts = [first, ...others].map((format) => [format, readsOf(format)] as const);
  const [best, most] = counts.reduce((one, next) => (next[1] > one[1] ? next : one));
  return most > 0 ? best : undefined;
}

function guessedReading(sample: Sample, given: Given, common: Reading): Proposed {
  const { columns = {} } = common;
  const statuses = new Statuses(given.statuses, given.defaultStatus);
  const guess = guessed(sample, withoutCategory(columns, given), statuses);
  const found = withoutCategory(guess.columns, given);
  const isAsked = given.asksColumns === true;
  const called = [common.records?.at(-1), common.sheet, given.called];
  const kind =
    found.categoryId === undefined && !isAsked ? called.map(kindIn).find(Boolean) : undefined;
  const category = given.category ?? kind;
  // A list that is called `adottati` says it of all that are in it.
  const ofAll = found.status === undefined ? called.map(statusIn).find(Boolean) : undefined;
  const reading: Reading = {
    ...common,
    columns: found,
    category,
    statuses: { ...Object.fromEntries(guess.words), ...common.statuses },
    defaultStatus: given.defaultStatus ?? guess.whenBlank ?? ofAll,
    ...(guess.isOutcome === true && { isOutcome: true as const }),
    ...(guess.believed?.length && { believed: [...(given.believed ?? []), ...guess.believed] }),
  };
  const open = isAsked
    ? ({ is: "columns" } as const)
    : openOf(found, category, reading.defaultStatus, guess.asked);
  // A list without names may have all of its columns given.
  const isGuessed =
    fieldMapText(found) !== fieldMapText(columns) ||
    category !== given.category ||
    [...guess.words.keys()].some((word) => given.statuses?.has(word) !== true) ||
    reading.defaultStatus !== given.defaultStatus;
  return { reading, isGuessed, open, guess };
}

function openOf(
  found: FieldMap,
  category: string | undefined,
  status: Meaning | undefined,
  asked?: Guess["asked"],
): Question | undefined {
  const isKind = (found.categoryId ?? category) !== undefined;
  const isStatus = (found.status ?? status) !== undefined;
  if (isKind && isStatus) return undefined;
  if (found.name === undefined) return { is: "columns" };
  if (!isKind) return { is: "category" };
  if (asked === undefined) return { is: "status" };
  return { is: "words", ...asked };
}

function withoutCategory(columns: FieldMap, { category }: Given): FieldMap {
  if (category === undefined) return columns;
  const { categoryId: _, ...rest } = columns;
  return rest;
}

/** What work comes to; an error where nothing says whether animals are for adoption. */
function orStatusMissing<T>(work: () => T): T | UnreadableInput {
  try {
    return work();
  } catch (error) {
    const isOpen = error instanceof UnreadableInput && error.problem.code === "statusMissing";
    if (isOpen) return error;
    throw error;
  }
}

/** Throws UnreadableInput where a guess leaves nobody for adoption, and names its column. */
function preparedBy(
  input: Input,
  { reading, isGuessed, guess }: Proposed,
  given: Given,
  nowMs: number,
): Prepared {
  const { shape, partial, bytes } = input;
  const understanding = understand(input, reading, nowMs);
  const { outcomes, columns } = understanding;
  const mayBeOpen = (each: Outcome) =>
    each.kind === "reject" ||
    (each.kind === "pet" && (each.status === "available" || each.status === "pending"));
  // What an export has without a status is as it was.
  const isNobody = reading.format !== "rehome" && outcomes.length > 0 && !outcomes.some(mayBeOpen);
  const status = reading.columns?.status;
  const of = status ?? (reading.format === "map" ? "the status of all" : reading.format);
  const said = message("noneForAdoption", String(outcomes.length), of);
  const isStatusGuessed =
    guess !== undefined && given.columns?.status === undefined && status !== undefined;
  if (isNobody && isStatusGuessed) throw new UnreadableInput(0, { ...said, code: "noneGuessed" });
  const nobody = isNobody ? [{ said, records: 0, firstLine: 0, example: "" }] : [];
  const notes = [...input.notes, ...nobody];
  const isSourceNamed = reading.format !== "map" || (given.source ?? "") !== "";
  const plain = { columns, reading, isGuessed, isSourceNamed, understanding };
  return { ...plain, input: { shape, notes, partial, bytes } };
}

function wordsIn({ understanding }: Prepared): readonly Question[] {
  const unknown = understanding.outcomes.flatMap((each) =>
    each.kind === "reject" && each.unknownStatus !== undefined
      ? [[each.field, each.unknownStatus] as const]
      : [],
  );
  return [...Map.groupBy(unknown, ([column]) => column)].map(([column, all]) => ({
    is: "words",
    column,
    words: countedWords(all.map(([, word]) => word)),
  }));
}

const shownRows = 5;

function rowsOf(sample: Sample): Proposal["rows"] {
  const short = (value: unknown) => (isBlank(value) ? "" : wordOf(value).slice(0, shownCharacters));
  const records = sample.first.filter(hasFields).slice(0, shownRows);
  return records.map((record) => sample.own.map(({ read }) => short(read(record))));
}

/** The columns with a value of each, and what is open, as options to paste. */
function advised(sample: Sample, map: FieldMap, given: Given, guess: Guess | undefined): Message {
  const { names, first } = sample;
  const record = first.find(hasFields);
  const width = Math.max(...names.map((name) => name.length));
  const lines = sample.own.map(({ name, read }) => {
    const value = record && read(record);
    return `  ${name.padEnd(width)}  ${value === undefined ? "" : shown(value)}`;
  });
  return message("formatUnknown", lines.join("\n"), guess ? advice(map, given, guess) : "");
}

/** Nothing that was not guessed is proposed. */
function advice(map: FieldMap, given: Given, { asked, words, whenBlank, believed }: Guess): string {
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
  const unknown = asked?.words.map(({ word }) => [word, "?"] as const) ?? [];
  const pairs = statusWordsText([...words, ...unknown]);
  const meanings = pairs === "" ? "" : ` --status ${shellWord(pairs)}`;
  if ((map.status ?? given.defaultStatus) !== undefined) {
    const isBlankGuessed = given.defaultStatus === undefined && whenBlank !== undefined;
    return `${option}${meanings}${isBlankGuessed ? ` --default-status ${whenBlank}` : ""}${kind}`;
  }
  if (asked === undefined) {
    const days = believed?.map((column) => ` --believe ${shellWord(column)}`).join("") ?? "";
    const status = days === "" ? "available|pending|sold|none|gone" : `${whenBlank}${days}`;
    return `${option} --default-status ${status}${kind}`;
  }
  const ofWords = meanings === "" ? "" : `, and what its words mean:${meanings}`;
  return `${option}${kind}. If ${JSON.stringify(asked.column)} says whether an animal is for adoption, add status=${asked.column} to the map${ofWords}. If no column says it, add --default-status available|pending|sold|none|gone`;
}
