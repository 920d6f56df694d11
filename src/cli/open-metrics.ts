import type { Config } from "../config.ts";
import { listenForMetrics } from "../http/metrics.ts";
import type { Logger } from "../service/log/logger.ts";
import type { Metrics } from "../service/metrics/metrics.ts";
import { inMemory } from "../service/open-store.ts";

/** The metrics that a server keeps, if its settings ask for them. */
export interface OpenMetrics {
  readonly metrics: Metrics;
  /** Begins to answer whoever asks for them. Throws AppError when the address cannot be had. */
  listen(): void;
  close(): Promise<void>;
}

/** Makes the metrics that the settings ask for; the library is loaded only then, because its memory is not free. */
export async function openMetrics(config: Config, log: Logger): Promise<OpenMetrics | undefined> {
  const address = config.metrics;
  if (address === undefined) return undefined;
  const { Metrics } = await import("../service/metrics/metrics.ts");
  const isLocal = config.store === undefined && config.storeFile === undefined;
  const metrics = new Metrics({
    folder: isLocal && config.data !== inMemory ? config.data : undefined,
    droppedLogLines: () => log.droppedTotal,
  });
  let server: ReturnType<typeof listenForMetrics> | undefined;
  return {
    metrics,
    listen() {
      server = listenForMetrics(metrics, address);
    },
    async close() {
      await server?.stop();
      metrics.close();
    },
  };
}
