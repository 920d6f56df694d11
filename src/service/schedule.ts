import type { Clock } from "../domain/clock.ts";
import { isDue } from "../domain/schedule.ts";
import type { Database } from "../storage/database.ts";
import { claimJob, findJob, finishJob, type Job, jobsOf, releaseJob } from "../storage/schedule.ts";

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
  readonly onError: (error: unknown) => void;
}

/**
 * Does what is due while the service runs. Every process and server looks at the same rows, and
 * the one that claims a row does it.
 */
export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #running = new Map<string, Promise<void>>();
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
      for (const job of await jobsOf(db)) {
        const isFree = this.#running.size < runningMax && !this.#running.has(job.name);
        if (this.#stop.signal.aborted || !isFree) continue;
        if (job.paused !== null || !isDue(job, clock())) continue;
        if (await claimJob(db, job, clock())) this.#begin(job);
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
    await Promise.all(this.#running.values());
  }

  #begin(job: Job): void {
    const ended = this.#do(job)
      .catch(this.#options.onError)
      .finally(() => {
        this.#running.delete(job.name);
        void (this.#stop.signal.aborted || this.look());
      });
    this.#running.set(job.name, ended);
  }

  async #do(job: Job): Promise<void> {
    const { db, clock, random, run, onProblem } = this.#options;
    const problem = await run(job, this.#stop.signal);
    const after = await db.transaction(async (tx) => {
      if (problem !== undefined && this.#stop.signal.aborted) {
        await releaseJob(tx, job.name, clock());
      } else if (problem !== undefined) {
        await finishJob(tx, job.name, { ok: false, problem }, clock(), random());
      }
      return findJob(tx, job.name);
    });
    if (after !== undefined && after.problem !== job.problem) onProblem(job, after.problem);
  }
}
