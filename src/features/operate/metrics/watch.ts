import type { Watcher } from "../../../feature.ts";
import { type Config, dataFolderOf } from "../../../config.ts";
import type { ListenAddress } from "../../listen-address.ts";
import type { Logger } from "../../../service/log/logger.ts";
import { inMemory } from "../../../storage/sqlite/files.ts";
import { listenForMetrics, type MetricsListener } from "./listener.ts";
import { Metrics } from "./metrics.ts";

/** Counts what the service does and shows it at `address`, once it listens there. */
export function watchForMetrics(config: Config, address: ListenAddress, log: Logger): Watcher {
  const metrics = metricsOf(config, log);
  let server: MetricsListener | undefined;
  return {
    ...counting(metrics),
    listen() {
      server = listenForMetrics(() => metrics.text(), address);
      return server.listening;
    },
    async close() {
      await server?.stop();
      metrics.close();
    },
  };
}

/** Counts what this process does for its supervisor, which asks for it through `answer`. */
export function countForParent(
  config: Config,
  log: Logger,
  answer: (metrics: () => Promise<readonly object[]>) => void,
): Watcher {
  const metrics = metricsOf(config, log);
  answer(() => metrics.json());
  return counting(metrics);
}

function metricsOf(config: Config, log: Logger): Metrics {
  const data = dataFolderOf(config);
  return new Metrics({
    folder: data === inMemory ? undefined : data,
    droppedLogLines: () => log.output.droppedTotal,
  });
}

function counting(metrics: Metrics): Watcher {
  return {
    requests: metrics,
    store: metrics.storeObserver,
    close: async () => metrics.close(),
  };
}
