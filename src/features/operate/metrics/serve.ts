/** Where Prometheus reads what the service does: of one process, or of all together. */
import { AggregatorRegistry, type Registry } from "prom-client";
import { localHost } from "../../../domain/address.ts";
import { dataFolderOf, type LoadedConfig } from "../../../config.ts";
import { AppError } from "../../../domain/errors.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import type { Listening, ServerHooks } from "../../../feature.ts";
import type { AnsweredRequest } from "../../../http/handler.ts";
import { errorBody, jsonType, otherMethod, refusal, statusOf } from "../../../http/errors.ts";
import type { Refusal } from "../../../service/admission.ts";
import type { Logger } from "../../../service/log.ts";
import { inMemory } from "../../../storage/sqlite/files.ts";
import type { Database } from "../../../storage/database.ts";
import { type ListenAddress, backupSettings } from "../settings.ts";
import type { Member, Supervisor } from "../processes/supervisor.ts";
import { Metrics } from "./metrics.ts";

/** Everybody who reaches the address reads everything there. */
const path = "/metrics";
const methods = "GET, HEAD";
/** How long a process may take to report. Prometheus waits 10 s for all of them. */
const reportMaxMs = 2_000;

/** Counts what the service does, and shows it at `address` once it listens there. */
export function metricsHooks(
  loaded: LoadedConfig,
  address: ListenAddress,
  log: Logger,
): ServerHooks {
  const { metrics, ...hooks } = counting(loaded, log);
  let server: MetricsServer | undefined;
  return {
    ...hooks,
    onStart(db) {
      hooks.onStart(db);
      server = serveMetrics(() => metrics.registry, address);
      return server.listening;
    },
    async onStop() {
      await server?.stop();
      metrics.close();
    },
  };
}

/** Counts what this process does for its supervisor, which asks for it through `report`. */
export function countForParent(
  loaded: LoadedConfig,
  log: Logger,
  report: (metrics: () => Promise<readonly object[]>) => void,
): ServerHooks {
  const { metrics, ...hooks } = counting(loaded, log);
  report(() => metrics.registry.getMetricsAsJSON());
  return { ...hooks, onStop: async () => metrics.close() };
}

function counting({ config, valueOf }: LoadedConfig, log: Logger) {
  const data = dataFolderOf(config);
  const metrics = new Metrics(data === inMemory ? undefined : data, config.tlsCert, log);
  return {
    metrics,
    onResponse: (request: AnsweredRequest) => metrics.answered(request),
    store: metrics.storeObserver,
    onStart(db: Database): undefined {
      metrics.watchSchedule(db, valueOf(backupSettings.to) !== undefined);
    },
  };
}

/**
 * Serves the metrics of all processes at `address`, added up. The counters of a process that ended
 * or hangs stay as they were last read. Throws AppError when the address cannot be used.
 */
export function serveMetricsOfAll(supervisor: Supervisor, address: ListenAddress): MetricsServer {
  type Snapshot = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;
  const last = new Map<Member, Snapshot>();
  let ended: object[] = [];
  return serveMetrics(async () => {
    const read = async (member: Member) => {
      const late = Bun.sleep(reportMaxMs).then(() => []);
      const metrics = (await Promise.race([member.metrics(), late])) as Snapshot;
      if (metrics.length > 0) last.set(member, metrics);
    };
    await Promise.all(supervisor.members.map(read));
    for (const [member, metrics] of last) {
      if (supervisor.members.includes(member)) continue;
      last.delete(member);
      // Prometheus takes a counter that falls for a restart, and all that is left of it for new.
      const counts = metrics.filter(({ type }) => String(type) !== "gauge");
      ended = AggregatorRegistry.aggregate([ended, counts]).getMetricsAsArray();
    }
    return AggregatorRegistry.aggregate([...last.values(), ended]);
  }, address);
}

/** Where metrics are served, until `stop`. */
interface MetricsServer {
  readonly listening: Listening;
  stop(): Promise<void>;
}

function serveMetrics(
  all: () => Registry | Promise<Registry>,
  { host, port }: ListenAddress,
): MetricsServer {
  const answer = async ({ method, url }: Request): Promise<Response> => {
    if (new URL(url).pathname !== path) {
      return refused(refusal("not_found", `The metrics are at ${path}.`));
    }
    if (method !== "GET" && method !== "HEAD") {
      return refused(otherMethod(method, methods), { Allow: methods });
    }
    const registry = await all();
    return new Response(await registry.metrics(), {
      headers: { "Content-Type": registry.contentType },
    });
  };
  try {
    const server = Bun.serve({
      hostname: host,
      port,
      development: false,
      reusePort: false,
      fetch: answer,
    });
    const url = `http://${localHost(host)}:${server.port}${path}`;
    return { listening: { title: "Metrics", url, more: [] }, stop: () => server.stop(true) };
  } catch (error) {
    throw new AppError(
      "unavailable",
      `Cannot listen for metrics on ${host} port ${port}: ${reasonOf(error)}.`,
      { cause: error, hint: "Choose another address with --metrics." },
    );
  }
}

function refused(why: Refusal, more: Readonly<Record<string, string>> = {}): Response {
  const headers = { "Content-Type": jsonType, ...more };
  return Response.json(errorBody(why), { status: statusOf[why.kind], headers });
}
