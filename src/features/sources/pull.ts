/**
 * Followed lists: how they are stored, and a pull, which fetches a list, reads it as a person
 * confirmed, and imports it. What goes wrong changes nothing, and the schedule says what it was.
 */
import { and, count, eq, gte, inArray, isNull } from "drizzle-orm";
import { counted } from "../../cli/terminal/text.ts";
import type { LoadedConfig } from "../../config.ts";
import { dayMs, minuteMs } from "../../domain/clock.ts";
import { AppError } from "../../domain/errors.ts";
import { longWork } from "../long-work.ts";
import type { Services } from "../../service/services.ts";
import { columnsOf, type Database, type Tables, type Tx } from "../../storage/database.ts";
import {
  allJobs,
  findJob,
  finishJob,
  type Job,
  jobName,
  type JobOutcome,
  lateness,
  leaseMs,
  pauseJob,
  removeJob,
  scheduleJob,
  setJob,
} from "../schedule/jobs.ts";
import { type Editing, makeChange, partSize } from "../animals/changes.ts";
import { ImportRefused, runImport } from "../import/import.ts";
import { animalsText, type ImportSummary } from "../import/report.ts";
import { message, messageText } from "../import/messages.ts";
import { batches } from "../import/plan/match.ts";
import type { ImportOptions, Lacking } from "../import/plan/plan.ts";
import { leaveOut, type StoreAnimal } from "../import/plan/said.ts";
import { UnreadableInput } from "../import/read/input.ts";
import { idPrefix } from "../import/understand/record.ts";
import { prepareAgain, type Prepared, type Reading } from "../import/understand/propose.ts";
import {
  type Address,
  encodingOf,
  type FetchedPage,
  type FetchLimits,
  fetchList,
  NoList,
  noList,
  type PresetName,
} from "./fetch.ts";
import { pullPrivateSetting } from "./index.ts";
import { type Meaning, statusKey } from "../import/understand/words.ts";

export type Source = Tables["sources"]["$inferSelect"];
export type NewSource = Tables["sources"]["$inferInsert"];

/** What stands for a credential in a backup that is not encrypted. */
export const blankedSecret = "";

/** Takes the next list even if it is as it was. */
const asNew = { etag: null, lastModified: null, hash: null };

export interface Followed {
  readonly source: Source;
  readonly job: Job;
}

/** True for a list that was not pulled for several intervals, though nobody paused it. */
export function isStale({ source, job }: Followed, nowMs: number): boolean {
  const sinceMs = nowMs - (job.succeededAtMs ?? source.createdAtMs);
  return job.paused === null && lateness(job.everyMs, sinceMs) !== "ok";
}

/** True for a name that a list can be followed by: the source of its animals. */
export const isSourceName = (text: string): boolean => /^[^\s:-][^\s:]{0,39}$/u.test(text);

export const pullJob = (name: string): string => jobName("pull", name);

/** Words for the status that nobody explained yet, each with its animals. */
interface WaitingWords {
  readonly words?: readonly { readonly word: string; readonly animals: number }[];
}

/** The words of the last list that wait for a meaning; none that was given since. */
export function waitingWords({ report, reading }: Source): Required<WaitingWords>["words"] {
  const { words = [] } = (report ?? {}) as WaitingWords;
  const { statuses } = reading as Pick<Reading, "statuses">;
  // As words are compared today: they may have been kept by another version.
  const told = new Set(Object.keys(statuses).map(statusKey));
  return words.filter(({ word }) => !told.has(statusKey(word)));
}

interface SourceSettings {
  /** What words mean, beside those that were explained before. */
  readonly statuses?: ReadonlyMap<string, Meaning> | undefined;
  readonly everyMs?: number | undefined;
  readonly isComplete?: boolean | undefined;
}

