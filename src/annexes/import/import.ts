import type { Category } from "../../domain/category.ts";
import { AppError } from "../../domain/errors.ts";
import type {
  Awaitable,
  CatalogueStore,
  ImportCounts,
  ImportStage,
  StagedAnimal,
} from "../../storage/contract.ts";
import { closing } from "../../service/closing.ts";
import type { Candidate, Outcome, Rejection, Skip } from "./candidate.ts";
import type { Format } from "./formats/format.ts";
import { ImportCategories, type SettledCategories } from "./import-categories.ts";
import { type Reading, readCatalogue } from "./reading.ts";
import type { ByteChunks } from "./read/input.ts";

/**
 * Animals taken over in one transaction. Some ten milliseconds: as long as a create may have to wait for the lock, and
 * enough for one fsync not to count.
 */
const takeAnimals = 5_000;
/** Between two of them the lock is free for so long that whoever waits for it gets it. */
const pauseMs = 3;

export interface ImportProgress {
  readonly phase: "reading" | "storing";
  /** Records read, or animals stored. */
  readonly done: number;
  /** Animals to store; unknown while reading. */
  readonly total: number | undefined;
}

export interface ImportOptions {
  readonly source: ByteChunks;
  /** Undefined to find it out. */
  readonly format: Format | undefined;
  /** Names with ids that the catalogue may not know yet. */
  readonly categories: readonly Category[];
  /** Gives new ids to names that nothing knows. */
  readonly createCategories: boolean;
  /** Takes over the rest when records are rejected; otherwise nothing is. */
  readonly skipBad: boolean;
  /** Changes nothing and counts what would change. */
  readonly dryRun: boolean;
  /** Told of each record that cannot be taken over, in order; those whose category stays unknown come last. */
  readonly onReject: (rejection: Rejection) => Awaitable<void>;
  readonly onProgress: (progress: ImportProgress) => void;
  /** Waits for so many milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly stop: AbortSignal;
}

/** What became of every record read: the numbers add up to `read`. */
export interface ImportSummary extends ImportCounts {
  readonly format: string;
  readonly shape: Reading["shape"];
  readonly dryRun: boolean;
  /** False when rejected records kept the catalogue as it was. */
  readonly applied: boolean;
  readonly read: number;
  /** Older records of animals that have a newer one in the same input. */
  readonly superseded: number;
  readonly skipped: readonly { readonly reason: string; readonly records: number }[];
  readonly rejected: number;
  readonly categoriesAdded: readonly Category[];
}

/**
 * Takes a catalogue over. All of it is read and checked, and kept aside, before anything is changed; it is then taken
 * over in short transactions, so that a server on the same store goes on answering in between.
 * Throws UnreadableInput where the input cannot be read on, AppError when it was stopped or the store failed.
 */
export async function importCatalogue(
  store: CatalogueStore,
  options: ImportOptions,
): Promise<ImportSummary> {
  const known = await store.categories();
  const categories = new ImportCategories(known, options.categories, options.createCategories);
  const reading = await readCatalogue(options.source, options.format);
  return closing(
    () => reading.close(),
    async () => {
      const stage = await store.beginImport();
      return closing(
        () => stage.close(),
        () => importReading(store, stage, reading, categories, options),
      );
    },
  );
}

async function importReading(
  store: CatalogueStore,
  stage: ImportStage,
  reading: Reading,
  categories: ImportCategories,
  options: ImportOptions,
): Promise<ImportSummary> {
  const intake = new Intake(stage, reading, categories, options);
  for await (const batch of reading.batches) {
    await intake.add(batch);
    if (options.stop.aborted) throw stopped("Nothing was changed.");
  }
  const settled = categories.settle(reading.referenced, await store.highestCategoryId());
  await intake.rejectUnknown(settled);
  const ready = await stage.arrange(settled.ids);
  const applied = !options.dryRun && (options.skipBad || intake.rejected === 0);
  if (applied && settled.added.length > 0) await store.addCategories(settled.added);
  const counts = applied ? await takeAll(stage, ready, options) : await stage.compare();
  return intake.summary(settled, ready, counts, applied);
}

async function takeAll(
  stage: ImportStage,
  total: number,
  { onProgress, sleep, stop }: ImportOptions,
): Promise<ImportCounts> {
  let sum: ImportCounts = { added: 0, updated: 0, unchanged: 0 };
  const done = () => sum.added + sum.updated + sum.unchanged;
  const soFar = () =>
    `${done()} of ${total} animals are taken over and stay. Run the import again for the rest: animals with an id of their own are not doubled.`;
  try {
    for (;;) {
      const counts = await stage.takeOver(takeAnimals);
      if (counts === undefined) return sum;
      sum = plus(sum, counts);
      onProgress({ phase: "storing", done: done(), total });
      if (stop.aborted && done() < total) break;
      if (done() < total) await sleep(pauseMs);
    }
  } catch (error) {
    throw brokenOff(error, soFar());
  }
  throw stopped(soFar());
}

function brokenOff(error: unknown, consequence: string): AppError {
  if (!(error instanceof AppError)) {
    const message = `The import broke off (${(error as Error).message}). ${consequence}`;
    return new AppError("unavailable", message, { cause: error });
  }
  const { kind, explained, hint } = error;
  const advice = hint === undefined ? {} : { hint };
  return new AppError(kind, `${explained} ${consequence}`, { cause: error, ...advice });
}

function plus(a: ImportCounts, b: ImportCounts): ImportCounts {
  return {
    added: a.added + b.added,
    updated: a.updated + b.updated,
    unchanged: a.unchanged + b.unchanged,
  };
}

function stopped(consequence: string): AppError {
  return new AppError("unavailable", `The import was stopped. ${consequence}`);
}

/** Different reasons that are counted one by one; a reason holds a value of the input. */
const reasonsMax = 100;

/** Takes outcomes in: counts them, resolves their categories and keeps them aside. */
class Intake {
  rejected = 0;
  #read = 0;
  #pets = 0;
  readonly #skipped = new Map<string, number>();
  readonly #stage: ImportStage;
  readonly #reading: Reading;
  readonly #categories: ImportCategories;
  readonly #options: ImportOptions;

