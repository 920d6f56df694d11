/** The schedule as it is stored: what is due, who begins it, and how it ended. */
import { and, eq, isNull, sql, type SQL } from "drizzle-orm";
import type { Database, Tables, Tx } from "../../storage/database.ts";
import type { JobKind } from "../../storage/schema.ts";
import { hourMs, minuteMs } from "../../domain/clock.ts";

/** What is wrong with a job. Who has words of their own for the code shows these. */
export interface JobProblem {
  readonly text: string;
  readonly code?: string;
  readonly values?: readonly string[];
}

export interface JobTimes {
  readonly everyMs: number;
  readonly nextAtMs: number;
  /** When it was last begun, or ended since; null if never. */
  readonly triedAtMs: number | null;
  /** How often in a row it failed. */
  readonly failures: number;
}

export const intervalMinMs = 15 * minuteMs;
const firstRetryMs = minuteMs;

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
export function isDue({ nextAtMs, triedAtMs }: JobTimes, nowMs: number): boolean {
  return nextAtMs <= nowMs || (triedAtMs !== null && triedAtMs > nowMs + leaseMs);
}

const lateIntervals = 3;
const veryLateMs = 48 * hourMs;

/** How late a job is whose last success was `sinceMs` ago: a problem later (`warn`), or now. */
export function lateness(everyMs: number, sinceMs: number): "ok" | "warn" | "fail" {
  if (sinceMs <= lateIntervals * everyMs) return "ok";
  return sinceMs > veryLateMs ? "fail" : "warn";
}

/**
 * When to do it again after a success. `spread`, from 0 to 1, shortens the interval by up to 10 %,
 * so that many stores do not ask a source at the same moment.
 */
export function nextAfterSuccess(everyMs: number, nowMs: number, spread: number): number {
  return nowMs + everyMs - Math.floor(everyMs * 0.1 * spread);
}

/**
 * When to try again after the last of `failures` in a row: after a minute, then twice as long each
 * time, at most the interval. A source that asks for more time gets it.
 */
export function nextAfterFailure(
  { everyMs, failures }: Pick<JobTimes, "everyMs" | "failures">,
  nowMs: number,
  retryAfterMs = 0,
): number {
  return nowMs + Math.max(backoffMs(everyMs, failures), retryAfterMs);
}

function backoffMs(everyMs: number, failures: number): number {
  return Math.min(firstRetryMs * 2 ** Math.min(failures - 1, 30), everyMs);
}

/** How often in a row a job failed, behind what failed; nothing for once. */
export const timesInARow = (failures: number): string =>
  failures > 1 ? `, ${failures} times in a row` : "";

/** How long at least a job has failed: the times between so many failures in a row. */
export function failingMs({ everyMs, failures }: Pick<JobTimes, "everyMs" | "failures">): number {
  let ms = 0;
  for (let failed = 1; failed < failures; failed++) ms += backoffMs(everyMs, failed);
  return ms;
}

type Row = Tables["schedule"]["$inferSelect"];

export type Job = Omit<Row, "problem"> & { readonly problem: JobProblem | null };

/** A row with its problem as it is stored: JSON, or the text alone. */
function read<T extends Pick<Row, "problem">>(row: T): Omit<T, "problem"> & Pick<Job, "problem"> {
  const { problem } = row;
  const isText = problem === null || !problem.startsWith("{");
  const said = isText ? problem && { text: problem } : (JSON.parse(problem) as JobProblem);
  return { ...row, problem: said === "" ? null : said };
}

/** A row of the schedule, read without opening the store. */
export interface JobRow extends Pick<
  Job,
  "kind" | "target" | "everyMs" | "failures" | "problem" | "paused"
> {
  /** When it last succeeded, or was added. */
  readonly sinceMs: number;
}

export const jobRows = (rows: readonly unknown[]): JobRow[] =>
  rows.map((row) => read(row as Omit<JobRow, "problem"> & Pick<Row, "problem">));

/** Reads the schedule on either kind of database, as rows for `jobRows`. */
export const jobsSql = (schema: string): string => `SELECT kind, target, failures, problem, paused,
  CAST(every_ms AS double precision) AS "everyMs",
  CAST(coalesce(succeeded_at_ms, added.created_at_ms, next_at_ms) AS double precision) AS "sinceMs"
  FROM ${schema}schedule LEFT JOIN ${schema}sources AS added
    ON kind = 'pull' AND added.name = target ORDER BY target`;

/** Where the settings had a job work last: a fact for each kind. */
export const placeMeta = "place_of_";

export const jobName = (kind: JobKind, target: string): string => `${kind} ${target}`.trimEnd();

export const jobsOf = (db: Database): Promise<Job[]> => db.read(allJobs);

export async function allJobs(tx: Tx): Promise<Job[]> {
  const rows = await tx.select().from(tx.t.schedule).orderBy(tx.t.schedule.name);
  return rows.map(read);
}

