import { readdir, readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import {
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  Registry,
} from "prom-client";
import type { AnsweredRequest } from "../../../http/handler.ts";
import type { JobKind } from "../../../domain/schedule.ts";
import type { StoreObserver } from "../../../service/open-store.ts";
import type { Database } from "../../../storage/database.ts";
import { type Job, jobsOf } from "../../jobs.ts";
import { freeBytes } from "../../../storage/sqlite/checks.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { descriptorsMax } from "../../../storage/system.ts";
import { version } from "../../../version.ts";

/** From a page that is kept in memory to a store that stands still. */
const latencyBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5];
const commitBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];
const batchBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 4_096];
/** How often the event loop is asked whether it is late. */
const lagResolutionMs = 20;

interface MetricsOptions {
  /** The data folder whose files are measured; undefined if the store is elsewhere. */
  readonly folder: string | undefined;
  /** The file with the certificate; undefined without HTTPS. */
  readonly tlsCert: string | undefined;
  readonly droppedLogLines: () => number;
}

/**
 * What the server does, as numbers for Prometheus. Only closed sets become labels: routes,
 * statuses, plans and reasons, never a path, a key or an address.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #registers = [this.#registry];
  readonly #requests = new Counter({
    name: "rehome_requests_total",
    help: "Requests that got a response.",
    labelNames: ["route", "method", "status"],
    registers: this.#registers,
  });
  readonly #latency = new Histogram({
    name: "rehome_request_duration_seconds",
    help: "Time from a request's headers to its response.",
    labelNames: ["route"],
    buckets: latencyBounds,
    registers: this.#registers,
  });
  readonly #admissions = new Counter({
    name: "rehome_admitted_total",
    help: "Requests that were within their key's limits, by plan.",
    labelNames: ["plan"],
    registers: this.#registers,
  });
  readonly #refusals = new Counter({
    name: "rehome_refused_total",
    help: "Requests that the guard refused, by plan (none without a key that was ever valid) and reason.",
    labelNames: ["plan", "reason"],
    registers: this.#registers,
  });
  /** What counts a request, by its labels: to look up a metric's child costs most. */
  readonly #counters = new Map<string, (ms: number) => void>();
  readonly #children = new Map<string, { inc(): void }>();
  readonly #stopWatching: () => void;
  /** What the store tells of its work. */
  readonly storeObserver = storeMetrics(this.#registers);

  constructor(options: MetricsOptions) {
    const build = new Gauge({
      name: "rehome_build_info",
      help: "Always 1; the labels say which build runs.",
      labelNames: ["version", "bun"],
      registers: this.#registers,
      aggregator: "max",
    });
    build.set({ version, bun: Bun.version }, 1);
    this.#stopWatching = watchProcess(this.#registry, options.droppedLogLines);
    placeMetrics(this.#registers, options);
  }

  /** Counts a request that got its response. */
  answered({ record, method, status, durationMs }: AnsweredRequest): void {
    const { route = "none", admission } = record;
    const make = () => this.#makeCounter(route, method, status);
    this.#counters.getOrInsertComputed(`${route} ${method} ${status}`, make)(durationMs);
    if (admission === undefined) return;
    const plan = admission.key?.plan ?? "none";
    const { detail, kind } = admission.refusal ?? {};
    const reason = (detail ?? kind)?.replaceAll(" ", "_");
    const child = () =>
      reason === undefined ? this.#admissions.labels(plan) : this.#refusals.labels(plan, reason);
    this.#children.getOrInsertComputed(`${plan} ${reason}`, child).inc();
  }

  /** Everything, in Prometheus's text format. */
  async text(): Promise<{ readonly contentType: string; readonly body: string }> {
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  /** Everything, as one process hands it to another that adds it up. */
  async json(): Promise<readonly object[]> {
    return this.#registry.getMetricsAsJSON();
  }

  /** Shows what the schedule of this store says, too; backups only where this service has them. */
  watchSchedule(db: Database, hasBackups: boolean): void {
    const isShown = ({ kind }: Job) => hasBackups || kind !== "backup";
    scheduleMetrics(this.#registers, async () =>
      (await jobsOf(db).catch(() => [])).filter(isShown),
    );
  }

  close(): void {
    this.#stopWatching();
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

/** Registers the process and its event loop. Returns what ends the watching. */
function watchProcess(registry: Registry, droppedLogLines: () => number): () => void {
  const registers = [registry];
  const counter = (metric: CounterConfiguration<string>) => new Counter({ ...metric, registers });
  const gauge = (metric: GaugeConfiguration<string>) => new Gauge({ ...metric, registers });
  counter({
    name: "rehome_log_lines_dropped_total",
    help: "Log lines that were dropped because the log took them too slowly.",
    collect() {
      this.reset();
      this.inc(droppedLogLines());
    },
  });
  counter({
    name: "process_cpu_seconds_total",
    help: "CPU time of the process, user and system.",
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1_000_000);
    },
  });
  gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory.",
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  gauge({
    name: "process_start_time_seconds",
    help: "When the process started, in Unix time.",
    // Of several processes the newest, so that each new start shows.
    aggregator: "max",
  }).set(performance.timeOrigin / 1000);
  gauge({
    name: "process_open_fds",
    help: "Open file descriptors.",
    async collect() {
      this.set((await readdir("/proc/self/fd").catch(() => [])).length);
    },
  });
  const max = descriptorsMax();
  const maximum = gauge({
    name: "process_max_fds",
    help: "Maximum number of open file descriptors.",
  });
  if (max !== Infinity) maximum.set(max);
  return lagMetrics(gauge);
}

/** Registers the store's files, the room beside them, and the certificate. */
function placeMetrics(registers: Registry[], { folder, tlsCert }: MetricsOptions): void {
  const gauge = (metric: GaugeConfiguration<string>) => new Gauge({ ...metric, registers });
  gauge(certificateOf(tlsCert));
  if (folder === undefined) return;
  gauge(filesOf(folder));
  gauge({
    name: "rehome_disk_free_bytes",
    help: "Free space on the disk of the data folder.",
    aggregator: "min",
    collect() {
      this.set(freeBytes(folder));
    },
  });
}

function certificateOf(file: string | undefined): GaugeConfiguration<string> {
  return {
    name: "rehome_certificate_expiry_timestamp_seconds",
    help: "When the certificate in its file ends, in Unix time; 0 without one.",
    aggregator: "max",
    async collect() {
      if (file === undefined) return;
      const { certificateEndMs } = await import("../../../cli/tls.ts");
      const text = await readFile(file, "utf8").catch(() => "");
      this.set(text === "" ? 0 : certificateEndMs(text) / 1000);
    },
  };
}

/** Registers when what the service does by itself last succeeded, and how often it failed. */
function scheduleMetrics(registers: Registry[], jobs: () => Promise<readonly Job[]>): void {
  const gauge = (kind: JobKind, metric: string, help: string, value: (job: Job) => number) => {
    const isPull = kind === "pull";
    return new Gauge({
      name: `rehome_${isPull ? "source" : "backup"}_${metric}`,
      help,
      labelNames: isPull ? ["source"] : [],
      registers,
      // All processes read the same rows.
      aggregator: "max",
      async collect() {
        this.reset();
        for (const job of await jobs()) {
          if (job.kind !== kind || job.paused !== null) continue;
          this.set(isPull ? { source: job.target } : {}, value(job));
        }
      },
    });
  };
  const last = "last_success_timestamp_seconds";
  const succeeded = ({ succeededAtMs }: Job) => (succeededAtMs ?? 0) / 1000;
  gauge("pull", last, "When a followed list was last pulled, in Unix time; 0 if never.", succeeded);
  gauge(
    "backup",
    last,
    "When the service last made a backup, in Unix time; 0 if never.",
    succeeded,
  );
  const failures = ({ failures }: Job) => failures;
  gauge("pull", "failures", "Failures in a row of a followed list.", failures);
  gauge("backup", "failures", "Failures in a row of the service's backups.", failures);
}

function filesOf(folder: string): GaugeConfiguration<string> {
  const files = Object.values(storeFiles(folder)).flatMap((path) => [path, `${path}-wal`]);
  return {
    name: "rehome_store_file_bytes",
    help: "Size of the store's files; those that end in -wal are the logs of what is not folded in yet.",
    labelNames: ["file"],
    // Several processes have the same files.
    aggregator: "max",
    async collect() {
      for (const path of files) {
        const found = await stat(path).catch(() => undefined);
        this.set({ file: basename(path) }, found?.size ?? 0);
      }
    },
  };
}

function lagMetrics(gauge: (metric: GaugeConfiguration<string>) => Gauge): () => void {
  const delay = monitorEventLoopDelay({ resolution: lagResolutionMs });
  delay.enable();
  const seconds = (nanoseconds: number) =>
    Number.isFinite(nanoseconds) ? nanoseconds / 1_000_000_000 : 0;
  gauge({
    name: "rehome_event_loop_lag_seconds",
    help: "How late the event loop was since the metrics were last asked for: median, 99 of 100, worst.",
    labelNames: ["at"],
    aggregator: "max",
    collect() {
      this.set({ at: "p50" }, seconds(delay.percentile(50)));
      this.set({ at: "p99" }, seconds(delay.percentile(99)));
      this.set({ at: "max" }, seconds(delay.max));
      delay.reset();
    },
  });
  return () => void delay.disable();
}
