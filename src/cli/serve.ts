import { Command } from "commander";
import type { Config, LoadedConfig } from "../config.ts";
import { systemClock } from "../domain/clock.ts";
import { AppError } from "../domain/errors.ts";
import { reasonNotMade } from "../domain/system-error.ts";
import { Logger } from "../service/log.ts";
import { descriptorsMax } from "../storage/system.ts";
import { beginAsOwner } from "./command.ts";
import type { Io } from "./io.ts";
import { addAllSettings } from "./options.ts";

/** `rehome serve`: the service, until it is asked to stop. */
export function serveCommand(io: Io): Command {
  const command = new Command("serve").description("run the service").addHelpText(
    "after",
    `
Examples:
  rehome serve
  rehome serve --host 0.0.0.0 --port 80 --data /var/lib/rehome
  REHOME_PORT=9000 rehome serve --environment staging`,
  );
  return addAllSettings(command, io).action(async () => {
    return serveWith(beginAsOwner(command, io), io);
  });
}

/** Runs the service with these settings, until it is asked to stop. */
export async function serveWith(loaded: LoadedConfig, io: Io): Promise<void> {
  for (const feature of io.features) {
    const served = feature.serve?.(loaded, io);
    if (served !== undefined) return served;
  }
  requireDescriptors();
  // Loaded where it is wanted: no other command waits for the web framework.
  const { serve } = await import("./serving.ts");
  return serve(loaded, io);
}

/** With fewer, too few are left for connections. Bun raises the soft limit to the hard one. */
const descriptorsMin = 256;

/** Throws `unavailable` when the system gives this process too few file descriptors. */
function requireDescriptors(): void {
  const max = descriptorsMax();
  if (max >= descriptorsMin) return;
  throw new AppError(
    "unavailable",
    `This process may open ${max} files and connections, and the service needs ${descriptorsMin}.`,
    {
      hint: `Raise the hard limit: ulimit -Hn ${descriptorsMin} as root, or LimitNOFILE= in its systemd unit.`,
    },
  );
}

export function openLog(config: Config, io: Io): Logger {
  const { logFile, logFormat, logLevel } = config;
  const forPerson = logFile === undefined && io.talkIsTerminal;
  try {
    const log = new Logger({
      path: logFile,
      level: logLevel,
      format: logFormat === "auto" ? (forPerson ? "text" : "json") : logFormat,
      clock: systemClock,
      onProblem: (error) => {
        if (logFile === undefined) return;
        io.err(`Error: The log file ${logFile} cannot be written: ${reasonNotMade(error)}.\n`);
      },
    });
    io.hearSignals().onReload(() => log.reopen());
    return log;
  } catch (error) {
    throw new AppError(
      "unavailable",
      `The log file ${logFile} cannot be opened: ${reasonNotMade(error)}.`,
      { cause: error, hint: "Choose a file that this user can write with --log-file." },
    );
  }
}