  constructor(
    stage: ImportStage,
    reading: Reading,
    categories: ImportCategories,
    options: ImportOptions,
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
      else if (outcome.kind === "skip") {
        this.#skip(outcome);
        if (outcome.externalId !== undefined) staged.push(withdrawn(outcome));
      } else {
        const animal = this.#animal(outcome);
        if ("kind" in animal) await this.#reject(animal);
        else staged.push(animal);
      }
    }
    await this.#stage.add(staged);
    this.#read += outcomes.length;
    this.#options.onProgress({ phase: "reading", done: this.#read, total: undefined });
  }

  #animal(candidate: Candidate): StagedAnimal | Rejection {
    const { name, status, externalId, version = 0, category, line } = candidate;
    const resolved = this.#categories.resolve(category, this.#reading.referenced, line);
    if (resolved === undefined) return unknownCategory(candidate);
    this.#pets += 1;
    const { categoryId, categoryKey } = resolved;
    return { name, categoryId, categoryKey, status, externalId, version, withdrawn: false };
  }

  #skip({ reason }: Skip): void {
    const counted =
      this.#skipped.has(reason) || this.#skipped.size < reasonsMax ? reason : "other reasons";
    this.#skipped.set(counted, (this.#skipped.get(counted) ?? 0) + 1);
  }

  async #reject(rejection: Rejection): Promise<void> {
    this.rejected += 1;
    await this.#options.onReject(rejection);
  }

  /** Rejects the animals whose category nobody could name until the input's end. */
  async rejectUnknown({ unknown }: SettledCategories): Promise<void> {
    for (const { what, firstLine, animals } of unknown) {
      this.rejected += animals;
      this.#pets -= animals;
      const others = animals === 1 ? "" : ` (and of ${animals - 1} more animals)`;
      await this.#options.onReject({
        kind: "reject",
        line: firstLine,
        field: "category",
        problem: `the category ${what} of this animal${others} is not known`,
        record: null,
        unknownCategory: true,
      });
    }
  }

  summary(
    { added }: SettledCategories,
    ready: number,
    counts: ImportCounts,
    applied: boolean,
  ): ImportSummary {
    const skipped = [...this.#skipped].map(([reason, records]) => ({ reason, records }));
    return {
      format: this.#reading.format.name,
      shape: this.#reading.shape,
      dryRun: this.#options.dryRun,
      applied,
      read: this.#read,
      ...counts,
      superseded: this.#pets - ready,
      skipped: skipped.toSorted((a, b) => b.records - a.records),
      rejected: this.rejected,
      categoriesAdded: added,
    };
  }
}

function withdrawn({ externalId, version = 0 }: Skip): StagedAnimal {
  const nothing = { categoryId: undefined, categoryKey: undefined, status: undefined };
  return { name: "", externalId, version, withdrawn: true, ...nothing };
}

function unknownCategory({ line, externalId, name, category }: Candidate): Rejection {
  const named = "name" in category ? JSON.stringify(category.name) : "it refers to";
  return {
    kind: "reject",
    line,
    field: "category",
    problem: `the category ${named} is not known`,
    unknownCategory: true,
    record: { name, category: "name" in category ? category.name : null, externalId },
  };
}
