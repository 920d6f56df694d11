import type { Config } from "../config.ts";
import { systemClock } from "../domain/clock.ts";
import { AppError } from "../domain/errors.ts";
import { reasonNotMade } from "../domain/system-error.ts";
import { Logger } from "../service/log.ts";
import type { Io } from "./io.ts";

/** Opens the log of the settings; SIGHUP reopens its file. Throws AppError if it cannot be had. */
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
