/** Does what is due while the service runs: pulls of followed lists and backups. */
import { dataFolderOf } from "../../config.ts";
import { type Clock, systemClock } from "../../domain/clock.ts";
import type { Feature, JobCommand } from "../../feature.ts";
import type { Logger } from "../../service/log.ts";
import { type Database, getMeta } from "../../storage/database.ts";
import { inMemory } from "../../storage/sqlite/files.ts";
import { setMeta } from "../meta.ts";
import { childEnvironment, runJob } from "./child.ts";
import {
  claimJob,
  failJob,
  isDue,
  type Job,
  jobMaxMs,
  jobName,
  jobsOf,
  leaseJob,
  leaseMs,
  placeMeta,
  removeJob,
  scheduleJob,
  timesInARow,
} from "./jobs.ts";

export const scheduleFeature: Feature = {
  name: "schedule",
  async hooks({ loaded, log, io }) {
    // No other process can open it.
    if (dataFolderOf(loaded.config) === inMemory) return undefined;
    const env = childEnvironment(loaded, io.env);
    const commands = io.features.flatMap(({ jobs }) => jobs?.(loaded) ?? []);
    const run: ScheduleOptions["run"] = (command, { target }, signal) =>
      runJob(command.words(target), env, signal);
    let schedule: Schedule | undefined;
    return {
      onStart: (db) =>
        void (schedule = new Schedule({ db, clock: systemClock, log, commands, run })),
      onReady: () => schedule?.start(),
      onStop: () => schedule?.close(),
    };
  },
};

const lookEveryMs = 20_000;
/** How many jobs run beside each other: each is a process of its own. */
const runningMax = 2;

export interface ScheduleOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn" | "failure">;
  /** What the settings of this process have; another server on the store may have others. */
  readonly commands: readonly JobCommand[];
  /**
   * Does a job in a process of its own, which stores how it ended. Returns undefined then, or why
   * it could not: the process was killed, or did not start.
   */
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
    for (const { job } of this.#running.values()) await leaseJob(db, job, clock() + leaseMs);
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

  async #do(job: Job, command: JobCommand): Promise<void> {
    const { db, clock, run, log } = this.options;
    const stop = this.#stop.signal;
    const late = AbortSignal.timeout(jobMaxMs);
    const failed = await run(command, job, AbortSignal.any([stop, late]));
    if (failed !== undefined && stop.aborted) return leaseJob(db, job, clock());
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