/** Changes how a list is followed. What changes its meaning takes the list again, at once. */
export async function setSource(
  tx: Tx,
  name: string,
  { statuses = new Map(), everyMs, isComplete }: SourceSettings,
  nowMs: number,
): Promise<void> {
  const { source, job } = await followedIn(tx, name);
  if (everyMs !== undefined) {
    await scheduleJob(tx, { kind: "pull", target: name }, everyMs, nowMs + everyMs);
  }
  if (statuses.size === 0 && isComplete === undefined) return;
  const reading = source.reading as Reading;
  await updateSource(tx, name, {
    reading: { ...reading, statuses: { ...reading.statuses, ...Object.fromEntries(statuses) } },
    ...(isComplete !== undefined && { complete: isComplete ? 1 : 0 }),
    ...asNew,
  });
  await setJob(tx, job.name, { nextAtMs: nowMs }, isNull(tx.t.schedule.paused));
}

export const sourceStates = ["ok", "waiting", "failing", "held", "partial", "paused"] as const;

export function stateOf({ source, job }: Followed): (typeof sourceStates)[number] {
  if (job.paused !== null) return "paused";
  if (job.failures > 0) return "failing";
  if (source.held !== null) return "held";
  if (job.problem !== null) return "partial";
  return job.succeededAtMs === null ? "waiting" : "ok";
}

export const followed = (db: Database): Promise<Followed[]> => db.read(allFollowed);

async function allFollowed(tx: Tx): Promise<Followed[]> {
  const { sources } = tx.t;
  const jobs = new Map((await allJobs(tx)).map((job) => [job.name, job]));
  const rows = await tx.select(columnsOf(sources)).from(sources).orderBy(sources.name);
  return rows.flatMap((source) => {
    const job = jobs.get(pullJob(source.name));
    return job === undefined ? [] : [{ source, job }];
  });
}

export const findFollowed = (db: Database, name: string): Promise<Followed> =>
  db.read((tx) => followedIn(tx, name));

export async function followedIn(tx: Tx, name: string): Promise<Followed> {
  const list = (await allFollowed(tx)).find(({ source }) => source.name === name);
  if (list !== undefined) return list;
  throw new AppError("not_found", `No followed list is called ${name}.`, {
    hint: "rehome sources list",
  });
}

export async function follow(
  tx: Tx,
  source: NewSource,
  everyMs: number,
  nextAtMs: number,
): Promise<void> {
  const added = await tx.run(tx.insert(tx.t.sources).values(source).onConflictDoNothing());
  if (added === 0) {
    throw new AppError("invalid_request", `A list called ${source.name} is followed already.`, {
      hint: `rehome sources show ${source.name}, or remove it first.`,
    });
  }
  await scheduleJob(tx, { kind: "pull", target: source.name }, everyMs, nextAtMs);
}

/**
 * Follows a paused list again, with a new credential if one is given. Its next pull takes the list
 * even if it is as before: an undo may have taken its animals away.
 */
export async function resumeList(
  tx: Tx,
  name: string,
  nowMs: number,
  secret?: string,
): Promise<void> {
  await updateSource(tx, name, { ...asNew, secret });
  await pauseJob(tx, pullJob(name), null, nowMs);
}

/**
 * Begins a pull that a person asked for, in place of another one that is under way. Returns when it
 * was begun, which tells it from others.
 */
export async function claimPull(db: Database, name: string, nowMs: number): Promise<number> {
  return db.transaction(async (tx) => {
    const job = await findJob(tx, pullJob(name));
    // No two claims are alike.
    const triedAtMs = job?.triedAtMs === nowMs ? nowMs + 1 : nowMs;
    await setJob(tx, pullJob(name), { triedAtMs, nextAtMs: nowMs + leaseMs });
    return triedAtMs;
  });
}

export async function unfollow(db: Database, name: string): Promise<void> {
  await db.transaction(async (tx) => {
    await removeJob(tx, pullJob(name));
    await tx.delete(tx.t.sources).where(eq(tx.t.sources.name, name));
  });
}

