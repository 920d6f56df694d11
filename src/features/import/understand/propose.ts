/** How a list is to be read, and what is open about it: the same for every door. */
import { shellWord } from "../../../domain/errors.ts";
import { isJsonObject } from "../../../domain/exact-json.ts";
import { isBlank, message, shownCharacters, wordOf } from "../messages.ts";
import { UnreadableInput } from "../read/input.ts";
import { type Input, type Part, partName, readInput, type Several } from "../read/read.ts";
import { type Reading, type Understanding, understand } from "./apply.ts";
import {
  columnKey,
  type FieldMap,
  hasFields,
  mappedField,
  matching,
  missingStatus,
  type Sample,
  sampleOf,
} from "./columns.ts";
import type { Taker } from "./evidence.ts";
import { guessed, kindsTold, listHints, statusIn } from "./guess.ts";
import { candidates, layoutOf, requireNeeded } from "./layouts.ts";
import { type Meaning, Statuses } from "./words.ts";

export type { Reading } from "./apply.ts";

type Maybe<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/** What somebody says of a list; the rest is known, remembered or guessed. */
export interface Given extends Maybe<Omit<Reading, "statuses">> {
  readonly statuses?: ReadonlyMap<string, Meaning> | undefined;
  /** The name of the file, which may tell the kind of animal. */
  readonly called?: string | undefined;
  /** Asks what the columns mean, of a list whose layout is known too. */
  readonly asksColumns?: boolean | undefined;
}

/**
 * What the columns mean, `columns`; which kind of animal all are, `category`; or whether all are
 * for adoption, as no column says so, `defaultStatus`.
 */
interface Open {
  readonly is: "columns" | "category" | "status";
}

/** What a list leaves open. A door shows all of them, and gives the answers in `Given`. */
export type Question =
  /** Which of several lists is meant: `sheet` or `records`. */
  | { readonly is: "part"; readonly parts: readonly Part[] }
  | Open
  /** What words mean: `statuses`. Their records are bad until somebody says. */
  | {
      readonly is: "words";
      readonly column: string;
      readonly words: readonly Readonly<{ word: string; records: number }>[];
    }
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
  readonly prepared?: Prepared | undefined;
  readonly open: readonly Question[];
  /** The first question as an error, for a place where nobody can answer. */
  readonly refusal?: UnreadableInput | undefined;
  readonly reading?: Reading | undefined;
  /** To choose the columns: their names, and the first rows. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

type Result = Pick<Proposal, "prepared" | "open" | "refusal">;

export type List = Input | Several;

export function readList(bytes: Uint8Array, given: Given | Reading): List {
  const { format, columns: map } = given;
  const isHeader = (columns: readonly string[]) => {
    if (map !== undefined) {
      return Object.values(map).every((column) => matching(columns, column).length > 0);
    }
    const found = candidates(sampleOf({ columns, records: [] }));
    return found.some(({ name }) => format === undefined || name === format);
  };
  return readInput(bytes, given, { ...listHints, isHeader });
}

export const columnsIn = (list: List): readonly string[] =>
  "parts" in list ? [] : sampleOf(list).names;

/** How a list would be read, and what is open. Throws UnreadableInput for what is no list. */
export function propose(list: List, given: Given, remembered?: Reading): Proposal {
  if ("parts" in list) return { columns: [], rows: [], ...severalLists(list.parts) };
  const sample = sampleOf(list);
  const found = readingOf(list, sample, given, remembered);
  const { reading, open } = found;
  const outline = { reading, columns: sample.names, rows: rowsOf(sample) };
  if (open === undefined) return { ...outline, ...understood(list, found, given) };
  return { ...outline, open: [open], refusal: new UnreadableInput(0, advised(outline, open)) };
}

/** The list as it is read. Throws its first question where one is open. */
export function preparedOf({ prepared, refusal }: Result): Prepared {
  if (prepared === undefined) throw refusal ?? new Error("a list without a reading or a question");
  return prepared;
}

/** Reads and understands a list, where nobody can be asked. Throws its first question. */
export async function prepare(bytes: Uint8Array, given: Given): Promise<Prepared> {
  return preparedOf(propose(readList(bytes, given), given));
}

/** The same by a reading that was confirmed before: no column is guessed, no question is open. */
export async function prepareAgain(bytes: Uint8Array, reading: Reading): Promise<Prepared> {
  const list = readList(bytes, reading);
  if ("parts" in list) return preparedOf(severalLists(list.parts));
  return preparedOf(understood(list, { reading, isGuessed: false }, reading));
}

/** How it was read, with what words meant by their sense: it reads the next list the same way. */
export const confirmedReading = ({ reading, understanding }: Prepared): Reading => ({
  ...reading,
  statuses: { ...Object.fromEntries(understanding.stems), ...reading.statuses },
  dayFirst: reading.dayFirst ?? understanding.dayFirst,
});

