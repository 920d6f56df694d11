import { dataFolderOf, type LoadedConfig } from "../config.ts";
import { systemClock } from "../domain/clock.ts";
import type { JobKind } from "../domain/schedule.ts";
import type { Logger } from "../service/log.ts";
import { Schedule } from "../service/schedule.ts";
import type { Services } from "../service/services.ts";
import type { Database } from "../storage/database.ts";
import { type Job, jobName, jobsOf, scheduleJob } from "../storage/schedule.ts";
import { inMemory } from "../storage/sqlite/files.ts";
import { childEnvironment, runJob } from "./child.ts";
import type { Io } from "./io.ts";

/** What a feature does by the schedule: a command of this program, never one from a store. */
export interface JobCommand {
  readonly kind: JobKind;
  /** The words of the command for a job's target. It stores how it ended, and then exits with 0. */
  readonly words: (target: string) => readonly string[];
  /** For a job that the settings schedule: how often, undefined for never. */
  readonly everyMs?: (loaded: LoadedConfig) => number | undefined;
  /**
   * Hears why each of them failed, or null. Throws AppError to have a warning in the log. `signal`
   * is aborted when the service stops.
   */
  readonly ended?: (
    loaded: LoadedConfig,
    problem: string | null,
    signal: AbortSignal,
  ) => Promise<void>;
}

/** Starts the schedule of a serving process; none on a store that no other process can open. */
export async function startSchedule(
  loaded: LoadedConfig,
  io: Io,
  { store: { db } }: Services,
  log: Logger,
): Promise<Schedule | undefined> {
  if (dataFolderOf(loaded.config) === inMemory) return undefined;
  const commands = io.features.flatMap(({ jobs = [] }) => jobs);
  // Another server on this store may have settings of its own.
  const wanted = commands.filter(
    ({ everyMs }) => everyMs === undefined || everyMs(loaded) !== undefined,
  );
  const commandOf = ({ kind }: Job) => wanted.find((each) => each.kind === kind);
  const onError = (error: unknown) => log.failure(error);
  const env = childEnvironment(loaded, io.env);
  const schedule = new Schedule({
    db,
    clock: systemClock,
    wants: (job) => commandOf(job) !== undefined,
    onError,
    onProblem({ name, problem, failures }) {
      if (problem === null) log.info(`${name} succeeds again.`);
      else log.warn(`${name} ${failures > 0 ? "failed" : "succeeded, but"}: ${problem.text}`);
    },
    async onEnded(job, problem, signal) {
      await commandOf(job)
        ?.ended?.(loaded, problem, signal)
        .catch((error: Error) => log.warn(error.message));
    },
    async run(job, signal) {
      const command = commandOf(job);
      return command && runJob(command.words(job.target), env, signal);
    },
  });
  await planJobs(wanted, loaded, db).catch(onError);
  schedule.start();
  return schedule;
}

/** Puts on the schedule what the settings want there, as often as they want it. */
async function planJobs(
  commands: readonly JobCommand[],
  loaded: LoadedConfig,
  db: Database,
): Promise<void> {
  const jobs = await jobsOf(db);
  for (const { kind, everyMs } of commands) {
    const wantedMs = everyMs?.(loaded);
    const isMs = jobs.find(({ name }) => name === jobName(kind, ""))?.everyMs;
    if (wantedMs === undefined || wantedMs === isMs) continue;
    await db.transaction((tx) => scheduleJob(tx, { kind, target: "" }, wantedMs, systemClock()));
  }
}
