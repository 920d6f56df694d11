import { type AnySetting, dataFolderOf, type LoadedConfig } from "../../config.ts";
import { parseDuration } from "../duration.ts";
import type { CommandEntry, Feature, ServerHooks } from "../../feature.ts";
import type { Logger } from "../../service/log.ts";
import { inMemory } from "../../storage/sqlite/files.ts";
import { gone } from "../gone.ts";
import { warns } from "../../cli/io.ts";
import { backupSettings, metricsSetting, processesSetting } from "./settings.ts";
import { openFolderWarning } from "./permissions.ts";
import { hooksForParent } from "./processes/parent.ts";

const commands: readonly CommandEntry[] = [
  { path: "config", load: async () => (await import("./config.ts")).configCommand },
  { path: "doctor", load: async () => (await import("./doctor/command.ts")).doctorCommand },
  { path: "backup", load: async () => (await import("./backup/backup.ts")).backupCommand },
  { path: "restore", load: async () => (await import("./backup/restore.ts")).restoreCommand },
  { path: "health", load: async () => (await import("./health.ts")).healthCommand },
  { path: "service", load: async () => (await import("./systemd/command.ts")).serviceCommand },
  {
    path: "licenses",
    load: async () => (await import("./licenses/licenses-command.ts")).licensesCommand,
  },
  gone("usage", "rehome keys list, or for one key: rehome keys show KEY --days N"),
  gone("migrate", "rehome serve: the start of the service updates the schema."),
  gone(
    "completion",
    "rehome --help, or --help behind a command. No shell completes them any more.",
  ),
];

/** True for a database server, which has tools of its own for its backups. */
const isDatabase = ({ config }: LoadedConfig) => dataFolderOf(config) === undefined;

/** What counts for the metrics, in a process that serves alone or is one of several. */
async function metricsOrParent(
  loaded: LoadedConfig,
  log: Logger,
  member: ReturnType<typeof hooksForParent>,
): Promise<ServerHooks | undefined> {
  const address = loaded.valueOf(metricsSetting);
  if (address === undefined) return member;
  // Loaded only when it is wanted: the library's memory is not free.
  const { countForParent, metricsHooks } = await import("./metrics/serve.ts");
  if (member === undefined) return metricsHooks(loaded, address, log);
  return { ...member, ...countForParent(loaded, log, member.answer) };
}

/** What an operator needs beside the service, such as backups, the doctor and metrics. */
export const operateFeature: Feature = {
  name: "operate",
  settings: [metricsSetting, processesSetting, ...Object.values<AnySetting>(backupSettings)],
  commands,
  jobs(loaded) {
    const { valueOf } = loaded;
    const place = valueOf(backupSettings.to);
    if (place === undefined || isDatabase(loaded)) return [];
    return [
      {
        kind: "backup",
        words: () => ["backup", "--scheduled"],
        everyMs: parseDuration(valueOf(backupSettings.every)),
        place,
        async ended(problem, signal) {
          const url = valueOf(backupSettings.ping);
          if (url === undefined) return;
          await (await import("./backup/ping.ts")).ping(url, problem === null, signal);
        },
      },
    ];
  },
  serve(loaded, io) {
    const count = loaded.valueOf(processesSetting);
    if (count === 1) return undefined;
    return import("./processes/serve.ts").then(({ serveInProcesses }) =>
      serveInProcesses(loaded, io, count, loaded.valueOf(metricsSetting)),
    );
  },
  async hooks({ loaded, log, io, stop }) {
    const { valueOf } = loaded;
    const member = hooksForParent(io.env, stop);
    if (valueOf(backupSettings.to) !== undefined) {
      if (!isDatabase(loaded)) {
        await (await import("./backup/find.ts")).requireBackups(loaded, io);
      } else if (warns(io.env)) {
        log.warn("--backup-to is for a data folder; back up the database with pg_dump.");
      }
    }
    const hooks = await metricsOrParent(loaded, log, member);
    const folder = dataFolderOf(loaded.config);
    if (folder === undefined || folder === inMemory || !warns(io.env)) return hooks;
    return {
      ...hooks,
      onStart(db) {
        const warning = openFolderWarning(folder);
        if (warning !== undefined) log.warn(warning);
        return hooks?.onStart?.(db);
      },
    };
  },
};
