import { dataFolderOf, type LoadedConfig } from "../config.ts";
import { systemClock } from "../domain/clock.ts";
import type { JobKind } from "../domain/schedule.ts";
import type { Logger } from "../service/log.ts";
import { Schedule } from "../service/schedule.ts";
import type { Services } from "../service/services.ts";
import type { Job } from "../storage/schedule.ts";
import { inMemory } from "../storage/sqlite/files.ts";
import { childEnvironment, program } from "./child.ts";
import type { Io } from "./io.ts";
import { randomBytes } from "./open.ts";

/** What a feature does by the schedule: a command of this program, never one from a store. */
export interface JobCommand {
  readonly kind: JobKind;
  /** The words of the command for a job's target. It stores how it ended, and then exits with 0. */
  readonly words: (target: string) => readonly string[];
}

/** The schedule of a serving process; undefined on a store that no other process can open. */
export function scheduleOf(
  loaded: LoadedConfig,
  io: Io,
  services: Services,
  log: Logger,
): Schedule | undefined {
  if (dataFolderOf(loaded.config) === inMemory) return undefined;
  const commands = io.features.flatMap(({ jobs = [] }) => jobs);
  const env = childEnvironment(loaded, io.env);
  return new Schedule({
    db: services.store.db,
    clock: systemClock,
    random: () => (randomBytes(1)[0] ?? 0) / 255,
    onError: (error) => log.failure(error),
    onProblem({ name }, problem) {
      if (problem === null) log.info(`${name} succeeds again.`);
      else log.warn(`${name} failed: ${problem}`);
    },
    async run({ kind, target }: Job, signal: AbortSignal) {
      const command = commands.find((each) => each.kind === kind);
      if (command === undefined) return `This program has no command for ${kind}.`;
      const child = Bun.spawn([...program(), ...command.words(target)], {
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
}
