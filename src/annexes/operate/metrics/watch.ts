import type { Watcher } from "../../../annex.ts";
import type { Config } from "../../../config.ts";
import type { ListenAddress } from "../../../domain/address.ts";
import type { Logger } from "../../../service/log/logger.ts";
import { inMemory } from "../../../service/open-store.ts";
import { listenForMetrics } from "./listener.ts";
import { Metrics } from "./metrics.ts";

/** Counts what the service does and shows it at `address`, once it listens there. */
export function watchForMetrics(config: Config, address: ListenAddress, log: Logger): Watcher {
  const isLocal = config.store === undefined && config.storeFile === undefined;
  const metrics = new Metrics({
    folder: isLocal && config.data !== inMemory ? config.data : undefined,
    droppedLogLines: () => log.droppedTotal,
  });
  let server: ReturnType<typeof listenForMetrics> | undefined;
  return {
    requests: metrics,
    store: metrics.storeObserver,
    listen() {
      server = listenForMetrics(metrics, address);
    },
    async close() {
      await server?.stop();
      metrics.close();
    },
  };
}
