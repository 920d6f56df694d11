import type { Clock } from "../domain/clock.ts";
import { isDue, jobMaxMs, leaseMs } from "../domain/schedule.ts";
import type { Database } from "../storage/database.ts";
import {
  claimJob,
  extendJob,
  findJob,
  finishJob,
  type Job,
  jobsOf,
  releaseJob,
} from "../storage/schedule.ts";

const lookEveryMs = 20_000;
/** How many jobs run beside each other: each is a process of its own. */
const runningMax = 2;

export interface ScheduleOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: () => number;
  /**
   * Does the job in a process of its own, which stores how it ended. Returns undefined then, or why
   * it could not: the process was killed, or did not start.
   */
  readonly run: (job: Job, signal: AbortSignal) => Promise<string | undefined>;
  /** Hears of a job whose problem is new, or gone (null). */
  readonly onProblem: (job: Job, problem: string | null) => void;
  /** Hears of each job that ended: why it failed, or null. */
  readonly onEnded: (job: Job, problem: string | null) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** A job that this process does. */
interface Running {
  readonly triedAtMs: number;
  /** When its lease was last begun. */
  leasedAtMs: number;
  readonly ended: Promise<void>;
}

/**
 * Does what is due while the service runs. Every process and server looks at the same rows, and
 * the one that claims a row does it.
 */
export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #running = new Map<string, Running>();
  readonly #stop = new AbortController();
  #timer: Timer | undefined;

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  start(): void {
    void this.look();
    this.#timer = setInterval(() => void this.look(), lookEveryMs).unref();
  }

  /** Begins what is due. Never rejects; resolves when it has begun. */
  async look(): Promise<void> {
    const { db, clock, onError } = this.#options;
    try {
      await this.#extend();
      for (const job of await jobsOf(db)) {
        const isFree = this.#running.size < runningMax && !this.#running.has(job.name);
        if (this.#stop.signal.aborted || !isFree) continue;
        if (job.paused !== null || !isDue(job, clock())) continue;
        const nowMs = clock();
        if (await claimJob(db, job, nowMs)) this.#begin(job, nowMs);
      }
    } catch (error) {
      onError(error);
    }
  }

  /** Ends what runs, and resolves when all of it has ended. Another process may begin it again. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort();
    await this.ended();
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running.values().map(({ ended }) => ended));
  }

  /** Keeps what runs from others: a large backup takes longer than a lease. */
  async #extend(): Promise<void> {
    const { db, clock } = this.#options;
    for (const [name, running] of this.#running) {
      const nowMs = clock();
      if (Math.abs(nowMs - running.leasedAtMs) < leaseMs / 3) continue;
      await extendJob(db, name, running.triedAtMs, nowMs);
      running.leasedAtMs = nowMs;
    }
  }

  #begin(job: Job, triedAtMs: number): void {
    const ended = this.#do(job)
      .catch(this.#options.onError)
      .finally(() => {
        this.#running.delete(job.name);
        void (this.#stop.signal.aborted || this.look());
      });
    this.#running.set(job.name, { triedAtMs, leasedAtMs: triedAtMs, ended });
  }

  async #do(job: Job): Promise<void> {
    const { db, clock, random, run, onProblem, onEnded } = this.#options;
    const stop = this.#stop.signal;
    const failed = await run(job, AbortSignal.any([stop, AbortSignal.timeout(jobMaxMs)]));
    if (failed !== undefined && stop.aborted) {
      return db.transaction((tx) => releaseJob(tx, job.name, clock()));
    }
    let after: Job | undefined;
    try {
      after = await db.transaction(async (tx) => {
        const outcome = { ok: false, problem: failed ?? "" } as const;
        if (failed !== undefined) await finishJob(tx, job.name, outcome, clock(), random());
        return findJob(tx, job.name);
      });
    } finally {
      // Also of a store whose disk is full.
      const problem = after !== undefined && after.failures > 0 ? after.problem : null;
      await onEnded(job, failed ?? problem);
    }
    if (after !== undefined && after.problem !== job.problem) onProblem(job, after.problem);
  }
}
