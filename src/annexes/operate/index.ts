import type { Annex } from "../../annex.ts";

/** What an operator needs beside the service: usage, doctor, backups, the system's service, completion, metrics. */
export const operateAnnex: Annex = {
  name: "operate",
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
  async watch({ config }, log) {
    if (config.metrics === undefined) return undefined;
    // Loaded only when it is wanted: the library's memory is not free.
    const { watchForMetrics } = await import("./metrics/watch.ts");
    return watchForMetrics(config, config.metrics, log);
  },
};
