import type { Annex } from "../../annex.ts";
import { listenAddress } from "../../setting-kinds.ts";

const metricsSetting = listenAddress(
  "metrics",
  "serve Prometheus metrics there, to whoever reaches that address; off if not given",
);

/** What an operator needs beside the service: usage, doctor, backups, the system's service, completion, metrics. */
export const operateAnnex: Annex = {
  name: "operate",
  settings: [metricsSetting],
  commands: [
    { path: "usage", load: async () => (await import("./usage/index.ts")).usageCommand },
    { path: "doctor", load: async () => (await import("./doctor/command.ts")).doctorCommand },
    {
      path: "backup",
      load: async () => (await import("./backup/backup-command.ts")).backupCommand,
    },
    {
      path: "restore",
      load: async () => (await import("./backup/restore-command.ts")).restoreCommand,
    },
    { path: "health", load: async () => (await import("./health.ts")).healthCommand },
    {
      path: "service",
      load: async () => (await import("./systemd/service-command.ts")).serviceCommand,
    },
    {
      path: "completion",
      load: async () => (await import("./completion/index.ts")).completionCommand,
    },
    {
      path: "__complete",
      load: async () => (await import("./completion/index.ts")).completeCommand,
      hidden: true,
    },
  ],
  async watch({ config, valueOf }, log) {
    const address = valueOf(metricsSetting);
    if (address === undefined) return undefined;
    // Loaded only when it is wanted: the library's memory is not free.
    const { watchForMetrics } = await import("./metrics/watch.ts");
    return watchForMetrics(config, address, log);
  },
};
