/** Followed lists as they are stored. */
import { and, count, eq, gte, isNull } from "drizzle-orm";
import { AppError } from "../../domain/errors.ts";
import { lateness, leaseMs } from "../schedule/job-times.ts";
import { columnsOf, type Database, type Tables, type Tx } from "../../storage/database.ts";
import type { Reading } from "../import/understand/propose.ts";
import { type Meaning, statusKey } from "../import/understand/words.ts";
import {
  allJobs,
  findJob,
  type Job,
  jobName,
  pauseJob,
  removeJob,
  scheduleJob,
  setJob,
} from "../schedule/jobs.ts";

export type Source = Tables["sources"]["$inferSelect"];
export type NewSource = Tables["sources"]["$inferInsert"];

/** What stands for a credential in a backup that is not encrypted. */
export const blankedSecret = "";

/** Takes the next list even if it is as it was. */
export const asNew = { etag: null, lastModified: null, hash: null };

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
export interface WaitingWords {
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

export interface SourceSettings {
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
export async function withdrawnSince(tx: Tx, source: string, sinceMs: number): Promise<number> {
  const { removedPets, changes } = tx.t;
  const isSince = and(eq(removedPets.source, source), gte(removedPets.removedAtMs, sinceMs));
  const [row] = await tx
    .select({ animals: count() })
    .from(removedPets)
    .innerJoin(changes, eq(changes.id, removedPets.removedIn))
    .where(and(isSince, eq(changes.action, "import")));
  return row?.animals ?? 0;
}