export async function updateSource(
  tx: Tx,
  name: string,
  changes: Partial<Omit<NewSource, "name">>,
): Promise<void> {
  await tx.update(tx.t.sources).set(changes).where(eq(tx.t.sources.name, name));
}

/** How many animals of a source imports withdrew since `sinceMs`, and are still gone. */
async function withdrawnSince(tx: Tx, source: string, sinceMs: number): Promise<number> {
  const { removedPets, changes } = tx.t;
  const isSince = and(eq(removedPets.source, source), gte(removedPets.removedAtMs, sinceMs));
  const [row] = await tx
    .select({ animals: count() })
    .from(removedPets)
    .innerJoin(changes, eq(changes.id, removedPets.removedIn))
    .where(and(isSince, eq(changes.action, "import")));
  return row?.animals ?? 0;
}

const pullMaxMs = 10 * minuteMs;
const problemsShown = 5;

export interface Pulling extends Omit<FetchLimits, "signal"> {
  readonly db: Database;
  readonly random: () => number;
}

export function pullingOf({ store, clock }: Services, loaded: LoadedConfig): Pulling {
  const allowPrivate = loaded.valueOf(pullPrivateSetting) === "on";
  return { db: store.db, clock, random: Math.random, allowPrivate };
}

/** What the last list came to, as it is stored and shown. */
export interface PullReport extends WaitingWords {
  readonly outcome: "imported" | "partial" | "held";
  readonly read: number;
  readonly added: number;
  readonly updated: number;
  readonly withdrawn: number;
  readonly rejected: number;
  /** Animals that stay as people changed them, though the list says otherwise. */
  readonly kept: number;
  /** How many withdrawals wait for a person. */
  readonly held: number;
  /** How many animals a list lacks that may not be whole, and why: they are not withdrawn. */
  readonly unsure?: { readonly missing: number; readonly why: string } | undefined;
  readonly text: string;
}

type PullResult = PullReport | "unchanged" | UnreadableInput | AppError;

const limitsOf = (pulling: Pulling): FetchLimits => ({
  ...pulling,
  signal: AbortSignal.timeout(pullMaxMs),
});

/** The list at an address that nobody follows yet. Throws UnreadableInput for none. */
export async function fetchNew(
  pulling: Pulling,
  address: Address,
  secret: string | null = null,
): Promise<FetchedPage> {
  const fetched = await fetchList(address, secret, asNew, limitsOf(pulling));
  if (fetched === "unchanged") throw noList("returnedNothing");
  return fetched;
}

/**
 * Follows a list from now on, and imports it as a person was shown it. Throws AppError or
 * UnreadableInput if it cannot be imported; it is not followed then.
 */
export function begin(
  pulling: Pulling,
  source: Omit<NewSource, "createdAtMs">,
  everyMs: number,
  fetched: FetchedPage,
): Promise<PullReport> {
  const nowMs = pulling.clock();
  const begun = { triedAtMs: null, paused: null };
  const allows = (tx: Tx) =>
    follow(tx, { ...source, createdAtMs: nowMs }, everyMs, nowMs + everyMs);
  // The categories that the preview showed are agreed to.
  return take(pulling, { ...source, createsCategories: 1 }, begun, fetched, { allows });
}

/**
 * Pulls a followed list now, and stores how it ended. One that the schedule began is claimed
 * already. With `listWins` the list is right of every animal, whatever people changed, also if it
 * is as it was. Throws AppError if none has this name.
 */
