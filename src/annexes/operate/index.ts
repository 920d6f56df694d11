import { systemClock } from "../../domain/clock.ts";
import type { Annex } from "../../annex.ts";
import { listenAddress } from "../../setting-kinds.ts";
import { type Parent, parentOf } from "./processes/parent.ts";
import { processesSetting } from "./processes/setting.ts";
import { findService } from "./systemd/find-service.ts";

const metricsSetting = listenAddress(
  "metrics",
  "serve Prometheus metrics at this address, to anyone who can reach it; off by default",
);

/**
 * What an operator needs beside the service: usage, doctor, backups, the system's service,
 * completion, metrics.
 */
export const operateAnnex: Annex = {
  name: "operate",
  settings: [metricsSetting, processesSetting],
  findService,
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
      path: "licenses",
      load: async () => (await import("./licenses/licenses-command.ts")).licensesCommand,
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
  serve(loaded, io) {
    const count = loaded.valueOf(processesSetting);
    if (count === 1) return undefined;
    const address = loaded.valueOf(metricsSetting);
    return import("./processes/serve.ts").then(({ serveInProcesses }) =>
      serveInProcesses(loaded, io, { count, metrics: address }),
    );
  },
  async watch({ config, valueOf }, log) {
    const address = valueOf(metricsSetting);
    const parent = parentOf();
    const member = parent && {
      started: parent.ready,
      addresses: await sharedAddresses(parent, config.anonymousPerMinute),
      stop: parent.stop,
    };
    if (address === undefined) return member && { ...member, close: async () => {} };
    // Loaded only when it is wanted: the library's memory is not free.
    const { countForParent, watchForMetrics } = await import("./metrics/watch.ts");
    if (parent === undefined) return watchForMetrics(config, address, log);
    return { ...countForParent(config, log, parent.answer), ...member };
  },
};

/** Addresses without a key are counted by all processes together. */
async function sharedAddresses({ takeShared }: Parent, perMinute: number) {
  const { SharedAddressLimiter } = await import("./processes/shared-addresses.ts");
  return new SharedAddressLimiter(systemClock, perMinute, takeShared);
}
