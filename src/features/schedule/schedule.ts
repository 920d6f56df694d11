import type { Clock } from "../../domain/clock.ts";
import { isDue, jobMaxMs, leaseMs } from "../../domain/schedule.ts";
import type { Database } from "../../storage/database.ts";
import { claimJob, findJob, finishJob, type Job, jobsOf, leaseJob } from "../jobs.ts";

const lookEveryMs = 20_000;
/** How many jobs run beside each other: each is a process of its own. */
const runningMax = 2;

export interface ScheduleOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** False for a job that the settings of this process do not have. */
  readonly wants: (job: Job) => boolean;
  /**
   * Does the job in a process of its own, which stores how it ended. Returns undefined then, or why
   * it could not: the process was killed, or did not start.
   */
  readonly run: (job: Job, signal: AbortSignal) => Promise<string | undefined>;
  /** Hears of a job whose problem is new, or gone (null). */
  readonly onProblem: (job: Job) => void;
  /** Hears of each job that ended: why it failed, or null. `signal` is aborted by `close`. */
  readonly onEnded: (job: Job, problem: string | null, signal: AbortSignal) => Promise<void>;
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
  #looking: Promise<void> = Promise.resolve();

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  start(): void {
    void this.look();
    this.#timer = setInterval(() => void this.look(), lookEveryMs).unref();
  }

  /** Begins what is due, one look after another. Never rejects; resolves when it has begun. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look());
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { db, clock, wants, onError } = this.#options;
    try {
      await this.#extend();
      for (const job of await jobsOf(db)) {
        const isFree = this.#running.size < runningMax && !this.#running.has(job.name);
        if (this.#stop.signal.aborted || !isFree) continue;
        const nowMs = clock();
        if (job.paused !== null || !isDue(job, nowMs) || !wants(job)) continue;
        if (!(await claimJob(db, job, nowMs))) continue;
        if (this.#stop.signal.aborted) await leaseJob(db, job.name, nowMs, clock());
        else this.#begin(job, nowMs);
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

  /** Resolves when the looks have begun what is due, and all of that has ended. */
  async ended(): Promise<void> {
    await this.#looking;
    while (this.#running.size > 0) {
      await Promise.all(this.#running.values().map(({ ended }) => ended));
      // What ends makes room, and looks again.
      await this.#looking;
    }
  }

  /** Keeps what runs from others: a large backup takes longer than a lease. */
  async #extend(): Promise<void> {
    const { db, clock } = this.#options;
    for (const [name, running] of this.#running) {
      const nowMs = clock();
      if (Math.abs(nowMs - running.leasedAtMs) < leaseMs / 3) continue;
      await leaseJob(db, name, running.triedAtMs, nowMs + leaseMs);
      running.leasedAtMs = nowMs;
    }
  }

  #begin(job: Job, triedAtMs: number): void {
    const ended = this.#do(job, triedAtMs)
      .catch(this.#options.onError)
      .finally(() => {
        this.#running.delete(job.name);
        void (this.#stop.signal.aborted || this.look());
      });
    this.#running.set(job.name, { triedAtMs, leasedAtMs: triedAtMs, ended });
  }

  async #do(job: Job, triedAtMs: number): Promise<void> {
    const { db, clock, run, onProblem, onEnded } = this.#options;
    const stop = this.#stop.signal;
    const failed = await run(job, AbortSignal.any([stop, AbortSignal.timeout(jobMaxMs)]));
    if (failed !== undefined && stop.aborted) {
      return leaseJob(db, job.name, triedAtMs, clock());
    }
    let after: Job | undefined;
    let problem: string | null = failed ?? "How it ended could not be read.";
    try {
      after = await this.#outcome(job.name, triedAtMs, failed).catch(() =>
        this.#outcome(job.name, triedAtMs, failed),
      );
      const ofJob = after !== undefined && after.failures > 0 ? after.problem : null;
      problem = failed ?? ofJob?.text ?? null;
    } finally {
      // Also of a store whose disk is full.
      await onEnded(job, problem, stop);
    }
    if (after !== undefined && after.problem?.text !== job.problem?.text) onProblem(after);
  }

  /** Stores why the process failed, if it did. Returns the job as it is now. */
  async #outcome(name: string, triedAtMs: number, failed?: string): Promise<Job | undefined> {
    const { db, clock } = this.#options;
    if (failed !== undefined) {
      const outcome = { ok: false, problem: { text: failed } } as const;
      await db.transaction((tx) => finishJob(tx, name, outcome, clock(), 0, { triedAtMs }));
    }
    return db.read((tx) => findJob(tx, name));
  }
}