export async function findJob(tx: Tx, name: string): Promise<Job | undefined> {
  const { schedule } = tx.t;
  const [job] = await tx.select().from(schedule).where(eq(schedule.name, name));
  return job && read(job);
}

/** Schedules a job; one that is scheduled keeps its times and gets the interval. */
export async function scheduleJob(
  tx: Tx,
  { kind, target }: Pick<Job, "kind" | "target">,
  everyMs: number,
  nextAtMs: number,
): Promise<void> {
  const { schedule } = tx.t;
  await tx
    .insert(schedule)
    .values({ name: jobName(kind, target), kind, target, everyMs, nextAtMs })
    .onConflictDoUpdate({
      target: schedule.name,
      set: {
        everyMs,
        // A shorter interval counts from now on.
        nextAtMs: sql`CASE WHEN ${schedule.nextAtMs} > ${nextAtMs + everyMs} THEN ${nextAtMs} ELSE ${schedule.nextAtMs} END`,
      },
    });
}

export async function removeJob(tx: Tx, name: string): Promise<void> {
  await tx.delete(tx.t.schedule).where(eq(tx.t.schedule.name, name));
}

/** Changes the row of a job, if it is as `seen` says. Returns whether it was. */
export async function setJob(
  tx: Tx,
  name: string,
  set: Partial<Tables["schedule"]["$inferInsert"]>,
  ...seen: readonly SQL[]
): Promise<boolean> {
  const { schedule } = tx.t;
  const where = and(eq(schedule.name, name), ...seen);
  return (await tx.run(tx.update(schedule).set(set).where(where))) > 0;
}

/** Pauses a job, or lets it go on at once if `paused` is null. */
export async function pauseJob(
  tx: Tx,
  name: string,
  paused: Row["paused"],
  nowMs: number,
): Promise<void> {
  await setJob(tx, name, { paused, ...(paused === null && { nextAtMs: nowMs, failures: 0 }) });
}

/**
 * Begins a job: true for one caller only, of all processes and servers that saw it as `job`. The
 * others see it as under way until the lease ends.
 */
export function claimJob(db: Database, job: Job, nowMs: number): Promise<boolean> {
  return db.transaction((tx) => {
    const { nextAtMs, triedAtMs, paused } = tx.t.schedule;
    const begun = { triedAtMs: nowMs, nextAtMs: nowMs + leaseMs };
    const isSame = sql`${triedAtMs} IS NOT DISTINCT FROM ${job.triedAtMs}`;
    return setJob(tx, job.name, begun, eq(nextAtMs, job.nextAtMs), isSame, isNull(paused));
  });
}

/**
 * Moves the time from which on others may begin a job that was begun at `triedAtMs` and has not
 * ended: later for one that still runs, or to now for one that is given up.
 */
export async function leaseJob(
  db: Database,
  name: string,
  triedAtMs: number,
  nextAtMs: number,
): Promise<void> {
  await db.transaction((tx) =>
    setJob(tx, name, { nextAtMs }, eq(tx.t.schedule.triedAtMs, triedAtMs)),
  );
}

/** How a job ended: a success may have a problem too, such as withdrawals that wait. */
export interface JobOutcome {
  readonly ok: boolean;
  readonly problem?: JobProblem | undefined;
  readonly retryAfterMs?: number | undefined;
}

/**
 * Stores how a job ended and when it is next due. `spread` is from 0 to 1. Stores nothing, and
 * returns false, if somebody removed it or changed it since it was `begun`.
 */
export async function finishJob(
  tx: Tx,
  name: string,
  outcome: JobOutcome,
  nowMs: number,
  spread: number,
  begun?: Partial<Pick<Job, "triedAtMs" | "paused">>,
): Promise<boolean> {
  const { schedule } = tx.t;
  const own = tx.select().from(schedule).where(eq(schedule.name, name));
  const [job] = await tx.forUpdate(own);
  if (job === undefined) return false;
  const { triedAtMs = job.triedAtMs, paused = job.paused } = begun ?? {};
  if (job.triedAtMs !== triedAtMs || job.paused !== paused) return false;
  const { ok, problem, retryAfterMs } = outcome;
  const failures = ok ? 0 : job.failures + 1;
  return setJob(tx, name, {
    ...(ok && { succeededAtMs: nowMs }),
    problem: problem === undefined ? null : JSON.stringify(problem),
    nextAtMs: ok
      ? nextAfterSuccess(job.everyMs, nowMs, spread)
      : nextAfterFailure({ ...job, failures }, nowMs, retryAfterMs),
    triedAtMs: nowMs,
    failures,
  });
}

/** Stores why a job failed whose process could not: it was killed, or did not start. */
export async function failJob(
  db: Database,
  name: string,
  text: string,
  nowMs: number,
  triedAtMs: number,
): Promise<void> {
  const outcome = { ok: false, problem: { text } };
  await db.transaction((tx) => finishJob(tx, name, outcome, nowMs, 0, { triedAtMs }));
}
