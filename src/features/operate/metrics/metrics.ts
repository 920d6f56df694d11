import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { Counter, Gauge, type GaugeConfiguration, Histogram, Registry } from "prom-client";
import type { AnsweredRequest } from "../../../http/handler.ts";
import type { JobKind } from "../../../storage/schema.ts";
import type { Logger } from "../../../service/log.ts";
import type { StoreObserver } from "../../../cli/open.ts";
import type { Database } from "../../../storage/database.ts";
import { type Job, jobsOf } from "../../schedule/jobs.ts";
import { freeBytes } from "../../../storage/sqlite/folder.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { version } from "../../../version.ts";

/** From a page that is kept in memory to a store that stands still. */
const latencyBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5];
const commitBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];
const batchBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 4_096];
/** How often the event loop is asked whether it is late. */
const lagResolutionMs = 20;

/**
 * What the server does, as numbers for Prometheus. Only closed sets become labels: routes,
 * statuses, plans and reasons, never a path, a key or an address.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly #make = makersOf(this.registry);
  readonly #requests = this.#make.counter(
    "rehome_requests_total",
    "Requests that got a response.",
    ["route", "method", "status"],
  );
  readonly #latency = this.#make.histogram(
    "rehome_request_duration_seconds",
    "Time from a request's headers to its response.",
    latencyBounds,
    ["route"],
  );
  readonly #admissions = this.#make.counter(
    "rehome_admitted_total",
    "Requests that were within their key's limits, by plan.",
    ["plan"],
  );
  readonly #refusals = this.#make.counter(
    "rehome_refused_total",
    "Requests that the guard refused, by plan (none without a key that was ever valid) and reason.",
    ["plan", "reason"],
  );
  /** What counts a request, by its labels: to look up a metric's child costs most. */
  readonly #counters = new Map<string, (ms: number) => void>();
  readonly #children = new Map<string, { inc(): void }>();
  readonly #stopWatching: () => void;
  /** What the store tells of its work. */
  readonly storeObserver = storeMetrics(this.#make);

  /** `folder` is undefined if the store is no data folder, `tlsCert` without HTTPS. */
  constructor(
    folder: string | undefined,
    tlsCert: string | undefined,
    log: Pick<Logger, "droppedTotal">,
  ) {
    const { gauge } = this.#make;
    gauge("rehome_build_info", "Always 1; the labels say which build runs.", {
      labelNames: ["version", "bun"],
      aggregator: "max",
    }).set({ version, bun: Bun.version }, 1);
    this.#stopWatching = watchProcess(this.#make, log);
    certificateMetrics(this.#make, tlsCert);
    if (folder !== undefined) folderMetrics(this.#make, folder);
  }

  /** Counts a request that got its response. */
  answered({ context, method, status, durationMs }: AnsweredRequest): void {
    const { route = "none", admission } = context;
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

  /** Shows what the schedule of this store says, too; backups only where this service has them. */
  watchSchedule(db: Database, hasBackups: boolean): void {
    const isShown = ({ kind }: Job) => hasBackups || kind !== "backup";
    scheduleMetrics(this.#make, async () => (await jobsOf(db).catch(() => [])).filter(isShown));
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

/** What makes the metrics of a registry: each has a name, a help text, and what else it needs. */
function makersOf(registry: Registry) {
  const registers = [registry];
  return {
    counter: (name: string, help: string, labelNames: string[] = [], now?: () => number) =>
      new Counter({
        name,
        help,
        labelNames,
        registers,
        // One that somebody else counts is read when it is asked for.
        ...(now && {
          collect() {
            this.reset();
            this.inc(now());
          },
        }),
      }),
    gauge: (name: string, help: string, more: Partial<GaugeConfiguration<string>> = {}) =>
      new Gauge({ name, help, registers, ...more }),
    histogram: (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
  };
}
type Makers = ReturnType<typeof makersOf>;

function storeMetrics({ counter, histogram }: Makers): StoreObserver {
  const batch = histogram(
    "rehome_writer_batch_size",
    "Animals that were created in one commit.",
    batchBounds,
  );
  const commit = histogram(
    "rehome_writer_commit_seconds",
    "Time that a commit of creates took, the disk included.",
    commitBounds,
  );
  const busy = counter(
    "rehome_store_busy_total",
    "Times that another process held the lock of the counters, and the reservation was tried again.",
  );
  const bans = counter(
    "rehome_bans_total",
    "Bans that this process imposed on keys that kept sending after 429.",
  );
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
function watchProcess({ counter, gauge }: Makers, log: Pick<Logger, "droppedTotal">): () => void {
  const dropped = "Log lines that were dropped because the log took them too slowly.";
  counter("rehome_log_lines_dropped_total", dropped, [], () => log.droppedTotal);
  counter("process_cpu_seconds_total", "CPU time of the process, user and system.", [], () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000_000;
  });
  gauge("process_resident_memory_bytes", "Resident memory.", {
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  gauge("process_start_time_seconds", "When the process started, in Unix time.", {
    // Of several processes the newest, so that each new start shows.
    aggregator: "max",
  }).set(performance.timeOrigin / 1000);
  gauge("process_open_fds", "Open file descriptors.", {
    async collect() {
      this.set((await readdir("/proc/self/fd").catch(() => [])).length);
    },
  });
  const max = descriptorsMax();
  const maximum = gauge("process_max_fds", "Maximum number of open file descriptors.");
  if (max !== Infinity) maximum.set(max);
  return lagMetrics(gauge);
}

function certificateMetrics({ gauge }: Makers, tlsCert: string | undefined): void {
  const end = "When the certificate in its file ends, in Unix time; 0 without one.";
  gauge("rehome_certificate_expiry_timestamp_seconds", end, {
    aggregator: "max",
    async collect() {
      if (tlsCert === undefined) return;
      const { X509Certificate } = await import("node:crypto");
      // One that is being written ends nothing but this number.
      const endMs = await readFile(tlsCert)
        .then((cert) => new X509Certificate(cert).validToDate.getTime())
        .catch(() => 0);
      this.set(endMs / 1000);
    },
  });
}

/** Registers the store's files and the room beside them. */
function folderMetrics({ gauge }: Makers, folder: string): void {
  const files = Object.values(storeFiles(folder)).flatMap((path) => [path, `${path}-wal`]);
  const size =
    "Size of the store's files; those that end in -wal are the logs of what is not folded in yet.";
  gauge("rehome_store_file_bytes", size, {
    labelNames: ["file"],
    // Several processes have the same files.
    aggregator: "max",
    async collect() {
      for (const path of files) {
        const found = await stat(path).catch(() => undefined);
        this.set({ file: basename(path) }, found?.size ?? 0);
      }
    },
  });
  gauge("rehome_disk_free_bytes", "Free space on the disk of the data folder.", {
    aggregator: "min",
    collect() {
      if (existsSync(folder)) this.set(freeBytes(folder));
      else this.remove();
    },
  });
}

/** Registers when what the service does by itself last succeeded, and how often it failed. */
function scheduleMetrics(make: Makers, jobs: () => Promise<readonly Job[]>): void {
  const gauge = (kind: JobKind, metric: string, help: string, value: (job: Job) => number) => {
    const isPull = kind === "pull";
    make.gauge(`rehome_${isPull ? "source" : "backup"}_${metric}`, help, {
      labelNames: isPull ? ["source"] : [],
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
  for (const [kind, what] of [
    ["pull", "pull of a list"],
    ["backup", "backup of the service"],
  ] as const) {
    const succeeded = `When the last ${what} succeeded, in Unix time; 0 if never.`;
    gauge(kind, "last_success_timestamp_seconds", succeeded, ({ succeededAtMs }) => {
      return (succeededAtMs ?? 0) / 1000;
    });
    gauge(kind, "failures", `How often in a row the ${what} failed.`, ({ failures }) => failures);
  }
}

function lagMetrics(gauge: Makers["gauge"]): () => void {
  const delay = monitorEventLoopDelay({ resolution: lagResolutionMs });
  delay.enable();
  const seconds = (nanoseconds: number) =>
    Number.isFinite(nanoseconds) ? nanoseconds / 1_000_000_000 : 0;
  gauge(
    "rehome_event_loop_lag_seconds",
    "How late the event loop was since the metrics were last asked for: median, 99 of 100, worst.",
    {
      labelNames: ["at"],
      aggregator: "max",
      collect() {
        this.set({ at: "p50" }, seconds(delay.percentile(50)));
        this.set({ at: "p99" }, seconds(delay.percentile(99)));
        this.set({ at: "max" }, seconds(delay.max));
        delay.reset();
      },
    },
  );
  return () => void delay.disable();
}

/** How many descriptors this process may have, or Infinity (proc(5), /proc/self/limits). */
function descriptorsMax(): number {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const soft = /^Max open files +(\d+)/m.exec(limits)?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
