/** What became of a list, or would. */
import type { AppError } from "../../../domain/errors.ts";
import type { PetStatus } from "../../../domain/pet.ts";
import type { Category } from "../../animals/categories.ts";
import { type Message, message, messageText, type Note } from "../messages.ts";
import type { Input } from "../read/read.ts";
import type { ImportOptions } from "../plan/options.ts";
import type { Planned } from "../plan/planned.ts";
import type { AnimalReport } from "../plan/reports.ts";
import { confirmedReading, type Prepared, type Reading } from "../understand/propose.ts";
import {
  type Candidate,
  type CandidateCategory,
  problemsMax,
  type Rejection,
  type SoundRecord,
} from "../understand/record.ts";
import { unnamed } from "../understand/values.ts";
import { type Meaning, wordKey } from "../understand/words.ts";

export interface Cause {
  /** The field at fault; empty for the record as a whole. */
  readonly field: string;
  /** That of the first of them. */
  readonly problem: Message;
  readonly records: number;
  readonly lines: readonly number[];
  /** Set when the meaning of this status is all that is missing. */
  readonly unknownStatus?: string | undefined;
  /** True when an id for the category's name is all that is missing. */
  readonly unknownCategory?: true | undefined;
}

export interface SampleAnimal {
  readonly line: number;
  readonly name: string;
  readonly category: CandidateCategory;
  readonly status: PetStatus | undefined;
  readonly externalId: string | undefined;
}

/**
 * What an input is, and what became of every record, or would: `added`, `updated`, `unchanged`,
 * `superseded`, `skipped` and `rejected` add up to `read`. Whom a bad record hides is updated, too.
 */
export interface ImportSummary {
  readonly format: string;
  readonly shape: Input["shape"];
  readonly source: string;
  /** How it was read; confirmed, it reads the next list the same way. */
  readonly reading: Reading;
  /** True if somebody has to agree to that. */
  readonly isGuessed: boolean;
  readonly dryRun: boolean;
  /** False when rejected records left the catalogue as it was, or all of them were rejected. */
  readonly applied: boolean;
  /** The number of the change, for an undo; undefined where nothing was changed. */
  readonly change: bigint | undefined;
  readonly read: number;
  /** With those that came back under their old ids. */
  readonly added: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly withdrawn: number;
  /** Animals of the source that its whole list does not have; among the withdrawn. */
  readonly missing: number;
  /** Animals that stay as people changed them, though the list says otherwise. */
  readonly kept: number;
  /** Those that lost their status, because it is a word that nobody explained yet. */
  readonly waiting: number;
  /** Older records of animals that have a newer one in the same input. */
  readonly superseded: number;
  /** Sound records of animals that are not for adoption (any more), by what they say. */
  readonly skipped: readonly { readonly reason: string; readonly records: number }[];
  readonly statuses: Readonly<Record<Exclude<Meaning, "gone">, number>>;
  readonly stems: readonly { readonly word: string; readonly meaning: Meaning }[];
  readonly rejected: number;
  readonly rejections: readonly Rejection[];
  readonly causes: readonly Cause[];
  readonly notes: readonly Note[];
  /** Why the import itself is refused, where a dry run goes on. */
  readonly refusal: AppError | undefined;
  readonly sample: readonly SampleAnimal[];
  readonly categoriesAdded: readonly Category[];
  /** New animals that may be here already, with the one that each may be: the first of them. */
  readonly lookalikes: readonly Lookalike[];
  /** The first of the animals that are changed, withdrawn or brought back, from what to what. */
  readonly animals: readonly AnimalReport[];
  /** The first of those that are kept, and who changed each. */
  readonly keptAnimals: readonly KeptAnimal[];
}

export interface KeptAnimal extends AnimalReport {
  readonly by?: string | undefined;
}

/** A record and the only animal here that has its name and category. */
export interface Lookalike {
  readonly line: number;
  readonly id: bigint;
  readonly name: string;
  readonly status: PetStatus | null;
}

/** Animals that are shown one by one. */
export const lookalikesMax = 200;

/** Different causes that are counted one by one; they hold values of the input. */
const causesMax = 100;
/** Unknown words that are counted one by one, beside them: each of them is to be answered. */
const wordsMax = 200;
const sampleAnimals = 5;
const causeLines = 5;

