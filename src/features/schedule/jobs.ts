/** The schedule as it is stored: what is due, who begins it, and how it ended. */
import { and, eq, sql } from "drizzle-orm";
import type { Database, Tables, Tx } from "../../storage/database.ts";
import type { JobKind } from "../../storage/schema.ts";
import { hourMs, minuteMs } from "../../domain/clock.ts";

/** What is wrong with a job. Who has words of their own for the code shows these. */
export interface JobProblem {
  readonly text: string;
  readonly code?: string;
  readonly values?: readonly string[];
}

type Row = Tables["schedule"]["$inferSelect"];

export type Job = Omit<Row, "problem"> & { readonly problem: JobProblem | null };

export const intervalMinMs = 15 * minuteMs;

/**
 * How long a job that was begun keeps others from beginning it again. A process that dies leaves
 * it to them after that.
 */
export const leaseMs = 15 * minuteMs;

export const jobMaxMs = 6 * hourMs;

/**
 * True if the job is to begin. One that was tried far in the future was tried before the clock
 * went back: it begins once, and then goes on by the new clock. Within a lease it may be the clock
 * of another server that is ahead.
 */
export function isDue(
  { nextAtMs, triedAtMs, paused }: Pick<Job, "nextAtMs" | "triedAtMs" | "paused">,
  nowMs: number,
): boolean {
  const isTriedLater = triedAtMs !== null && triedAtMs > nowMs + leaseMs;
  return paused === null && (nextAtMs <= nowMs || isTriedLater);
}

const lateIntervals = 3;
const veryLateMs = 48 * hourMs;

/** How late a job is whose last success was `sinceMs` ago: a problem later (`warn`), or now. */
export function lateness(everyMs: number, sinceMs: number): "ok" | "warn" | "fail" {
  if (sinceMs <= lateIntervals * everyMs) return "ok";
  return sinceMs > veryLateMs ? "fail" : "warn";
}

/**
 * How long the last of `failures` in a row is waited out: a minute, then twice as long each time,
 * at most the interval.
 */
export const backoffMs = (everyMs: number, failures: number): number =>
  Math.min(minuteMs * 2 ** Math.min(failures - 1, 30), everyMs);

/** How often in a row a job failed, behind what failed; nothing for once. */
export const timesInARow = (failures: number): string =>
  failures > 1 ? `, ${failures} times in a row` : "";

/** How long at least a job has failed: the times between so many failures in a row. */
export function failingMs({ everyMs, failures }: Pick<Job, "everyMs" | "failures">): number {
  let ms = 0;
  for (let failed = 1; failed < failures; failed++) ms += backoffMs(everyMs, failed);
  return ms;
}

/** A row with its problem as it is stored: JSON, or the text alone. */
export function readJob<T extends Pick<Row, "problem">>(row: T) {
  const { problem: text, ...rest } = row;
  let problem: JobProblem | null = text ? { text } : null;
  if (text?.startsWith("{")) problem = JSON.parse(text) as JobProblem;
  return { ...rest, problem };
}

/** A row of the schedule, read without opening the store: `sinceMs` is its success, or its start. */
export type JobRow = ReturnType<typeof jobRows>[number];

type Told = "kind" | "target" | "everyMs" | "failures" | "problem" | "paused";
export const jobRows = (rows: readonly unknown[]) =>
  (rows as readonly (Pick<Row, Told> & { readonly sinceMs: number })[]).map(readJob);

/** Reads the schedule on either kind of database, as rows for `jobRows`. */
export const jobsSql = (schema: string): string => `SELECT kind, target, failures, problem, paused,
  CAST(every_ms AS double precision) AS "everyMs",
  CAST(coalesce(succeeded_at_ms, added.created_at_ms, next_at_ms) AS double precision) AS "sinceMs"
  FROM ${schema}schedule LEFT JOIN ${schema}sources AS added
    ON kind = 'pull' AND added.name = target ORDER BY target`;

/** Where the settings had a job work last: a fact for each kind. */
export const placeMeta = "place_of_";

export const jobName = (kind: JobKind, target: string): string => `${kind} ${target}`.trimEnd();

