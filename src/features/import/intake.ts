import type { PetStatus } from "../../domain/pet.ts";
import type { Candidate, CandidateCategory, Gone, Outcome, Rejection } from "./candidate.ts";
import { wordKey } from "./formats/statuses.ts";
import type { ImportCategories, SettledCategories } from "./import-categories.ts";
import type { ImportOptions, ImportSummary } from "./import.ts";
import type { Note } from "./notes.ts";
import type { Reading } from "./reading.ts";
import type { Arranged, ImportStage, StagedAnimal, UnknownRecord } from "./stage.ts";
import { type Message, message, messageText } from "./messages.ts";

/** What is wrong with a number of records. */
export interface Cause {
  /** The field at fault; empty for the record as a whole. */
  readonly field: string;
  /** That of the first of them. */
  readonly problem: Message;
  readonly records: number;
  /** The first lines of them. */
  readonly lines: readonly number[];
  /** Set when the meaning of this status is all that is missing. */
  readonly unknownStatus?: string | undefined;
  /** True when an id for the category's name is all that is missing. */
  readonly unknownCategory?: true | undefined;
}

/** One of the first animals of an input, as it is imported. */
export interface SampleAnimal {
  readonly line: number;
  readonly name: string;
  readonly category: CandidateCategory;
  readonly status: PetStatus | undefined;
  readonly externalId: string | undefined;
}

/** Different reasons and causes that are counted one by one; they hold values of the input. */
const reasonsMax = 100;
/** Unknown words that are counted one by one, beside them: each of them is to be answered. */
const wordsMax = 200;
const sampleAnimals = 5;
const causeLines = 5;

type IntakeOptions = Pick<ImportOptions, "onReject" | "newIds">;

/** Takes outcomes in: counts them, resolves their categories and keeps them aside. */
export class Intake {
  read = 0;
  rejected = 0;
  #pets = 0;
  #withoutId = 0;
  #firstWithoutId: Candidate | undefined;
  readonly #skipped = new Map<string, number>();
  readonly #causes = new Map<string, Omit<Cause, "lines"> & { records: number; lines: number[] }>();
  /** Those of the causes that are unknown words. */
  #words = 0;
  readonly #sample: SampleAnimal[] = [];
  readonly #stage: ImportStage;
  readonly #reading: Reading;
  readonly #categories: ImportCategories;
  readonly #options: IntakeOptions;

  constructor(
    stage: ImportStage,
    reading: Reading,
    categories: ImportCategories,
    options: IntakeOptions,
  ) {
    this.#stage = stage;
    this.#reading = reading;
    this.#categories = categories;
    this.#options = options;
  }

  async add(outcomes: readonly Outcome[]): Promise<void> {
    const staged: StagedAnimal[] = [];
    for (const outcome of outcomes) {
      if (outcome.kind === "reject") await this.#reject(outcome);
      else if (outcome.kind === "gone") {
        this.#skip(outcome);
        staged.push(this.#gone(outcome));
      } else {
        const animal = this.#animal(outcome);
        if ("problem" in animal) await this.#reject(animal);
        else staged.push(animal);
      }
    }
    await this.#stage.add(staged);
    this.read += outcomes.length;
  }

  #animal(candidate: Candidate): StagedAnimal | Rejection {
    const { name, status, externalId, category, line } = candidate;
    const resolved = this.#categories.resolve(category, this.#reading.referenced, line);
    if ("problem" in resolved) {
      const { problem, isUnknown } = resolved;
      return categoryRejection(candidate, problem, isUnknown);
    }
    this.#pets += 1;
    const hasId = candidate.id !== undefined && this.#options.newIds !== true;
    if (externalId === undefined && !hasId) {
      this.#withoutId += 1;
      this.#firstWithoutId ??= candidate;
    }
    if (this.#sample.length < sampleAnimals) {
      this.#sample.push({ line, name, category, status, externalId });
    }
    return { ...candidate, ...resolved, ...this.#origin(candidate), isGone: false };
  }

  #gone(outcome: Gone): StagedAnimal {
    return { ...outcome, ...this.#origin(outcome), isGone: true };
  }

  #origin(outcome: Candidate | Gone): Pick<StagedAnimal, "source" | "version"> {
    return { source: outcome.source ?? this.#reading.source, version: stagedVersion(outcome) };
  }

  #skip({ reason }: Gone): void {
    const counted =
      this.#skipped.has(reason) || this.#skipped.size < reasonsMax ? reason : "other reasons";
    this.#skipped.set(counted, (this.#skipped.get(counted) ?? 0) + 1);
  }