function severalLists(parts: readonly Part[]): Result {
  const names = parts.map((part) => partName(part)).join(", ");
  const isSheets = parts.some(({ sheet }) => sheet !== undefined);
  const quoted = parts.map(({ sheet }) => JSON.stringify(sheet)).join(", ");
  const problem = isSheets ? message("sheetsMany", quoted) : message("listsMany", names);
  return { open: [{ is: "part", parts }], refusal: new UnreadableInput(0, problem) };
}

interface Found {
  readonly reading: Reading;
  readonly isGuessed: boolean;
  readonly isStatusGuessed?: boolean;
  readonly open?: Open | undefined;
}

/** Built in, remembered or proposed, in this order. */
function readingOf(input: Input, sample: Sample, given: Given, remembered?: Reading): Found {
  const { columns = {}, source = "" } = given;
  const isOpen = given.columns === undefined && given.asksColumns !== true;
  const format = given.format ?? (isOpen ? detected(input, sample, given) : undefined);
  const answers = { ...input.options, ...answersOf(given) };
  const layout = layoutOf(format ?? "map");
  if (layout !== undefined) {
    const { name } = layout;
    if (given.format !== undefined) requireNeeded(layout, sample);
    const own = given.source ?? (name === "rehome" ? "" : name);
    const built = { ...answers, format: name, source: own };
    // Of one that is built in, the answers are remembered.
    const isSame = remembered?.format === name;
    return { reading: isSame ? again(remembered, built, given.source) : built, isGuessed: false };
  }
  if (sample.columns === undefined && !sample.first.some(isJsonObject)) {
    throw new UnreadableInput(0, message("noObjects"));
  }
  if (isOpen && remembered !== undefined && fits(remembered, sample.names)) {
    // Of no named source, another list with these columns may be of another kind.
    const isOfAll = given.source === undefined && remembered.category !== undefined;
    const told = isOfAll ? { category: undefined, ...kindsTold(sample, [given.called]) } : {};
    const kept = { ...remembered, ...told };
    const reading = again(kept, answers, given.source);
    return { reading, isGuessed: given.source === undefined, open: openOf(reading) };
  }
  for (const [target, column] of Object.entries(columns)) mappedField(sample, target, column);
  const told: Reading = { ...answers, format: "map", columns, source };
  const isTold = columns.name !== undefined && openOf(told) === undefined;
  const isWhole = isTold && given.asksColumns !== true;
  return isWhole ? { reading: told, isGuessed: false } : guessedReading(sample, given, told);
}

const answersOf = (given: Given) => {
  const { category, statuses = [], defaultStatus, dayFirst, believed, ignored } = given;
  const words = Object.fromEntries(statuses);
  return { category, statuses: words, defaultStatus, dayFirst, believed, ignored };
};

