import { AggregatorRegistry } from "prom-client";
import type { ListenAddress } from "../../listen-address.ts";
import type { Supervisor } from "../processes/supervisor.ts";
import { listenForMetrics } from "./listener.ts";

/**
 * Serves the metrics of all processes at `address`, added up. Throws AppError when the address
 * cannot be had.
 */
export function listenForAll(supervisor: Supervisor, address: ListenAddress): AsyncDisposable {
  const server = listenForMetrics(async () => {
    const each = await Promise.all(supervisor.members.map((member) => member.metrics()));
    const all = AggregatorRegistry.aggregate(each.map((metrics) => [...metrics]));
    return { contentType: all.contentType, body: await all.metrics() };
  }, address);
  return { [Symbol.asyncDispose]: () => server.stop() };
}