export async function pull(
  pulling: Pulling,
  name: string,
  { isScheduled = false, listWins = false } = {},
): Promise<PullResult> {
  const { db, clock, random } = pulling;
  if (!isScheduled) await claimPull(db, name, clock());
  const { source, job } = await findFollowed(db, name);
  /** Stores how a pull that imported nothing ended, unless another one took its place. */
  const ends = (outcome: JobOutcome, changed?: Parameters<typeof updateSource>[2]) =>
    db.transaction(async (tx) => {
      const isOwn = await finishJob(tx, job.name, outcome, clock(), random(), job);
      if (isOwn && changed !== undefined) await updateSource(tx, name, changed);
    });
  try {
    if (source.secret === blankedSecret) throw noList("credentialMissing");
    const address = { ...source, preset: source.preset as PresetName | null };
    const known = listWins ? asNew : source;
    const fetched = await fetchList(address, source.secret, known, limitsOf(pulling));
    if (fetched !== "unchanged" && (listWins || hashOf(fetched.bytes) !== source.hash)) {
      return await take(pulling, source, job, fetched, { listWins });
    }
    const { etag, lastModified } = fetched === "unchanged" ? source : fetched;
    await ends({ ok: true }, { etag, lastModified });
    return "unchanged";
  } catch (error) {
    if (!(error instanceof UnreadableInput || error instanceof AppError)) throw error;
    const said = error instanceof UnreadableInput && error.problem;
    const retryAfterMs = error instanceof NoList ? error.retryAfterMs : undefined;
    const problem = { text: error.message, ...said };
    // The words that it waits for are named, though nothing was imported.
    const words = error instanceof ImportRefused ? wordsIn(error.summary) : [];
    const report = { ...(source.report as PullReport | null), words };
    await ends({ ok: false, problem, retryAfterMs }, words.length > 0 ? { report } : undefined);
    return error;
  }
}

const hashOf = (data: Uint8Array | string): string =>
  new Bun.CryptoHasher("sha256").update(data).digest("base64url");

/** What tells a pull that is under way from others of its list. */
type Begun = Parameters<typeof finishJob>[5];

/** Imports a list that was fetched, and stores how that ended in the same transaction. */
async function take(
  pulling: Pulling,
  source: Pick<NewSource, "name" | "reading" | "complete" | "createsCategories">,
  begun: Begun,
  fetched: FetchedPage,
  { allows, ...options }: Pick<ImportOptions, "listWins"> & Pick<Editing, "allows">,
): Promise<PullReport> {
  const { db, clock, random } = pulling;
  const { name } = source;
  const { bytes, etag, lastModified } = fetched;
  let held: readonly string[] = [];
  let unsure: PullReport["unsure"];
  const prepared = await readAgain(fetched, source.reading as Reading);
  const ends = async (tx: Tx, done: ImportSummary) => {
    const report = reportOf(done, held.length, unsure);
    const said = problemIn(report, done);
    const outcome = { ok: true, problem: said && { text: messageText(said), ...said } };
    if (!(await finishJob(tx, pullJob(name), outcome, clock(), random(), begun))) {
      throw noList("pullOvertaken");
    }
    // What is not whole is taken again, however often it is the same.
    const isWhole = report.outcome === "imported";
    await updateSource(tx, name, {
      report: { ...report },
      held: held.length === 0 ? null : [...held],
      ...(isWhole ? { etag, lastModified, hash: hashOf(bytes) } : asNew),
    });
  };
  const summary = await runImport({ db, clock, actor: `source ${name}`, allows, ends }, prepared, {
    ...options,
    createCategories: source.createsCategories === 1,
    skipBad: true,
    complete: source.complete === 1,
    withdraws: async (lacking) => {
      const { partial: why, missing } = lacking;
      if (why !== undefined) {
        if (missing.length > 0) unsure = { missing: missing.length, why };
        return [];
      }
      const chosen = await withdrawals(lacking, name, clock());
      held = chosen.held.map(({ id }) => String(id));
      return chosen.now;
    },
  });
  return reportOf(summary, held.length, unsure);
}

