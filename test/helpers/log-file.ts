import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../src/domain/clock.ts";
import type { LogFormat, LogLevel } from "../../src/domain/log.ts";
import { Logger } from "../../src/service/log.ts";
import { temporaryFolder } from "./binary.ts";

/** A log that is written to a file, as standard error may be. */
export function logFile(clock: Clock, format: LogFormat = "json", level: LogLevel = "info") {
  const folder = temporaryFolder();
  const path = join(folder.path, "log");
  const fd = openSync(path, "a");
  return {
    log: new Logger({ level, format, clock, fd }),
    text: () => readFileSync(path, "utf8"),
    [Symbol.dispose]() {
      closeSync(fd);
      folder[Symbol.dispose]();
    },
  };
}
