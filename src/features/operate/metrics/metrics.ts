import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { version } from "../../../version.ts";
import type { AnsweredRequest } from "../../../http/handler.ts";
import type { StoreObserver } from "../../../service/open-store.ts";
import { watchProcess, type MetricsOptions } from "./process.ts";

/** From a page that is kept in memory to a store that stands still. */
const latencyBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5];
const commitBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];
const batchBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 4_096];

/**
 * What the server does, as numbers for Prometheus. Only closed sets become labels: routes,
 * statuses, plans and reasons, never a path, a key or an address.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #routes = new Map<string | undefined, Map<string, ((ms: number) => void)[]>>();
  readonly #admitted = new Map<string, { inc(): void }>();
  readonly #refused = new Map<string, { inc(): void }>();
  readonly #requests: Counter<"route" | "method" | "status">;
  readonly #latency: Histogram<"route">;
  readonly #admissions: Counter<"plan">;
  readonly #refusals: Counter<"plan" | "reason">;
  readonly #stopWatching: () => void;
  /** What the store tells of its work. */
  readonly storeObserver: StoreObserver;

  constructor(options: MetricsOptions) {
    const registers = [this.#registry];
    this.#requests = new Counter({
      name: "rehome_requests_total",
      help: "Requests answered.",
      labelNames: ["route", "method", "status"],
      registers,
    });
    this.#latency = new Histogram({
      name: "rehome_request_duration_seconds",
      help: "Time from a request's headers to its answer.",
      labelNames: ["route"],
      buckets: latencyBounds,
      registers,
    });
    this.#admissions = new Counter({
      name: "rehome_admitted_total",
      help: "Requests that were within their key's limits, by plan.",
      labelNames: ["plan"],
      registers,
    });
    this.#refusals = new Counter({
      name: "rehome_refused_total",
      help: "Requests that the guard refused, by plan (none without a key that was ever valid) and reason.",
      labelNames: ["plan", "reason"],
      registers,
    });
    this.storeObserver = storeMetrics(registers);
    const build = new Gauge({
      name: "rehome_build_info",
      help: "Always 1; the labels say which build runs.",
      labelNames: ["version", "bun"],
      registers,
      aggregator: "max",
    });
    build.set({ version, bun: Bun.version }, 1);
    this.#stopWatching = watchProcess(this.#registry, options);
  }

  /** Counts an answered request. To look a metric's child up costs most, so it happens once. */
  answered({ record, method, status, durationMs }: AnsweredRequest): void {
    this.#counter(record.route, method, status)(durationMs);
    const { admission } = record;
    if (admission === undefined) return;
    const plan = admission.key?.plan ?? "none";
    if (admission.refusal === undefined) {
      this.#admitted.getOrInsertComputed(plan, () => this.#admissions.labels(plan)).inc();
    } else {
      const { detail, kind } = admission.refusal;
      const reason = (detail ?? kind).replaceAll(" ", "_");
      const child = () => this.#refusals.labels(plan, reason);
      this.#refused.getOrInsertComputed(`${plan} ${reason}`, child).inc();
    }
  }

  /** Everything, in Prometheus's text format. */
  async text(): Promise<{ readonly contentType: string; readonly body: string }> {
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  /** Everything, as one process hands it to another that adds it up. */
  async json(): Promise<readonly object[]> {
    return this.#registry.getMetricsAsJSON();
  }

  close(): void {
    this.#stopWatching();
  }

  #counter(route: string | undefined, method: string, status: number): (ms: number) => void {
    const methods = this.#routes.getOrInsertComputed(route, () => new Map());
    const statuses = methods.getOrInsertComputed(method, () => []);
    return (statuses[status] ??= this.#makeCounter(route ?? "none", method, status));
  }

  #makeCounter(route: string, method: string, status: number): (ms: number) => void {
    const count = this.#requests.labels(route, method, String(status));
    const latency = this.#latency.labels(route);
    return (ms) => {
      count.inc();
      latency.observe(ms / 1000);
    };
  }
}

function storeMetrics(registers: Registry[]): StoreObserver {
  const batch = new Histogram({
    name: "rehome_writer_batch_size",
    help: "Animals that were created in one commit.",
    buckets: batchBounds,
    registers,
  });
  const commit = new Histogram({
    name: "rehome_writer_commit_seconds",
    help: "Time that a commit of creates took, the disk included.",
    buckets: commitBounds,
    registers,
  });
  const busy = new Counter({
    name: "rehome_store_busy_total",
    help: "Times that another process held the lock of the counters, and the reservation was tried again.",
    registers,
  });
  const bans = new Counter({
    name: "rehome_bans_total",
    help: "Bans that this process imposed on keys that kept sending after 429.",
    registers,
  });
  return {
    onCommit({ batchSize, commitMs }) {
      batch.observe(batchSize);
      commit.observe(commitMs / 1000);
    },
    onBusy: () => busy.inc(),
    onBan: () => bans.inc(),
  };
}