/** A list as it is always read. Of rows without an end the last ones may be missing. */
async function readAgain(fetched: FetchedPage, reading: Reading): Promise<Prepared> {
  const encoding = reading.encoding ?? encodingOf(fetched);
  const prepared = await prepareAgain(fetched.bytes, { ...reading, encoding });
  const { input } = prepared;
  const isRows = input.shape === "csv" || input.shape === "ndjson";
  const isCut = fetched.isEndless === true && isRows;
  const why = fetched.more ?? (isCut ? "its source does not say where it ends" : undefined);
  return { ...prepared, input: { ...input, partial: input.partial ?? why } };
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

/** Throws UnreadableInput for a list of which nothing was taken. */
function reportOf(summary: ImportSummary, held: number, unsure: PullReport["unsure"]): PullReport {
  const { read, added, updated, withdrawn, rejected, kept, causes, source: name } = summary;
  const problems = causes.slice(0, problemsShown).map(({ field, problem, records }) => {
    return `${field === "" ? "" : `${field}: `}${messageText(problem)} (${records})`;
  });
  if (!summary.applied && rejected > 0) throw noList("noneTaken", `${read}`, problems[0] ?? "");
  const isPartial = rejected > 0 || unsure !== undefined;
  const outcome = held > 0 ? "held" : isPartial ? "partial" : "imported";
  const did = `${added} added, ${updated} updated, ${withdrawn} withdrawn`;
  const lines = [`${name}: ${counted(read, "record")}, ${did}.`];
  if (kept > 0) lines.push(`${kept} kept as people changed them.`);
  if (rejected > 0) lines.push(`${rejected} with errors: ${problems.join("; ")}`);
  if (unsure !== undefined) {
    const lacking = `${counted(unsure.missing, "animal")} that it lacks`;
    lines.push(`Not withdrawn, as the list may not be whole (${unsure.why}): ${lacking}.`);
  }
  if (held > 0) {
    const wait = `${counted(held, "withdrawal")} ${held === 1 ? "waits" : "wait"}`;
    const yes = `Carry them out: rehome sources pull ${name} --yes`;
    lines.push(`${wait}: more than half of the list within a day. ${yes}`);
  }
  const text = `${lines.join("\n")}\n${animalsText(summary)}`;
  const counts = { read, added, updated, withdrawn, rejected, kept, held };
  return { outcome, ...counts, unsure, words: wordsIn(summary), text };
}

const wordsIn = ({ causes }: ImportSummary) =>
  causes.flatMap(({ unknownStatus: word, records }) =>
    word === undefined ? [] : { word, animals: records },
  );

/** What waits for a person, the worst first. */
function problemIn(
  { held, unsure, words = [], rejected, read }: PullReport,
  { rejections, source }: ImportSummary,
) {
  if (held > 0) return message("withdrawalsWait", `${held}`);
  if (unsure !== undefined) return message("withdrawalsUnsure", `${unsure.missing}`, unsure.why);
  const waiting = words.reduce((sum, { animals }) => sum + animals, 0);
  const named = words.map(({ word }) => JSON.stringify(word)).join(", ");
  const [first] = rejections.filter(({ unknownStatus: word }) => word === undefined);
  if (first === undefined) {
    return waiting > 0 ? message("wordsWait", `${waiting}`, named) : undefined;
  }
  const id = first.externalId?.replace(idPrefix(source), "") ?? "";
  return message("rowsWrong", `${rejected}`, `${read}`, `${first.line}`, first.field, id);
}

/** Tells the animals whose withdrawal waits from those of another list. */
export const heldMark = ({ held }: Pick<Source, "held">): string => hashOf((held ?? []).join());

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
  return makeChange(
    editing,
    "remove",
    async (change) => {
      const { pets } = change.tx.t;
      const { source } = await followedIn(change.tx, name);
      if (source.held === null) return undefined;
      if (shown !== undefined && shown !== heldMark(source)) return undefined;
      for (const ids of batches(source.held.map(BigInt), partSize)) {
        const own = and(eq(pets.source, name), inArray(pets.id, [...ids]));
        const rows = await change.tx.select().from(pets).where(own);
        await change.planRemoval(rows);
        await leaveOut(change, name, rows);
      }
      await updateSource(change.tx, name, { held: null });
      await setJob(change.tx, pullJob(name), { problem: null });
      return change.counts.removed;
    },
    longWork,
  );
}
