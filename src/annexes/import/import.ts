import type { Category } from "../../domain/category.ts";
import { AppError } from "../../domain/errors.ts";
import type {
  Awaitable,
  CatalogueStore,
  ImportCounts,
  ImportStage,
} from "../../storage/contract.ts";
import { closing } from "../../service/closing.ts";
import { ImportCategories } from "./import-categories.ts";
import { type Cause, Intake, type SampleAnimal } from "./intake.ts";
import type { Rejection } from "./candidate.ts";
import type { Note } from "./notes.ts";
import { type ReadOptions, type Reading, readCatalogue } from "./reading.ts";
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
  readonly input: ByteChunks;
  /** How the input is to be read, as far as it is not found out. */
  readonly read?: ReadOptions;
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

/**
 * What an input is, and what became of every record read, or would: `added`, `updated`, `unchanged`, `superseded`,
 * `skipped` and `rejected` add up to `read`.
 */
export interface ImportSummary extends ImportCounts {
  readonly format: string;
  readonly shape: Reading["shape"];
  /** Whose ids its animals have. */
  readonly source: string;
  readonly dryRun: boolean;
  /** False when rejected records kept the catalogue as it was. */
  readonly applied: boolean;
  readonly read: number;
  /** Older records of animals that have a newer one in the same input. */
  readonly superseded: number;
  /** Sound records of animals that are not for adoption, by what they say. */
  readonly skipped: readonly { readonly reason: string; readonly records: number }[];
  readonly rejected: number;
  /** The rejected records by what is wrong with them, the most frequent first. */
  readonly causes: readonly Cause[];
  readonly notes: readonly Note[];
  /** The first animals, as they are taken over. */
  readonly sample: readonly SampleAnimal[];
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
  const reading = await readCatalogue(options.input, options.read);
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
  const intake = new Intake(stage, reading, categories, options.onReject);
  for await (const batch of reading.batches) {
    await intake.add(batch);
    options.onProgress({ phase: "reading", done: intake.read, total: undefined });
    if (options.stop.aborted) throw stopped("Nothing was changed.");
  }
  const settled = categories.settle(reading.referenced, await store.highestCategoryId());
  await intake.rejectUnknown(settled);
  const ready = await stage.arrange(settled.ids);
  const applied = !options.dryRun && (options.skipBad || intake.rejected === 0);
  if (applied && settled.added.length > 0) await store.addCategories(settled.added);
  const counts = applied ? await takeAll(stage, ready, options) : await stage.compare();
  return {
    format: reading.format.name,
    shape: reading.shape,
    source: reading.source,
    dryRun: options.dryRun,
    applied,
    ...intake.counts(ready),
    ...counts,
    notes: [...reading.notes(), ...intake.notes()],
    categoriesAdded: settled.added,
  };
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
