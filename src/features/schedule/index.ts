/** Does what is due while the service runs: pulls of followed lists and backups. */
import { dataFolderOf } from "../../config.ts";
import { systemClock } from "../../domain/clock.ts";
import type { Feature } from "../../feature.ts";
import { inMemory } from "../../storage/sqlite/files.ts";
import { childEnvironment, runJob } from "./child.ts";
import { Schedule, type ScheduleOptions } from "./jobs.ts";

export const scheduleFeature: Feature = {
  name: "schedule",
  async hooks({ loaded, log, io }) {
    // No other process can open it.
    if (dataFolderOf(loaded.config) === inMemory) return undefined;
    const env = childEnvironment(loaded, io.env);
    const commands = io.features.flatMap((each) => each.jobs?.(loaded) ?? []);
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
