import { AppError } from "../../../domain/errors.ts";
import { announce, type Io, untilAborted, joinsVariable, memberVariable } from "../../../cli/io.ts";
import { openLog } from "../../../cli/serve.ts";
import {
  dataFolderOf,
  settings,
  type AnySetting,
  type LoadedConfig,
  type EnvironmentVariables,
  loadConfig,
  serviceSettingsFile,
  variableOf,
} from "../../../config.ts";
import { idleTimeoutSeconds } from "../../../http/server.ts";
import type { Logger } from "../../../service/log.ts";
import { inMemory } from "../../../storage/sqlite/files.ts";
import { childEnvironment } from "../../schedule/child.ts";
import { type ListenAddress, metricsSetting, processesSetting } from "../settings.ts";
import { Supervisor } from "./supervisor.ts";
import { readSettingsFile } from "../../../cli/machine.ts";
import { featureSettings } from "../../../cli/command.ts";

/** Tests make the time shorter in which kept connections end. */
const drainVariable = "SUPERVISOR_DRAIN_MS";

/**
 * Runs the service in `count` processes at one address until it is asked to stop. SIGHUP replaces
 * them by the executable as it is on the disk, with the settings as they are then. Throws AppError
 * when the first one does not start.
 */
export async function serveInProcesses(
  loaded: LoadedConfig,
  io: Io,
  count: number,
  metrics: ListenAddress | undefined,
): Promise<void> {
  if (dataFolderOf(loaded.config) === inMemory) {
    throw new AppError(
      "invalid_request",
      "Each process would have a catalogue of its own in memory.",
      { hint: "Name a folder with --data." },
    );
  }
  const log = openLog(loaded, io);
  const supervisor = new Supervisor({
    count,
    shutdownTimeoutMs: loaded.config.shutdownTimeoutSeconds * 1000,
    drainMs: Number(io.env[drainVariable] ?? (idleTimeoutSeconds + 1) * 1_000),
    log,
    envOf: environments({ loaded, env: io.env }),
  });
  const handOver = handOverOf(supervisor, loaded, io, log);
  const started = Promise.withResolvers<void>();
  // A signal that nobody hears ends the process. One that comes early waits for the start.
  let last = started.promise;
  io.hearSignals().onReload(() => void (last = last.then(handOver)));
  try {
    if (!(await supervisor.start())) {
      throw new AppError("unavailable", "The service did not start: its first process ended.");
    }
    started.resolve();
    if (metrics !== undefined) {
      // Loaded only when it is wanted: the library's memory is not free.
      const { serveMetricsOfAll } = await import("../metrics/serve.ts");
      const { listening } = serveMetricsOfAll(supervisor, metrics);
      void announce(io, `  Metrics ${listening.url}\n`);
    }
    log.info(`${count} processes serve.`);
    await untilAborted(io.hearSignals().stop);
  } finally {
    await supervisor.stop();
    await log.close();
  }
}

/** What a reload does. What is wrong with it is in the log, and everything goes on as before. */
function handOverOf(supervisor: Supervisor, loaded: LoadedConfig, io: Io, log: Logger) {
  const reread = settingsReader(loaded, io);
  return async (): Promise<void> => {
    try {
      const next = reread();
      refuseOwnChanges(loaded, next.loaded);
      await supervisor.handOver(environments(next));
    } catch (error) {
      log.failure(error);
    }
  };
}

/** What all processes have in common, or the one that holds them. */
const ownSettings: readonly AnySetting[] = [
  processesSetting,
  metricsSetting,
  settings.host,
  settings.port,
  settings.data,
  settings.store,
  settings.storeFile,
];

/** Throws for a change that old and new processes cannot have side by side. */
function refuseOwnChanges(now: LoadedConfig, next: LoadedConfig): void {
  const changed = ownSettings.find(
    (setting) => !Bun.deepEquals(now.loadedOf(setting).value, next.loadedOf(setting).value),
  );
  if (changed === undefined) return;
  throw new AppError("unavailable", `--${changed.flag} was changed, so nothing is reloaded.`, {
    hint: "Restart the service, or put the setting back.",
  });
}

/**
 * The processes' variables: settings of only one process are the first one's. Each has its share of
 * what addresses without a key may ask, so that no process asks another.
 */
function environments({ loaded, env }: Reread) {
  const firstOnly = loaded.all.filter(({ setting }) => setting.firstOnly);
  const count = loaded.valueOf(processesSetting);
  const share = Math.max(1, Math.floor(loaded.config.anonymousPerMinute / count));
  const without = Object.fromEntries(
    firstOnly.map(({ setting }) => [variableOf(setting), undefined]),
  );
  return (slot: number, port: number | undefined): Record<string, string | undefined> => ({
    ...childEnvironment(loaded, env),
    ...(slot > 0 && without),
    [variableOf(processesSetting)]: "1",
    [variableOf(settings.anonymousPerMinute)]: String(share),
    [memberVariable]: String(slot),
    // The first one of all is alone with the store.
    ...(port !== undefined && { [variableOf(settings.port)]: String(port), [joinsVariable]: "1" }),
  });
}

/** Settings, and the variables of the process that they are for. */
interface Reread {
  readonly loaded: LoadedConfig;
  readonly env: EnvironmentVariables;
}

/**
 * Remembers where the settings of this process came from. What it returns reads them again; it
 * throws AppError where they are wrong.
 */
export function settingsReader(loaded: LoadedConfig, io: Io, file = serviceSettingsFile) {
  const ofFlags = loaded.all.filter(({ source }) => source === "flag");
  const flags = Object.fromEntries(ofFlags.map(({ setting, text = "" }) => [setting.flag, text]));
  const ours = featureSettings(io.features);
  const before = readIfAllowed(file);
  const isOfUnit = isFrom(before, io.env);
  return (): Reread => {
    const service = loaded.service === undefined ? undefined : io.machine.service();
    const env = isOfUnit ? replaced(io.env, before, readSettingsFile(file)) : io.env;
    return { loaded: loadConfig(flags, env, ours, service), env };
  };
}

/** What is in the file; nothing where there is none, or it is closed to this account. */
function readIfAllowed(file: string): ReadonlyMap<string, string> {
  try {
    return readSettingsFile(file);
  } catch {
    return new Map();
  }
}

/** Whether systemd put the file's variables into the environment, as the unit says. */
function isFrom(file: ReadonlyMap<string, string>, env: EnvironmentVariables): boolean {
  return file.size > 0 && [...file].every(([name, value]) => env[name] === value);
}

function replaced(
  env: EnvironmentVariables,
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): EnvironmentVariables {
  const others = Object.entries(env).filter(([name]) => !before.has(name));
  return Object.fromEntries([...others, ...now]);
}
