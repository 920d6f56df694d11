import type { Feature, Watcher } from "../../feature.ts";
import { listenAddress } from "../listen-address.ts";
import { parentOf } from "./processes/parent.ts";
import { processesSetting } from "./processes/setting.ts";

const metricsSetting = listenAddress(
  "metrics",
  "serve Prometheus metrics at this address, to anyone who can reach it; off by default",
);

/** What an operator needs beside the service, such as backups, the doctor and metrics. */
export const operateFeature: Feature = {
  name: "operate",
  settings: [metricsSetting, processesSetting],
  commands: [
    { path: "usage", load: async () => (await import("./usage/command.ts")).usageCommand },
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
      load: async () => (await import("./completion/completion.ts")).completionCommand,
    },
    {
      path: "__complete",
      load: async () => (await import("./completion/completion.ts")).completeCommand,
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
  async watch({ config, valueOf }, log, io) {
    const address = valueOf(metricsSetting);
    const parent = parentOf(io.env);
    const member = parent && (await import("./processes/watch.ts")).watchForParent(config, parent);
    if (address === undefined) return member;
    // Loaded only when it is wanted: the library's memory is not free.
    const { countForParent, watchForMetrics } = await import("./metrics/watch.ts");
    if (parent === undefined || member === undefined) {
      return watchForMetrics(config, address, log);
    }
    return both(member, countForParent(config, log, parent.answer));
  },
};

/** A watcher that does what two do. */
function both(first: Watcher, second: Watcher): Watcher {
  const observers = [first.requests, second.requests].filter((each) => each !== undefined);
  return {
    ...first,
    ...second,
    requests: { answered: (request) => observers.forEach((each) => each.answered(request)) },
    async close() {
      await first.close();
      await second.close();
    },
  };
}
