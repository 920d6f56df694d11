import { childEnvironment, runJob } from "./child.ts";
import type { Io } from "../../cli/io.ts";
import { dataFolderOf, type LoadedConfig } from "../../config.ts";
import { systemClock } from "../../domain/clock.ts";
import type { Feature, JobCommand } from "../../feature.ts";
import type { Logger } from "../../service/log.ts";
import type { Database } from "../../storage/database.ts";
import { inMemory } from "../../storage/sqlite/files.ts";
import { getMeta } from "../../storage/store-state.ts";
import { setMeta } from "../meta.ts";
import { jobName, jobsOf, placeMeta, removeJob, scheduleJob } from "./jobs.ts";
import { Schedule } from "./schedule.ts";

/** What features do by the schedule, while the service runs. */
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

/** Starts the schedule of a serving process. */
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
  const jobs = await jobsOf(db);
  for (const { kind, everyMs, place } of commands) {
    const wantedMs = everyMs?.(loaded);
    if (wantedMs === undefined) continue;
    const name = jobName(kind, "");
    const isMs = jobs.find((each) => each.name === name)?.everyMs;
    const placeFact = placeMeta + kind;
    const wantedPlace = place?.(loaded);
    const isPlace = await db.read((tx) => getMeta(tx, placeFact));
    if (wantedMs === isMs && wantedPlace === isPlace) continue;
    await db.transaction(async (tx) => {
      if (wantedPlace !== undefined && wantedPlace !== isPlace) {
        await removeJob(tx, name);
        await setMeta(tx, placeFact, wantedPlace);
      }
      await scheduleJob(tx, { kind, target: "" }, wantedMs, systemClock());
    });
  }
}
