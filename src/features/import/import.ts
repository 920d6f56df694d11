import type { Category } from "../animals/categories.ts";
import { AppError } from "../../domain/errors.ts";
import type { Awaitable } from "../../storage/contract.ts";
import { closing } from "../../service/closing.ts";
import type { CatalogueStore } from "./catalogue.ts";
import { ImportCategories } from "./import-categories.ts";
import { type Cause, Intake, type SampleAnimal } from "./intake.ts";
import type { Rejection } from "./candidate.ts";
import { message } from "./messages.ts";
import type { Note } from "./notes.ts";
import { type ReadOptions, type Reading, beginReading } from "./reading.ts";
import type { ByteChunks } from "./read/input.ts";
import type { Arranged, ImportCounts, ImportStage, StageOptions } from "./stage.ts";

/**
 * Animals imported in one transaction. Some ten milliseconds: as long as a create may have to
 * wait for the lock, and enough for one fsync not to count.
 */
const takeAnimals = 5_000;
/** The pause between two of them, in which a waiting process gets the lock. */
const pauseMs = 3;

export interface ImportProgress {
  readonly phase: "reading" | "storing";
  /** Records read, or animals stored. */
  readonly done: number;
  /** Animals to store; unknown while reading. */
  readonly total: number | undefined;
}

export interface ImportOptions extends StageOptions {
  readonly input: ByteChunks;
  /** How the input is to be read, as far as it is not found out. */
  readonly read?: ReadOptions;
  /** Names with ids that the catalogue may not know yet. */
  readonly categories: readonly Category[];
  readonly createCategories: boolean;
  /** Takes over the rest when records are rejected; otherwise nothing is. */
  readonly skipBad: boolean;
  /** Takes ids for those of another catalogue; else a record with an unknown id is bad. */
  readonly newIds?: boolean;
  /** Leaves animals in the catalogue that are gone. */
  readonly keepGone?: boolean;
  /** The input is the source's whole list: its other animals are gone. */
  readonly complete?: boolean;
  /** Withdraws more than half of a source's animals when its whole list has no more. */
  readonly confirmed?: boolean;
  /** Changes nothing and counts what would change. */
  readonly dryRun: boolean;
  /**
   * Called for each record that cannot be imported, in order. Then once for each category that
   * stays unknown, and for the records with ids that this catalogue never gave.
   */
  readonly onReject: (rejection: Rejection) => Awaitable<void>;
  readonly onProgress: (progress: ImportProgress) => void;
  readonly sleep: (ms: number) => Promise<void>;
  readonly stop: AbortSignal;
}

/**
 * What an input is, and what became of every record read, or would: `added`, `updated`,
 * `unchanged`, `superseded`, `skipped` and `rejected` add up to `read`.
 */
export interface ImportSummary extends ImportCounts {
  readonly format: string;
  readonly shape: Reading["shape"];
  /** Whose ids its animals have. */
  readonly source: string;
  readonly dryRun: boolean;
  /** Animals of the source that its whole list does not have; among the withdrawn. */
  readonly missing: number;
  /** False when rejected records kept the catalogue as it was, or all of them were rejected. */
  readonly applied: boolean;
  readonly read: number;
  /** Older records of animals that have a newer one in the same input. */
  readonly superseded: number;
  /** Sound records of animals that are not for adoption (any more), by what they say. */
  readonly skipped: readonly { readonly reason: string; readonly records: number }[];
  readonly rejected: number;
  /** The rejected records by what is wrong with them, the most frequent first. */
  readonly causes: readonly Cause[];
  readonly notes: readonly Note[];
  /** The first animals, as they are imported. */
  readonly sample: readonly SampleAnimal[];
  readonly categoriesAdded: readonly Category[];
}

/**
 * Imports all animals of an input or none, after all of it was read and checked. Short transactions
 * let a server on the same store continue. Throws UnreadableInput when the input cannot be read on,
 * AppError when it was stopped or the store failed.
 */
export async function importAnimals(
  store: CatalogueStore,
  options: ImportOptions,
): Promise<ImportSummary> {
  const known = await store.categories();
  const categories = new ImportCategories(known, options.categories, {
    create: options.createCategories,
    newIds: options.newIds === true,
  });
  const reading = await beginReading(untilStopped(options.input, options.stop), options.read);
  return closing(
    () => reading.close(),
    async () => {
      const stage = await store.beginImport(options);
      return closing(
        () => stage.close(),
        () => importReading(store, stage, reading, categories, options),
      );
    },
  );
}

/** The chunks of an input. Throws AppError at a stop, also while it waits for the next chunk. */
async function* untilStopped(chunks: ByteChunks, stop: AbortSignal): AsyncGenerator<Uint8Array> {
  const { promise: end, reject } = Promise.withResolvers<never>();
  const refuse = () => reject(stopped("Nothing was changed."));
  stop.addEventListener("abort", refuse);
  if (stop.aborted) refuse();
  const source = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([end, source.next()]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    stop.removeEventListener("abort", refuse);
    // A source that waits for its next chunk does not close either.
    await Promise.race([end, source.return?.()]);
  }
}

