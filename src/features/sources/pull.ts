/**
 * A pull: fetch the list, read it as a person confirmed, and import it. Whatever goes wrong changes
 * nothing, and the schedule says what it was.
 */
import { and, eq, inArray } from "drizzle-orm";
import { type Clock, dayMs } from "../../domain/clock.ts";
import { AppError } from "../../domain/errors.ts";
import type { Database } from "../../storage/database.ts";
import { finishJob, type JobOutcome } from "../../storage/schedule.ts";
import { type Editing, makeChange, partSize, stateOf } from "../animals/changes.ts";
import { runImport } from "../import/do/import.ts";
import type { Lacking } from "../import/plan/plan.ts";
import { prepareAgain } from "../import/understand/reading.ts";
import type { ImportSummary } from "../import/do/summary.ts";
import { messageText } from "../import/messages.ts";
import type { ImportOptions } from "../import/plan/plan.ts";
import type { StoreAnimal } from "../import/plan/store.ts";
import { UnreadableInput } from "../import/read/input.ts";
import type { Reading } from "../import/understand/reading.ts";
import { type FetchedPage, type FetchLimits, isProblem, type Validators } from "./fetch.ts";
import { type Address, fetchList, type PresetName } from "./presets.ts";
import {
  blankedSecret,
  findFollowed,
  follow,
  type NewSource,
  pullJob,
  type Source,
  updateSource,
  withdrawnSince,
} from "./store.ts";

const pullMaxMs = 10 * 60_000;
const pageMaxMs = 60_000;
const bytesMax = 64 * 1024 * 1024;
const problemsShown = 5;

export interface Pulling {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: () => number;
  readonly allowPrivate: boolean;
  readonly signal: AbortSignal;
}

/** What the last list came to, as it is stored and shown. */
export interface PullReport {
  readonly outcome: "imported" | "partial" | "held";
  readonly atMs: number;
  readonly read: number;
  readonly added: number;
  readonly updated: number;
  readonly withdrawn: number;
  /** How many withdrawals wait for a person, or did not happen because of rows in error. */
  readonly held: number;
  readonly rejected: number;
  /** What is wrong with rows, the most frequent first. */
  readonly problems: readonly string[];
}

export type PullResult =
  | { readonly outcome: "failed"; readonly problem: string; readonly retryAfterMs?: number }
  | { readonly outcome: "unchanged" }
  | PullReport;

export function limitsOf({ allowPrivate, signal, clock }: Pulling): FetchLimits {
  return {
    allowPrivate,
    signal: AbortSignal.any([signal, AbortSignal.timeout(pullMaxMs)]),
    bytesMax,
    pageTimeoutMs: pageMaxMs,
    nowMs: clock,
  };
}

export function addressOf({ preset, account, url }: Source): Address {
  return { preset: preset as PresetName | null, account, url };
}

/** The list at an address that nobody follows yet. Throws AppError for none. */
export async function fetchNew(
  pulling: Pulling,
  address: Address,
  secret?: string,
): Promise<FetchedPage> {
  const noneKnown = { etag: null, lastModified: null };
  const fetched = await fetchList(address, secret, noneKnown, limitsOf(pulling));
  if (fetched !== "unchanged" && !isProblem(fetched)) return fetched;
  throw new AppError("unavailable", fetched === "unchanged" ? "No list came." : fetched.message);
}

/** Follows a list from now on, and imports it as a person was shown it. */
export async function begin(
  pulling: Pulling,
  source: Omit<NewSource, "createdAtMs">,
  everyMs: number,
  { bytes, ...validators }: FetchedPage,
  { allows, ...options }: ImportOptions & Pick<Editing, "allows"> = {},
): Promise<PullResult> {
  const { db, clock } = pulling;
  await follow(db, { ...source, createdAtMs: clock() }, everyMs, clock(), allows);
  const stored = await findFollowed(db, source.name);
  // The categories that the preview showed are agreed to.
  return take(pulling, { ...stored.source, createsCategories: 1 }, bytes, validators, options);
}

/** Pulls a followed list now, and stores how it ended. Throws AppError if none has this name. */
export async function pull(pulling: Pulling, name: string): Promise<PullResult> {
  const { source } = await findFollowed(pulling.db, name);
  if (source.secret === blankedSecret) {
    const problem = "the backup that was restored lacks the credential";
    return finish(pulling, name, { outcome: "failed", problem });
  }
  const known = { etag: source.etag, lastModified: source.lastModified };
  const secret = source.secret ?? undefined;
  const fetched = await fetchList(addressOf(source), secret, known, limitsOf(pulling));
  if (fetched === "unchanged") return finish(pulling, name, { outcome: "unchanged" });
  if (isProblem(fetched)) {
    const { message, retryAfterMs } = fetched;
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    return finish(pulling, name, { outcome: "failed", problem: message, ...wait });
  }
  return take(pulling, source, fetched.bytes, fetched);
}

