import { AggregatorRegistry, type Registry } from "prom-client";
import type { ListenAddress } from "../../listen-address.ts";
import type { Member } from "../processes/member.ts";
import type { Supervisor } from "../processes/supervisor.ts";
import { listenForMetrics, type MetricsListener } from "./listener.ts";

type Metrics = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

/** How long a process may take to answer. Prometheus waits 10 s for all of them. */
const answerMaxMs = 2_000;

/**
 * Serves the metrics of all processes at `address`, added up. The counters of a process that ended
 * or hangs stay as they were last read. Throws AppError when the address cannot be had.
 */
export function listenForAll(
  supervisor: Supervisor,
  address: ListenAddress,
): MetricsListener & AsyncDisposable {
  const last = new Map<Member, Metrics>();
  let ended: object[] = [];
  const server = listenForMetrics(async () => {
    const read = async (member: Member) => {
      const late = Bun.sleep(answerMaxMs).then(() => []);
      const metrics = (await Promise.race([member.metrics(), late])) as Metrics;
      if (metrics.length > 0) last.set(member, metrics);
    };
    await Promise.all(supervisor.members.map(read));
    for (const [member, metrics] of last) {
      if (supervisor.members.includes(member)) continue;
      last.delete(member);
      // A counter that falls is taken for a restart, and all that is left of it for new.
      const counts = metrics.filter(({ type }) => String(type) !== "gauge");
      ended = AggregatorRegistry.aggregate([ended, counts]).getMetricsAsArray();
    }
    const all = AggregatorRegistry.aggregate([...last.values(), ended]);
    return { contentType: all.contentType, body: await all.metrics() };
  }, address);
  return { ...server, [Symbol.asyncDispose]: () => server.stop() };
}