async function importReading(
  store: CatalogueStore,
  stage: ImportStage,
  reading: Reading,
  categories: ImportCategories,
  options: ImportOptions,
): Promise<ImportSummary> {
  const complete = completeSource(reading, options);
  const intake = new Intake(stage, reading, categories, options);
  for await (const batch of reading.batches) {
    await intake.add(batch);
    options.onProgress({ phase: "reading", done: intake.read, total: undefined });
    if (options.stop.aborted) throw stopped("Nothing was changed.");
  }
  const settled = categories.settle(reading.referenced, await store.highestCategoryId());
  await intake.rejectUnknown(settled);
  const { newIds = false, keepGone = false } = options;
  const arrangement = { categoryIds: settled.ids, newIds, keepGone, complete };
  const arranged = await stage.arrange(arrangement);
  if (options.stop.aborted) throw stopped("Nothing was changed.");
  await intake.rejectUnknownIds(arranged);
  const refusal = complete && notWhole(complete, arranged, intake.rejected, reading, options);
  if (refusal && !options.dryRun) throw refusal;
  const isSound = intake.rejected === 0 || (options.skipBad && intake.rejected < intake.read);
  const applied = !options.dryRun && isSound;
  const categoriesAdded = await wantedCategories(stage, settled.added, options);
  if (applied) await stage.addCategories(categoriesAdded);
  const counts = applied ? await takeAll(stage, arranged, options) : await stage.compare();
  const summary = {
    format: reading.format.name,
    shape: reading.shape,
    source: reading.source,
    dryRun: options.dryRun,
    applied,
    ...intake.counts(arranged.animals),
    ...counts,
    missing: arranged.missing,
    notes: [...reading.notes(), ...intake.notes(arranged), ...refusalNotes(refusal, arranged)],
    categoriesAdded,
  };
  if (applied) await stage.finish({ format: summary.format, source: summary.source, ...counts });
  return summary;
}

/** New categories without those that only rejected or older records would have had. */
async function wantedCategories(
  stage: ImportStage,
  added: readonly Category[],
  { categories }: ImportOptions,
): Promise<readonly Category[]> {
  if (added.length === 0) return added;
  const wanted = new Set([...(await stage.categoryIds()), ...categories.map(({ id }) => id)]);
  return added.filter(({ id }) => wanted.has(id));
}

/** The source of which the input is the whole list. Throws AppError if it is not known. */
function completeSource({ source }: Reading, { complete }: ImportOptions): string | undefined {
  if (complete !== true) return undefined;
  if (source !== "") return source;
  throw new AppError("invalid_request", "--complete needs the source of this list.", {
    hint: "Name the source with --source.",
  });
}

/**
 * Why the animals that a whole list lacks are not withdrawn: records of them may only be bad, or
 * have lost their ids, or they are more than half of all and the options do not allow that.
 */
function notWhole(
  source: string,
  { missing, sourceAnimals }: Arranged,
  rejected: number,
  reading: Reading,
  { confirmed }: ImportOptions,
): AppError | undefined {
  if (missing === 0) return undefined;
  if (rejected > 0) {
    return new AppError(
      "invalid_request",
      `A whole list must not have bad records, and this one has ${rejected}: their animals would be withdrawn. Nothing was changed.`,
      { hint: "See them with --dry-run and fix them, or import without --complete." },
    );
  }
  const damaged = reading.notes().find(({ said }) => said.code === "idsDamaged");
  if (damaged !== undefined) {
    return new AppError(
      "invalid_request",
      `A whole list must not have damaged ids, and this one has ${damaged.records}: their animals would be withdrawn. Nothing was changed.`,
      { hint: "Export the list again without a spreadsheet, or import without --complete." },
    );
  }
  if (2 * missing <= sourceAnimals || confirmed === true) return undefined;
  return new AppError(
    "invalid_request",
    `${missing} of the ${sourceAnimals} animals of ${source} are not in this list. Nothing was changed.`,
    { hint: "See whether the list is whole, and add --yes to withdraw them." },
  );
}

/** What a dry run says where the import itself would be refused. */
function refusalNotes(refusal: AppError | "" | undefined, { missing }: Arranged): readonly Note[] {
  if (!refusal) return [];
  const said = message("wholeRefused", refusal.message.replace(" Nothing was changed.", ""));
  return [{ said, records: missing, firstLine: 0, example: "" }];
}

async function takeAll(
  stage: ImportStage,
  { animals, gone, missing }: Arranged,
  { onProgress, sleep, stop }: ImportOptions,
): Promise<ImportCounts> {
  let sum: ImportCounts = { added: 0, updated: 0, unchanged: 0, withdrawn: 0 };
  let done = 0;
  const total = animals + gone + missing;
  const soFar = () =>
    `${done} of ${total} animals are imported and stay. Run the import again for the rest: animals with an id of their own are not doubled.`;
  try {
    for (;;) {
      const counts = await stage.takeOver(takeAnimals);
      if (counts === undefined) return sum;
      sum = plus(sum, counts);
      done = Math.min(done + takeAnimals, total);
      onProgress({ phase: "storing", done, total });
      if (stop.aborted && done < total) break;
      if (done < total) await sleep(pauseMs);
    }
  } catch (error) {
    throw brokenOff("The import", error, soFar());
  }
  throw stopped(soFar());
}

function plus(a: ImportCounts, b: ImportCounts): ImportCounts {
  return {
    added: a.added + b.added,
    updated: a.updated + b.updated,
    unchanged: a.unchanged + b.unchanged,
    withdrawn: a.withdrawn + b.withdrawn,
  };
}

function stopped(consequence: string): AppError {
  return new AppError("unavailable", `The import was stopped. ${consequence}`);
}

/** The error of work that ended half-way: what ended (`what`), why, and what remains. */
function brokenOff(what: string, error: unknown, consequence: string): AppError {
  if (!(error instanceof AppError)) {
    const message = `${what} broke off (${(error as Error).message}). ${consequence}`;
    return new AppError("unavailable", message, { cause: error });
  }
  const { kind, explained, hint } = error;
  const advice = hint === undefined ? {} : { hint };
  return new AppError(kind, `${explained} ${consequence}`, { cause: error, ...advice });
}