export function summary(
  prepared: Prepared,
  found: Planned,
  options: ImportOptions,
  made: { readonly applied: boolean; readonly categoriesAdded: readonly Category[] },
): ImportSummary {
  const { input, reading, isGuessed, understanding } = prepared;
  const { plan, newest, rejections, skipped, records, refusal } = found;
  const pets = records.filter((each) => each.kind === "pet");
  return {
    format: reading.format,
    shape: input.shape,
    source: reading.source,
    reading: confirmedReading(prepared),
    isGuessed,
    dryRun: true,
    change: undefined,
    ...made,
    read: understanding.outcomes.length,
    ...plan.counts,
    superseded: newest.superseded,
    skipped: [...skipped]
      .map(([reason, count]) => ({ reason, records: count }))
      .toSorted((a, b) => b.records - a.records),
    statuses: statusCounts(pets),
    stems: [...understanding.stems].map(([word, meaning]) => ({ word, meaning })),
    rejected: rejections.length,
    rejections: rejections.slice(0, problemsMax),
    causes: causesOf(rejections),
    notes: [...input.notes, ...understanding.notes, ...planNotes(pets, found, options)],
    refusal,
    sample: pets.slice(0, sampleAnimals).map(({ line, name, category, status, externalId }) => {
      return { line, name, category, status, externalId };
    }),
    lookalikes: plan.lookalikes
      .slice(0, lookalikesMax)
      .map(({ record: { line }, animal: { id, name, status } }) => {
        return { line, id, name, status };
      }),
    animals: plan.reports.changed,
    keptAnimals: plan.reports.kept.map((each) => ({ ...each, by: found.people.get(each.id) })),
  };
}

function statusCounts(pets: readonly Candidate[]): ImportSummary["statuses"] {
  const counts = { available: 0, pending: 0, sold: 0, none: 0 };
  for (const { status } of pets) counts[status ?? "none"] += 1;
  return counts;
}

function planNotes(
  pets: readonly Candidate[],
  { plan: { alike }, newest: { differentNames, undecided } }: Planned,
  { newIds = false, complete = false }: ImportOptions,
): readonly Note[] {
  const named = ({ line, name = "" }: SoundRecord) => ({
    line,
    example: JSON.stringify(name),
  });
  const isAnonymous = ({ id, externalId }: Candidate) =>
    (id === undefined || newIds) && externalId === undefined;
  const nameless = pets.filter(({ name }) => name === unnamed);
  const all = [
    // By names, the next whole list finds the animals of this one again.
    ["idsMissing", complete ? [] : pets.filter(isAnonymous).map(named)],
    ["alikeThere", alike.map(named)],
    ["namesMissing", nameless.map(({ line, externalId = "" }) => ({ line, example: externalId }))],
    ["namesDiffer", differentNames],
    ["recordsDisagree", undecided],
  ] as const;
  return all.flatMap(([code, records]) => {
    const [first] = records;
    if (first === undefined) return [];
    const { line: firstLine, example } = first;
    return { said: message(code), records: records.length, firstLine, example };
  });
}

/** The rejections by what is wrong, the most frequent first. */
function causesOf(rejections: readonly Rejection[]): readonly Cause[] {
  const causes = new Map<string, Cause & { records: number; lines: number[] }>();
  const left = { words: wordsMax, others: causesMax };
  for (const { field, problem, line, unknownStatus: word, unknownCategory } of rejections) {
    // What was found differs from record to record; what was expected does not. A word is one in
    // any case, and its message may be cut.
    const kind =
      word === undefined
        ? messageText(problem).replace(/, found [^]*$|^the id \d+ /g, "")
        : `status ${wordKey(word) || word}`;
    const key = `${field}: ${kind}`;
    const isCounted = causes.has(key) || left[word === undefined ? "others" : "words"]-- > 0;
    const cause = causes.getOrInsertComputed(isCounted ? key : "", () =>
      isCounted
        ? { field, problem, records: 0, lines: [], unknownStatus: word, unknownCategory }
        : { field: "", problem: message("otherProblems"), records: 0, lines: [] },
    );
    cause.records += 1;
    if (cause.lines.length < causeLines) cause.lines.push(line);
  }
  return [...causes.values()].toSorted((a, b) => b.records - a.records);
}
