/** The schedule as it is stored: what is due, who begins it, how it ended; and what does it. */
import { and, eq, sql } from "drizzle-orm";
import { type Clock, hourMs, minuteMs } from "../../domain/clock.ts";
import type { JobCommand } from "../../feature.ts";
import type { Logger } from "../../service/log.ts";
import { type Database, getMeta, type Tables, type Tx } from "../../storage/database.ts";
import type { JobKind } from "../../storage/schema.ts";
import { setMeta } from "../meta.ts";

/** What is wrong with a job. Who has words of their own for the code shows these. */
export interface JobProblem {
  readonly text: string;
  readonly code?: string;
  readonly values?: readonly string[];
}

type Row = Tables["schedule"]["$inferSelect"];

export type Job = Omit<Row, "problem"> & { readonly problem: JobProblem | null };

export const intervalMinMs = 15 * minuteMs;

/** How long a job that was begun is left to its process, which may have died. */
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
  Math.min(minuteMs * 2 ** (failures - 1), everyMs);

/** How often in a row a job failed, behind what failed; nothing for once. */
export const timesInARow = (failures: number): string =>
  failures > 1 ? `, ${failures} times in a row` : "";

/** A row with its problem as it is stored: JSON, or the text alone. */
export function readJob<T extends Pick<Row, "problem">>(row: T) {
  const { problem: text, ...rest } = row;
  let problem: JobProblem | null = text ? { text } : null;
  if (text?.startsWith("{")) problem = JSON.parse(text) as JobProblem;
  return { ...rest, problem };
}

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
  const where = and(
    eq(schedule.name, name),
    seen && sql`${schedule.triedAtMs} IS NOT DISTINCT FROM ${seen.triedAtMs}`,
    seen && sql`${schedule.paused} IS NOT DISTINCT FROM ${seen.paused}`,
  );
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

/** How a job ended: a success may have a problem too, such as withdrawals that wait. */
export interface JobOutcome {
  readonly ok: boolean;
  readonly problem?: JobProblem | undefined;
  /** What a source asks to wait after a failure. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * Stores how a job ended and when it is next due. Stores nothing, and returns false, if somebody
 * removed, paused or began it since it was `begun`.
 */
export function finishJob(tx: Tx, begun: Job, outcome: JobOutcome, nowMs: number) {
  const { ok, problem, retryAfterMs = 0 } = outcome;
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

const lookEveryMs = 20_000;
/** How many jobs run beside each other: each is a process of its own. */
const runningMax = 2;

export interface ScheduleOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn" | "failure">;
  /** What the settings of this process have; another server on the store may have others. */
  readonly commands: readonly JobCommand[];
  /** Does a job in another process, which stores how it ended. Returns why, if it could not. */
  readonly run: (command: JobCommand, job: Job, signal: AbortSignal) => Promise<string | undefined>;
}

/**
 * Does what is due while the service runs. Every process and server looks at the same rows, and
 * the one that claims a row does it.
 */
export class Schedule {
  readonly #running = new Map<string, { readonly job: Job; readonly ended: Promise<void> }>();
  readonly #stop = new AbortController();
  #timer: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(private readonly options: ScheduleOptions) {}

  start(): void {
    this.#looking = this.#plan();
    void this.look();
    this.#timer = setInterval(() => void this.look(), lookEveryMs).unref();
  }

  /** Begins what is due, one look after another. Never rejects; resolves when it has begun. */
  look(): Promise<void> {
    this.#looking = this.#looking
      .then(() => this.#look())
      .catch((error: unknown) => this.options.log.failure(error));
    return this.#looking;
  }

  /** Ends what runs, and resolves when all of it has ended. Another process may begin it again. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort();
    await this.ended();
  }

  /** Resolves when the looks have begun what is due, and all of that has ended. */
  async ended(): Promise<void> {
    await this.#looking;
    while (this.#running.size > 0) {
      await Promise.all(this.#running.values().map(({ ended }) => ended));
      // What ends makes room, and looks again.
      await this.#looking;
    }
  }

  /** Puts on the schedule what the settings want there, as often as they want it. */
  async #plan(): Promise<void> {
    const { db, clock, commands } = this.options;
    for (const { kind, everyMs, place } of commands) {
      if (everyMs === undefined) continue;
      await db.transaction(async (tx) => {
        if (place !== undefined && place !== (await getMeta(tx, placeMeta + kind))) {
          await removeJob(tx, jobName(kind, ""));
          await setMeta(tx, placeMeta + kind, place);
        }
        await scheduleJob(tx, { kind, target: "", everyMs, nextAtMs: clock() });
      });
    }
  }

  async #look(): Promise<void> {
    const { db, clock, commands, log } = this.options;
    // A large backup takes longer than a lease.
    for (const { job } of this.#running.values()) await this.#lease(job, leaseMs);
    for (const seen of await jobsOf(db)) {
      const command = commands.find(({ kind }) => kind === seen.kind);
      const isFree = this.#running.size < runningMax && !this.#running.has(seen.name);
      if (!isFree || this.#stop.signal.aborted) continue;
      if (command === undefined || !isDue(seen, clock())) continue;
      const job = await claimJob(db, seen, clock());
      if (job === undefined) continue;
      const ended = this.#do(job, command)
        .catch((error: unknown) => log.failure(error))
        .finally(() => {
          this.#running.delete(job.name);
          void (this.#stop.signal.aborted || this.look());
        });
      this.#running.set(job.name, { job, ended });
    }
  }

  /** Leaves a job that has not ended to others after `ms`. */
  async #lease(job: Job, ms: number): Promise<void> {
    const { db, clock } = this.options;
    await db.transaction((tx) => setJob(tx, job.name, { nextAtMs: clock() + ms }, job));
  }

  async #do(job: Job, command: JobCommand): Promise<void> {
    const { db, clock, run, log } = this.options;
    const stop = this.#stop.signal;
    const late = AbortSignal.timeout(jobMaxMs);
    const failed = await run(command, job, AbortSignal.any([stop, late]));
    if (failed !== undefined && stop.aborted) return this.#lease(job, 0);
    let why: string | null = failed ?? "How it ended could not be read.";
    let after: Job | undefined;
    try {
      if (failed !== undefined) await failJob(db, job, failed, clock());
      after = (await jobsOf(db)).find(({ name }) => name === job.name);
      if (failed === undefined) why = (after?.failures && after.problem?.text) || null;
    } finally {
      // Also of a store whose disk is full.
      await command.ended?.(why, stop).catch((error: Error) => log.warn(error.message));
    }
    if (after === undefined) return;
    const { name, problem, failures } = after;
    if (failures > 0) log.warn(`${name} failed${timesInARow(failures)}: ${problem?.text ?? why}`);
    else if (problem?.text === job.problem?.text) return;
    else if (problem === null) log.info(`${name} succeeds again.`);
    else log.warn(`${name} succeeded, but: ${problem.text}`);
  }
}
