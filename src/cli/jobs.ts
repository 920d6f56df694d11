import { dataFolderOf, type LoadedConfig } from "../config.ts";
import { systemClock } from "../domain/clock.ts";
import type { JobKind } from "../domain/schedule.ts";
import type { Logger } from "../service/log.ts";
import { Schedule } from "../service/schedule.ts";
import type { Services } from "../service/services.ts";
import type { Database } from "../storage/database.ts";
import { type Job, jobName, jobsOf, removeJob, scheduleJob } from "../storage/schedule.ts";
import { inMemory } from "../storage/sqlite/files.ts";
import { childEnvironment, program } from "./child.ts";
import type { Io } from "./io.ts";
import { randomBytes } from "./open.ts";

/** What a feature does by the schedule: a command of this program, never one from a store. */
export interface JobCommand {
  readonly kind: JobKind;
  /** The words of the command for a job's target. It stores how it ended, and then exits with 0. */
  readonly words: (target: string) => readonly string[];
  /** For a job that the settings schedule: how often, undefined for never. */
  readonly everyMs?: (loaded: LoadedConfig) => number | undefined;
  /** Hears why each of them failed, or null. Throws AppError to have a warning in the log. */
  readonly ended?: (loaded: LoadedConfig, problem: string | null) => Promise<void>;
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
  const commandOf = ({ kind }: Job) => commands.find((each) => each.kind === kind);
  const onError = (error: unknown) => log.failure(error);
  const env = childEnvironment(loaded, io.env);
  const schedule = new Schedule({
    db,
    clock: systemClock,
    random: () => (randomBytes(1)[0] ?? 0) / 255,
    onError,
    onProblem({ name }, problem) {
      if (problem === null) log.info(`${name} succeeds again.`);
      else log.warn(`${name} failed: ${problem}`);
    },
    async onEnded(job, problem) {
      await commandOf(job)
        ?.ended?.(loaded, problem)
        .catch((error: Error) => log.warn(error.message));
    },
    async run(job, signal) {
      const command = commandOf(job);
      if (command === undefined) return `This program has no command for ${job.kind}.`;
      const child = Bun.spawn([...program(), ...command.words(job.target)], {
        env: { ...env },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
        signal,
        killSignal: "SIGTERM",
      });
      const code = await child.exited;
      if (code === 0) return undefined;
      return `The process ended with ${child.signalCode ?? `code ${code}`}.`;
    },
  });
  await planJobs(commands, loaded, db).catch(onError);
  schedule.start();
  return schedule;
}

/** Puts on the schedule what the settings want there, and takes off what they do not. */
async function planJobs(
  commands: readonly JobCommand[],
  loaded: LoadedConfig,
  db: Database,
): Promise<void> {
  const jobs = await jobsOf(db);
  for (const { kind, everyMs } of commands) {
    if (everyMs === undefined) continue;
    const wantedMs = everyMs(loaded);
    const name = jobName(kind, "");
    const isMs = jobs.find((job) => job.name === name)?.everyMs;
    if (wantedMs === isMs) continue;
    await db.transaction((tx) =>
      wantedMs === undefined
        ? removeJob(tx, name)
        : scheduleJob(tx, { kind, target: "" }, wantedMs, systemClock()),
    );
  }
}