/** A remembered reading with the answers of today. That all are available is asked each time. */
function again(
  remembered: Reading,
  answers: ReturnType<typeof answersOf>,
  source = remembered.source,
): Reading {
  const { columns, statuses, believed = [], defaultStatus } = remembered;
  const isOfAll = columns?.status === undefined && believed.length === 0;
  const said = Object.entries(answers).filter(([, value]) => value !== undefined);
  return {
    ...remembered,
    defaultStatus: isOfAll && defaultStatus === "available" ? undefined : defaultStatus,
    ...Object.fromEntries(said),
    statuses: { ...statuses, ...answers.statuses },
    source,
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
function detected(input: Input, sample: Sample, given: Given): string | undefined {
  const found = candidates(sample).map(({ name }) => name);
  if (found[0] === "rehome" || sample.records.length === 0) return found[0];
  /** How many records are sound, or lack nothing but the meaning of a word. */
  const counts = found.map((format) => {
    const reading = { ...answersOf(given), format, source: format };
    const few = orStatusMissing(() => understand({ ...input, records: sample.first }, reading));
    if (few instanceof UnreadableInput) return { format, reads: 1 };
    const read = few.outcomes.filter((each) => each.kind !== "reject" || each.unknownStatus);
    return { format, reads: read.length };
  });
  const most = Math.max(...counts.map(({ reads }) => reads));
  return most > 0 ? counts.find(({ reads }) => reads === most)?.format : undefined;
}

function guessedReading(sample: Sample, given: Given, told: Reading): Found {
  const { columns = {}, asksColumns = false } = given;
  const guess = guessed(sample, columns, new Statuses(given.statuses, given.defaultStatus));
  const { categoryId, ...others } = guess.columns;
  const found: FieldMap = given.category === undefined ? guess.columns : others;
  const called = [told.records?.at(-1), told.sheet, given.called];
  const isOfKinds = categoryId !== undefined || asksColumns;
  const ofColumns = [...called, found.name, found.externalId];
  const isOpen = given.category === undefined && !isOfKinds;
  const { category, kindByBreed } = isOpen ? kindsTold(sample, ofColumns) : given;
  // A list that is called `adottati` says it of all that are in it.
  const ofAll = found.status === undefined ? called.map(statusIn).find(Boolean) : undefined;
  const statuses = { ...guess.words, ...told.statuses };
  const defaultStatus = given.defaultStatus ?? guess.whenBlank ?? ofAll;
  const believed = guess.believed ? [...(told.believed ?? []), guess.believed] : told.believed;
  // A list without names may have all of its columns given.
  const isGuessed = !Bun.deepEquals(
    [found, category, statuses, defaultStatus],
    [columns, given.category, told.statuses, given.defaultStatus],
  );
  const isStatusGuessed = columns.status === undefined && found.status !== undefined;
  const kinds = { category, kindByBreed };
  const reading = { ...told, columns: found, ...kinds, statuses, defaultStatus, believed };
  const open = asksColumns ? ({ is: "columns" } as const) : openOf(reading);
  return { reading, isGuessed, isStatusGuessed, open };
}

function openOf(reading: Omit<Reading, "format" | "source">) {
  const { columns = {}, category, kindByBreed, defaultStatus } = reading;
  const isKind = (columns.categoryId ?? category ?? kindByBreed) !== undefined;
  const isStatus = (columns.status ?? defaultStatus) !== undefined;
  if (isKind && isStatus) return undefined;
  if (columns.name === undefined) return { is: "columns" } as const;
  return { is: isKind ? "status" : "category" } as const;
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
function understood(
  input: Input,
  { reading, isGuessed, isStatusGuessed = false }: Found,
  { source = "" }: Given | Reading,
): Result {
  const understanding = orStatusMissing(() => understand(input, reading));
  if (understanding instanceof UnreadableInput) {
    return { open: [{ is: "status" }], refusal: understanding };
  }
  const { outcomes, takers } = understanding;
  // What an export has without a status is as it was.
  const isNobody =
    reading.format !== "rehome" &&
    outcomes.length > 0 &&
    outcomes.every((each) => each.kind === "gone" || (each.kind === "pet" && isOut(each.status)));
  const ofAll = reading.format === "map" ? "the status of all" : reading.format;
  const column = reading.columns?.status ?? ofAll;
  const said = message("noneForAdoption", String(outcomes.length), column);
  if (isNobody && isStatusGuessed) {
    const hasBlanks = outcomes.some((each) => each.kind === "pet" && each.status === undefined);
    const isOpen = hasBlanks && reading.defaultStatus === undefined;
    if (!isOpen) throw new UnreadableInput(0, { ...said, code: "noneGuessed" });
    return { open: [{ is: "status" }], refusal: missingStatus(`a value in ${column}`) };
  }
  const nobody = isNobody ? [{ said, records: 0, firstLine: 0, example: "" }] : [];
  const open = [
    ...takers.map((each) => ({ is: "column" as const, ...each })),
    ...wordsIn(outcomes),
  ];
  const [taker] = takers;
  if (taker !== undefined) {
    const { column: name, records, available } = taker;
    const problem = message("columnTakes", shellWord(name), `${records}`, `${available}`);
    return { open, refusal: new UnreadableInput(0, problem) };
  }
  const isSourceNamed = reading.format !== "map" || source !== "";
  const plain = { columns: columnsIn(input), reading, isGuessed, isSourceNamed, understanding };
  const { shape, partial, bytes, notes } = input;
  const own = { shape, partial, bytes, notes: [...notes, ...nobody] };
  return { open, prepared: { ...plain, input: own } };
}

const isOut = (status: Meaning | undefined) => status !== "available" && status !== "pending";

function wordsIn(outcomes: Understanding["outcomes"]): readonly Question[] {
  const bad = outcomes.filter((each) => each.kind === "reject");
  const unknown = bad.filter(({ unknownStatus }) => unknownStatus !== undefined);
  return [...Map.groupBy(unknown, ({ field }) => field)].map(([column, all]) => {
    const words = [...Map.groupBy(all, ({ unknownStatus = "" }) => unknownStatus)];
    const counted = words.map(([word, { length: records }]) => ({ word, records }));
    return { is: "words", column, words: counted };
  });
}

const shownRows = 5;

function rowsOf({ first, own }: Sample): Proposal["rows"] {
  const short = (value: unknown) => (isBlank(value) ? "" : wordOf(value).slice(0, shownCharacters));
  const records = first.filter(hasFields).slice(0, shownRows);
  return records.map((record) => own.map(({ read }) => short(read(record))));
}

/** The columns with a value of each, and what is open as options. No meaning is proposed. */
function advised({ columns, rows: [first = []] }: Omit<Proposal, "open">, { is }: Open) {
  const width = Math.max(...columns.map((name) => name.length));
  const lines = columns.map(
    (name, at) => `  ${name.padEnd(width)}  ${JSON.stringify(first[at] ?? "")}`,
  );
  const [unknown, options] = unknowns[is];
  return message("formatUnknown", unknown, lines.join("\n"), options);
}

/** What is open, and the options that say it. */
const unknowns = {
  columns: ["what the columns mean", "--map name=COLUMN,categoryId=COLUMN,status=COLUMN"],
  category: [
    "of which kind the animals are",
    "--map categoryId=COLUMN, or --category NAME if all animals are of one kind",
  ],
  status: [
    "whether the animals are for adoption",
    "--map status=COLUMN, or --default-status available|pending|sold|none|gone if no column says whether an animal is for adoption",
  ],
} as const;
