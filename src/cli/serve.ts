import { Command } from "commander";
import { type LoadedConfig, settings, withoutPassword, type Config } from "../config.ts";
import { systemClock } from "../domain/clock.ts";
import { Logger } from "../service/log.ts";
import { beginAsOwner, addAllSettings } from "./command.ts";
import type { Io } from "./io.ts";
import { isLoopback } from "../domain/address.ts";

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

/** What an operator should know of the way the service is started. */
export function startWarnings(loaded: LoadedConfig): string[] {
  return [passwordWarning(loaded), exposureWarning(loaded.config)].filter(
    (warning) => warning !== undefined,
  );
}

export function passwordWarning({ config, loadedOf }: LoadedConfig): string | undefined {
  const { store } = config;
  if (loadedOf(settings.store).source !== "flag" || store === undefined) return undefined;
  if (withoutPassword(store) === store) return undefined;
  return (
    "--store has a password, which stays in the shell's history and in the list of processes. " +
    "Put the address into a file with mode 600, and use --store-file."
  );
}

function exposureWarning({ host, tlsCert, trustedProxy }: Config): string | undefined {
  if (tlsCert !== undefined || trustedProxy.length > 0) return undefined;
  if (isLoopback(host)) return undefined;
  return (
    `${host} can be reached from other machines, and the service speaks plain HTTP there: ` +
    "anyone who sees the traffic can read the API keys in it. " +
    "Use --tls-cert and --tls-key, or put a proxy with TLS in front and name it with --trusted-proxy."
  );
}