  async #reject(rejection: Rejection, records = 1): Promise<void> {
    this.rejected += records;
    this.#count(rejection, records);
    await this.#options.onReject(rejection);
  }

  #count(rejection: Rejection, records: number): void {
    const { field, problem, line, unknownStatus, unknownCategory } = rejection;
    const isWord = unknownStatus !== undefined;
    // What was found differs from record to record; what was expected does not. A word is one in
    // any case, and its message may be cut.
    const kind = isWord
      ? `${field}: status ${wordKey(unknownStatus) || unknownStatus}`
      : `${field}: ${messageText(problem).replace(/, found [^]*$/, "")}`;
    const others = isWord ? this.#words : this.#causes.size - this.#words;
    const isCounted = this.#causes.has(kind) || others < (isWord ? wordsMax : reasonsMax);
    const cause = this.#causes.get(isCounted ? kind : "");
    if (cause !== undefined) {
      cause.records += records;
      if (cause.lines.length < causeLines) cause.lines.push(line);
    } else if (isCounted) {
      const lines = [line];
      if (isWord) this.#words += 1;
      this.#causes.set(kind, { field, problem, records, lines, unknownStatus, unknownCategory });
    } else {
      const others = message("otherProblems");
      this.#causes.set("", { field: "", problem: others, records, lines: [line] });
    }
  }

  /** Rejects the animals whose category nobody could name until the input's end. */
  async rejectUnknown({ unknown }: SettledCategories): Promise<void> {
    for (const { what, firstLine, animals, isNamed } of unknown) {
      this.#pets -= animals;
      const rejection: Rejection = {
        kind: "reject",
        line: firstLine,
        field: "category",
        problem: message("categoryUnnamed", what, String(animals - 1)),
        record: null,
        ...(isNamed ? { unknownCategory: true } : {}),
      };
      await this.#reject(rejection, animals);
    }
  }

  /** Rejects the records with ids that the catalogue never gave; they are one cause. */
  async rejectUnknownIds({ unknownIds, unknown }: Arranged): Promise<void> {
    const [first] = unknown;
    if (first === undefined) return;
    this.#pets -= unknownIds;
    this.rejected += unknownIds;
    this.#count(unknownId(first, unknownIds - 1), unknownIds);
    // The last one stands for those that are not listed.
    const unlisted = unknownIds - unknown.length;
    for (const record of unknown) {
      await this.#options.onReject(unknownId(record, record === unknown.at(-1) ? unlisted : 0));
    }
  }

  /** What became of the records, with so many animals `ready` to be imported. */
  counts(
    ready: number,
  ): Pick<ImportSummary, "read" | "superseded" | "skipped" | "rejected" | "causes" | "sample"> {
    const skipped = [...this.#skipped].map(([reason, records]) => ({ reason, records }));
    return {
      read: this.read,
      superseded: this.#pets - ready,
      skipped: skipped.toSorted((a, b) => b.records - a.records),
      rejected: this.rejected,
      causes: [...this.#causes.values()].toSorted((a, b) => b.records - a.records),
      sample: this.#sample,
    };
  }

  notes({ differentNames, differentName }: Arranged): readonly Note[] {
    const notes: Note[] = [];
    if (this.#firstWithoutId !== undefined) {
      const { line, name } = this.#firstWithoutId;
      const said = message("idsMissing");
      const example = JSON.stringify(name);
      notes.push({ said, records: this.#withoutId, firstLine: line, example });
    }
    if (differentName !== undefined) {
      const { id, names, line } = differentName;
      const said = message("namesDiffer");
      const example = `${id} is ${names.map((name) => JSON.stringify(name)).join(" and ")}`;
      notes.push({ said, records: differentNames, firstLine: line, example });
    }
    return notes;
  }
}

/** Ranks of two records of one animal from the same moment: the one that is for adoption holds. */
const ranks = 4;

function stagedVersion(outcome: Candidate | Gone): number {
  const { version } = outcome;
  if (version === undefined) return 0;
  const rank = outcome.kind === "gone" ? 0 : outcome.status === "sold" ? 1 : 2;
  return version * ranks + rank;
}

function categoryRejection(
  { line, id, name, category, status, externalId }: Candidate,
  problem: Message,
  isUnknown: boolean,
): Rejection {
  const named = "name" in category ? category.name : null;
  return {
    kind: "reject",
    line,
    field: "category",
    problem,
    // With all that an import would keep, by the names of rehome's own format.
    record: { id, name, category: named, status: status ?? null, externalId },
    ...(isUnknown ? { unknownCategory: true } : {}),
  };
}

function unknownId({ line, ...record }: UnknownRecord, others: number): Rejection {
  const problem = message("idUnknown", String(record.id), String(others));
  return { kind: "reject", line, field: "id", problem, record };
}
