import { Command } from "commander";
import type { LoadedConfig } from "../config.ts";
import { systemClock } from "../domain/clock.ts";
import { Logger } from "../service/log.ts";
import { beginAsOwner } from "./command.ts";
import type { Io } from "./io.ts";
import { addAllSettings } from "./options.ts";

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

export async function serveWith(loaded: LoadedConfig, io: Io): Promise<void> {
  for (const feature of io.features) {
    const served = feature.serve?.(loaded, io);
    if (served !== undefined) return served;
  }
  // Loaded where it is wanted: no other command waits for the web framework.
  const { serve } = await import("./serving.ts");
  return serve(loaded, io);
}

/** The log of a process that serves, on standard error. It begins with what its start ignored. */
export function openLog({ config, retired }: LoadedConfig, io: Io): Logger {
  const { logFormat, logLevel } = config;
  const log = new Logger({
    level: logLevel,
    format: logFormat === "auto" ? (io.stderrIsTTY ? "text" : "json") : logFormat,
    clock: systemClock,
  });
  for (const warning of retired) log.warn(warning);
  return log;
}
