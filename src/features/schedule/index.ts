/** Does what is due while the service runs: pulls of followed lists and backups. */
import type { Io } from "../../cli/io.ts";
import { dataFolderOf, type LoadedConfig } from "../../config.ts";
import { type Clock, systemClock } from "../../domain/clock.ts";
import type { Feature, JobCommand } from "../../feature.ts";
import type { Logger } from "../../service/log.ts";
import type { Database } from "../../storage/database.ts";
import { inMemory } from "../../storage/sqlite/files.ts";
import { getMeta } from "../../storage/store-state.ts";
import { setMeta } from "../meta.ts";
import { childEnvironment, runJob } from "./child.ts";
import {
  claimJob,
  failJob,
  findJob,
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
    let db: Database | undefined;
    let starting: Promise<Schedule> | undefined;
    return {
      onStart: (opened) => void (db = opened),
      onReady() {
        if (db !== undefined) starting = startSchedule(loaded, io, db, log);
      },
      onStop: async () => (await starting)?.close(),
    };
  },
};

async function startSchedule(
  loaded: LoadedConfig,
  io: Io,
  db: Database,
  log: Logger,
): Promise<Schedule> {
  const commands = io.features.flatMap(({ jobs = [] }) => jobs);
  // Another server on this store may have settings of its own.
  const wanted = commands.filter(
    ({ everyMs }) => everyMs === undefined || everyMs(loaded) !== undefined,
  );
  const env = childEnvironment(loaded, io.env);
  const schedule = new Schedule({
    db,
    clock: systemClock,
    log,
    workOf({ kind, target }) {
      const command = wanted.find((each) => each.kind === kind);
      return (
        command && {
          run: (signal) => runJob(command, target, env, signal),
          ended: async (problem, signal) => command.ended?.(loaded, problem, signal),
        }
      );
    },
  });
  await planJobs(wanted, loaded, db).catch((error: unknown) => log.failure(error));
  schedule.start();
  return schedule;
}

/** Puts on the schedule what the settings want there, as often as they want it. */
async function planJobs(
  commands: readonly JobCommand[],
  loaded: LoadedConfig,
  db: Database,
): Promise<void> {
  for (const { kind, everyMs, place } of commands) {
    const wantedMs = everyMs?.(loaded);
    if (wantedMs === undefined) continue;
    const fact = placeMeta + kind;
    const wanted = place?.(loaded);
    await db.transaction(async (tx) => {
      if (wanted !== undefined && wanted !== (await getMeta(tx, fact))) {
        await removeJob(tx, jobName(kind, ""));
        await setMeta(tx, fact, wanted);
      }
      await scheduleJob(tx, { kind, target: "" }, wantedMs, systemClock());
    });
  }
}

const lookEveryMs = 20_000;
/** How many jobs run beside each other: each is a process of its own. */
const runningMax = 2;

export interface Work {
  /**
   * Does the job in a process of its own, which stores how it ended. Returns undefined then, or why
   * it could not: the process was killed, or did not start.
   */
  readonly run: (signal: AbortSignal) => Promise<string | undefined>;
  /** Hears why each job failed, or null. `signal` is aborted by `close`. */
  readonly ended: (problem: string | null, signal: AbortSignal) => Promise<void>;
}

export interface ScheduleOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn" | "failure">;
  /** Returns undefined for a job that the settings of this process do not have. */
  readonly workOf: (job: Job) => Work | undefined;
}

interface Running {
  readonly triedAtMs: number;
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
    this.#looking = this.#looking
      .then(() => this.#look())
      .catch((error: unknown) => this.#options.log.failure(error));
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { db, clock, workOf } = this.#options;
    await this.#extend();
    for (const job of await jobsOf(db)) {
      const isFree = this.#running.size < runningMax && !this.#running.has(job.name);
      if (this.#stop.signal.aborted || !isFree) continue;
      const nowMs = clock();
      const work = workOf(job);
      if (job.paused !== null || !isDue(job, nowMs) || work === undefined) continue;
      if (!(await claimJob(db, job, nowMs))) continue;
      if (this.#stop.signal.aborted) await leaseJob(db, job.name, nowMs, clock());
      else this.#begin(job, nowMs, work);
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
    for (const [name, { triedAtMs }] of this.#running) {
      await leaseJob(db, name, triedAtMs, clock() + leaseMs);
    }
  }

  #begin(job: Job, triedAtMs: number, work: Work): void {
    const ended = this.#do(job, triedAtMs, work)
      .catch((error: unknown) => this.#options.log.failure(error))
      .finally(() => {
        this.#running.delete(job.name);
        void (this.#stop.signal.aborted || this.look());
      });
    this.#running.set(job.name, { triedAtMs, ended });
  }

  async #do(job: Job, triedAtMs: number, { run, ended }: Work): Promise<void> {
    const { db, clock, log } = this.#options;
    const { name } = job;
    const stop = this.#stop.signal;
    const failed = await run(AbortSignal.any([stop, AbortSignal.timeout(jobMaxMs)]));
    if (failed !== undefined && stop.aborted) return leaseJob(db, name, triedAtMs, clock());
    let why: string | null = failed ?? "How it ended could not be read.";
    let after: Job | undefined;
    try {
      if (failed !== undefined) await failJob(db, name, failed, clock(), triedAtMs);
      after = await db.read((tx) => findJob(tx, name));
      const isFailed = after !== undefined && after.failures > 0;
      if (failed === undefined) why = isFailed ? (after?.problem?.text ?? null) : null;
    } finally {
      // Also of a store whose disk is full.
      await ended(why, stop).catch((error: Error) => log.warn(error.message));
    }
    if (after === undefined) return;
    const { problem, failures } = after;
    if (failures > 0) log.warn(`${name} failed${timesInARow(failures)}: ${problem?.text ?? why}`);
    else if (problem?.text === job.problem?.text) return;
    else if (problem === null) log.info(`${name} succeeds again.`);
    else log.warn(`${name} succeeded, but: ${problem.text}`);
  }
}
