import type { ListenAddress } from "../listen-address.ts";
import { AppError } from "../../../domain/errors.ts";
import { announce, type Io, untilAborted } from "../../../cli/io.ts";
import { memberVariable } from "../../../cli/member.ts";
import { openLog } from "../../../cli/serve.ts";
import { dataFolderOf, settings, type AnySetting, type LoadedConfig } from "../../../config.ts";
import { inMemory } from "../../../storage/sqlite/files.ts";
import { childEnvironment } from "../../schedule/child.ts";
import { processesSetting } from "../index.ts";
import { Supervisor } from "./supervisor.ts";

/**
 * Runs the service in `count` processes at one address until it is asked to stop. SIGHUP goes to
 * all of them; SIGUSR2 replaces them by the executable as it is on the disk. Throws AppError when
 * the first one does not start.
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
    log,
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
    if (metrics !== undefined) {
      // Loaded only when it is wanted: the library's memory is not free.
      const { serveMetricsOfAll } = await import("../metrics/serve.ts");
      const { listening } = serveMetricsOfAll(supervisor, metrics);
      void announce(io, `  Metrics ${listening.url}\n`);
    }
    log.info(`${count} processes serve.`);
    await untilAborted(io.hearSignals().stop);
  } finally {
    process.off("SIGUSR2", handOver);
    await supervisor.stop();
    await log.close();
  }
}

/**
 * A process's variables: settings of only one process are the first one's. Each has its share of
 * what addresses without a key may ask, so that no process asks another.
 */
function environmentOf(
  loaded: LoadedConfig,
  { env }: Io,
  slot: number,
  port: number | undefined,
): Record<string, string | undefined> {
  const onlyFirst = slot === 0 ? [] : loaded.all.filter(({ setting }) => setting.firstOnly);
  const count = loaded.valueOf(processesSetting);
  const share = Math.max(1, Math.floor(loaded.config.anonymousPerMinute / count));
  const changed = new Map<AnySetting, string | undefined>([
    ...onlyFirst.map(({ setting }) => [setting, undefined] as const),
    [processesSetting, "1"],
    [settings.anonymousPerMinute, String(share)],
  ]);
  if (port !== undefined) changed.set(settings.port, String(port));
  return { ...childEnvironment(loaded, env, changed), [memberVariable]: String(slot) };
}
