import type { ListenAddress } from "../../listen-address.ts";
import { systemClock } from "../../../domain/clock.ts";
import { AppError } from "../../../domain/errors.ts";
import { announce, type Io, untilAborted } from "../../../cli/io.ts";
import { openLog } from "../../../cli/open-log.ts";
import {
  dataFolderOf,
  settings,
  variableOf,
  type AnySetting,
  type LoadedConfig,
} from "../../../config.ts";
import { inMemory } from "../../../storage/sqlite/files.ts";
import { MinuteBuckets } from "../../../service/anonymous.ts";
import { otherWarnsVariable } from "./messages.ts";
import { processesSetting } from "./setting.ts";
import { Supervisor } from "./supervisor.ts";

/**
 * Runs the service in `count` processes at one address until it is asked to stop. SIGHUP goes to
 * all of them; SIGUSR2 replaces them by the executable as it is on the disk. Throws AppError when
 * the first one does not start.
 */
export async function serveInProcesses(
  loaded: LoadedConfig,
  io: Io,
  { count, metrics }: { count: number; metrics: ListenAddress | undefined },
): Promise<void> {
  if (dataFolderOf(loaded.config) === inMemory) {
    throw new AppError(
      "invalid_request",
      "Each process would have a catalogue of its own in memory.",
      { hint: "Name a folder with --data." },
    );
  }
  const log = openLog(loaded.config, io);
  const supervisor = new Supervisor({
    count,
    shutdownTimeoutMs: loaded.config.shutdownTimeoutSeconds * 1000,
    log,
    buckets: new MinuteBuckets(systemClock, loaded.config.anonymousPerMinute),
    envOf: (slot, port) => environmentOf(loaded, io, slot, port),
  });
  const started = Promise.withResolvers<void>();
  // A signal that nobody hears ends the process. One that comes early waits for the start.
  const handOver = () => void started.promise.then(() => supervisor.handOver());
  process.on("SIGUSR2", handOver);
  io.hearSignals().onReload(() => void started.promise.then(() => supervisor.reload()));
  try {
    if (!(await supervisor.start())) {
      throw new AppError("unavailable", "The service did not start: its first process ended.");
    }
    started.resolve();
    await using listener = metrics && (await openMetrics(supervisor, metrics));
    if (listener !== undefined) void announce(io, `  Metrics ${listener.listening.url}\n`);
    log.info(`${count} processes serve.`);
    await untilAborted(io.hearSignals().stop);
  } finally {
    process.off("SIGUSR2", handOver);
    await supervisor.stop();
    await log.close();
  }
}

async function openMetrics(supervisor: Supervisor, address: ListenAddress) {
  // Loaded only when it is wanted: the library's memory is not free.
  const { listenForAll } = await import("../metrics/all-processes.ts");
  return listenForAll(supervisor, address);
}

/** A process's variables, with its settings: a process list shows flags to everybody. */
function environmentOf(
  loaded: LoadedConfig,
  { env }: Io,
  slot: number,
  port: number | undefined,
): Record<string, string | undefined> {
  const { all } = loaded;
  const given = all
    .filter(({ text, value }) => text !== undefined && value !== undefined)
    .filter(({ setting }) => slot === 0 || setting.firstOnly !== true)
    .map(({ setting, text }) => [variableOf(setting), text]);
  const known = new Set(all.map(({ setting }) => variableOf(setting)));
  const others = Object.entries(env).filter(([name]) => !known.has(name));
  const set = (setting: AnySetting, text: string) => [variableOf(setting), text] as const;
  return Object.fromEntries([
    ...others,
    ...given,
    set(processesSetting, "1"),
    set(settings.reusePort, "true"),
    ...(slot === 0 ? [] : [[otherWarnsVariable, "1"] as const]),
    ...(port === undefined ? [] : [set(settings.port, String(port))]),
  ]) as Record<string, string | undefined>;
}