export async function jobsOf(db: Database): Promise<Job[]> {
  const rows = await db.read((tx) => tx.select().from(tx.t.schedule).orderBy(tx.t.schedule.name));
  return rows.map(readJob);
}

/** Schedules a job; one that is scheduled keeps its times and gets the interval. */
export async function scheduleJob(
  tx: Tx,
  job: Pick<Job, "kind" | "target" | "everyMs" | "nextAtMs">,
): Promise<void> {
  const { schedule } = tx.t;
  const { everyMs, nextAtMs: soon } = job;
  const { nextAtMs } = schedule;
  // A shorter interval counts from now on.
  const next = sql`CASE WHEN ${nextAtMs} > ${soon + everyMs} THEN ${soon} ELSE ${nextAtMs} END`;
  const row = { name: jobName(job.kind, job.target), ...job };
  const set = { everyMs, nextAtMs: next };
  await tx.insert(schedule).values(row).onConflictDoUpdate({ target: schedule.name, set });
}

export async function removeJob(tx: Tx, name: string): Promise<void> {
  await tx.delete(tx.t.schedule).where(eq(tx.t.schedule.name, name));
}

/**
 * Changes the row of a job; of one that was `seen`, if nobody removed, began, ended or paused it
 * since. Returns whether it did.
 */
export async function setJob(
  tx: Tx,
  name: string,
  set: Partial<Tables["schedule"]["$inferInsert"]>,
  seen?: Job,
): Promise<boolean> {
  const { schedule } = tx.t;
  const isAs = seen && [
    sql`${schedule.triedAtMs} IS NOT DISTINCT FROM ${seen.triedAtMs}`,
    sql`${schedule.paused} IS NOT DISTINCT FROM ${seen.paused}`,
  ];
  const where = and(eq(schedule.name, name), ...(isAs ?? []));
  return (await tx.run(tx.update(schedule).set(set).where(where))) > 0;
}

/**
 * Begins a job, and returns it so; undefined for all callers but one, of all processes and servers
 * that saw it alike. The others see it as under way until the lease ends.
 */
export async function claimJob(db: Database, job: Job, nowMs: number): Promise<Job | undefined> {
  // No two claims are alike.
  const triedAtMs = job.triedAtMs === nowMs ? nowMs + 1 : nowMs;
  const begun = { triedAtMs, nextAtMs: nowMs + leaseMs };
  const isOwn = await db.transaction((tx) => setJob(tx, job.name, begun, job));
  return isOwn ? { ...job, ...begun } : undefined;
}

/**
 * Moves the time from which on others may begin a job that has not ended: later for one that still
 * runs, or to now for one that is given up.
 */
export async function leaseJob(db: Database, begun: Job, nextAtMs: number): Promise<void> {
  await db.transaction((tx) => setJob(tx, begun.name, { nextAtMs }, begun));
}

/** How a job ended: a success may have a problem too, such as withdrawals that wait. */
export interface JobOutcome {
  readonly ok: boolean;
  readonly problem?: JobProblem | undefined;
  /** What a source asks to wait after a failure. */
  readonly retryAfterMs?: number | undefined;
}

/** Stores how a job ended and when it is next due, as `setJob` does with what was `begun`. */
export function finishJob(
  tx: Tx,
  begun: Job,
  { ok, problem, retryAfterMs = 0 }: JobOutcome,
  nowMs: number,
): Promise<boolean> {
  const failures = ok ? 0 : begun.failures + 1;
  const waitMs = ok ? begun.everyMs : Math.max(backoffMs(begun.everyMs, failures), retryAfterMs);
  const ended = {
    ...(ok && { succeededAtMs: nowMs }),
    problem: problem === undefined ? null : JSON.stringify(problem),
    nextAtMs: nowMs + waitMs,
    triedAtMs: nowMs,
    failures,
  };
  return setJob(tx, begun.name, ended, begun);
}

/** Stores why a job failed whose process could not: it was killed, or did not start. */
export async function failJob(db: Database, begun: Job, text: string, nowMs: number) {
  await db.transaction((tx) => finishJob(tx, begun, { ok: false, problem: { text } }, nowMs));
}