/** Imports a list that was fetched, and stores how it ended. */
async function take(
  pulling: Pulling,
  source: Source,
  bytes: Uint8Array,
  { etag, lastModified }: Validators,
  options: ImportOptions = {},
): Promise<PullResult> {
  const { db, clock } = pulling;
  const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("base64url");
  if (hash === source.hash) {
    await db.transaction((tx) => updateSource(tx, source.name, { etag, lastModified }));
    return finish(pulling, source.name, { outcome: "unchanged" });
  }
  let held: readonly bigint[] = [];
  let summary: ImportSummary;
  try {
    const prepared = await prepareAgain(bytes, source.reading as Reading);
    summary = await runImport({ db, clock, actor: `source ${source.name}` }, prepared, {
      ...options,
      createCategories: source.createsCategories === 1,
      skipBad: true,
      complete: source.complete === 1,
      withdraws: async (lacking) => {
        const chosen = await withdrawals(lacking, source.name, clock());
        held = chosen.held.map(({ id }) => id);
        return chosen.now;
      },
    });
  } catch (error) {
    if (!(error instanceof UnreadableInput) && !(error instanceof AppError)) throw error;
    return finish(pulling, source.name, { outcome: "failed", problem: error.message });
  }
  if (!summary.applied && summary.rejected > 0) {
    const problem = `None of ${summary.read} records could be read: ${problemsOf(summary)[0]}.`;
    return finish(pulling, source.name, { outcome: "failed", problem });
  }
  const report = reportOf(summary, held.length, clock());
  await db.transaction((tx) =>
    updateSource(tx, source.name, {
      report: { ...report },
      held: held.length === 0 ? null : held.map(String),
      // What is not whole is taken again, however often it is the same.
      ...(report.outcome === "imported"
        ? { etag, lastModified, hash }
        : { etag: null, lastModified: null, hash: null }),
    }),
  );
  return finish(pulling, source.name, report);
}

/**
 * Which animals that a list lacks are withdrawn now, and which wait for a person. A row in error
 * that has an id protects its animal; one without an id may be any of them. More than half of the
 * list within a day, or its only animal, may be the source's mistake.
 */
async function withdrawals(
  { tx, missing, sourceAnimals, rejections }: Lacking,
  source: string,
  nowMs: number,
): Promise<{ readonly now: readonly StoreAnimal[]; readonly held: readonly StoreAnimal[] }> {
  const nobody = { now: [], held: [] };
  if (rejections.some(({ externalId }) => externalId === undefined)) return nobody;
  const inError = new Set(rejections.map(({ externalId }) => externalId));
  const going = missing.filter(({ externalId }) => !inError.has(externalId ?? undefined));
  if (going.length === 0) return nobody;
  const before = await withdrawnSince(tx, source, nowMs - dayMs);
  const isMost = 2 * (going.length + before) > sourceAnimals + before;
  return isMost ? { now: [], held: going } : { now: going, held: [] };
}

function reportOf(summary: ImportSummary, held: number, atMs: number): PullReport {
  const { read, added, updated, withdrawn, rejected } = summary;
  const outcome = held > 0 ? "held" : rejected > 0 ? "partial" : "imported";
  const problems = problemsOf(summary);
  return { outcome, atMs, read, added, updated, withdrawn, held, rejected, problems };
}

function problemsOf({ causes }: ImportSummary): string[] {
  return causes.slice(0, problemsShown).map(({ field, problem, records }) => {
    const where = field === "" ? "" : `${field}: `;
    return `${where}${messageText(problem)} (${records})`;
  });
}

/** Stores how a pull ended, and when the next one is due. */
async function finish(pulling: Pulling, name: string, result: PullResult): Promise<PullResult> {
  const { db, clock, random } = pulling;
  await db.transaction((tx) => finishJob(tx, pullJob(name), outcomeOf(result), clock(), random()));
  return result;
}

function outcomeOf(result: PullResult): JobOutcome {
  switch (result.outcome) {
    case "failed":
      return { ok: false, problem: result.problem, retryAfterMs: result.retryAfterMs };
    case "held":
      return { ok: true, note: `${result.held} withdrawals wait for a person` };
    case "partial":
      return { ok: true, note: `${result.rejected} of ${result.read} records have errors` };
    case "imported":
    case "unchanged":
      return { ok: true };
  }
}

/** Tells the animals whose withdrawal waits from those of another list. */
export const heldMark = ({ held }: Pick<Source, "held">): string =>
  new Bun.CryptoHasher("sha256").update((held ?? []).join()).digest("base64url");

/**
 * Withdraws the animals whose withdrawal waited for a person, as they were shown. Returns how many,
 * undefined if none waited, or others than `shown`. Those that changed hands or came back meanwhile
 * stay.
 */
export async function withdrawHeld(
  editing: Editing,
  name: string,
  shown?: string,
): Promise<number | undefined> {
  const { source } = await findFollowed(editing.db, name);
  if (source.held === null) return undefined;
  if (shown !== undefined && shown !== heldMark(source)) return undefined;
  const ids = source.held.map(BigInt);
  return makeChange(
    editing,
    "remove",
    async (change) => {
      const { pets, schedule } = change.tx.t;
      const isJob = eq(schedule.name, pullJob(name));
      let count = 0;
      for (let from = 0; from < ids.length; from += partSize) {
        const own = and(eq(pets.source, name), inArray(pets.id, ids.slice(from, from + partSize)));
        const rows = await change.tx.select().from(pets).where(own);
        await change.plan(
          rows.map((row) => ({ petId: row.id, before: stateOf(row), after: null })),
        );
        count += rows.length;
      }
      await updateSource(change.tx, name, { held: null });
      await change.tx.update(schedule).set({ problem: null }).where(isJob);
      return count;
    },
    { isLong: true },
  );
}
