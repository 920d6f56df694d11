import { readdir, stat } from "node:fs/promises";
import { basename } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import {
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  type Registry,
} from "prom-client";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { descriptorsMax } from "../../../storage/system.ts";

/** How often the event loop is asked whether it is late. */
const lagResolutionMs = 20;

export interface MetricsOptions {
  /** The data folder whose files are measured; undefined if the store is elsewhere. */
  readonly folder: string | undefined;
  readonly droppedLogLines: () => number;
}

/** Registers the process, its event loop and the store's files. Returns what ends the watching. */
export function watchProcess(registry: Registry, options: MetricsOptions): () => void {
  processMetrics(registry);
  descriptorMetrics(registry);
  logMetrics(registry, options.droppedLogLines);
  if (options.folder !== undefined) fileMetrics(registry, options.folder);
  return lagMetrics(registry);
}

function gauge(registry: Registry, metric: GaugeConfiguration<string>): Gauge {
  return new Gauge({ ...metric, registers: [registry] });
}

function counter(registry: Registry, metric: CounterConfiguration<string>): Counter {
  return new Counter({ ...metric, registers: [registry] });
}

function logMetrics(registry: Registry, droppedLogLines: () => number): void {
  counter(registry, {
    name: "rehome_log_lines_dropped_total",
    help: "Log lines that were dropped because the log took them too slowly.",
    collect() {
      this.reset();
      this.inc(droppedLogLines());
    },
  });
}

function processMetrics(registry: Registry): void {
  counter(registry, {
    name: "process_cpu_seconds_total",
    help: "CPU time of the process, user and system.",
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1_000_000);
    },
  });
  gauge(registry, {
    name: "process_resident_memory_bytes",
    help: "Resident memory.",
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  const started = gauge(registry, {
    name: "process_start_time_seconds",
    help: "When the process started, in Unix time.",
    // Of several processes the newest, so that each new start shows.
    aggregator: "max",
  });
  started.set(performance.timeOrigin / 1000);
}

function descriptorMetrics(registry: Registry): void {
  gauge(registry, {
    name: "process_open_fds",
    help: "Open file descriptors.",
    async collect() {
      const open = await readdir("/proc/self/fd").catch(() => []);
      this.set(open.length);
    },
  });
  gauge(registry, {
    name: "process_max_fds",
    help: "Maximum number of open file descriptors.",
    collect() {
      const max = descriptorsMax();
      if (max !== Infinity) this.set(max);
    },
  });
}

function fileMetrics(registry: Registry, folder: string): void {
  const files = Object.values(storeFiles(folder)).flatMap((path) => [path, `${path}-wal`]);
  gauge(registry, {
    name: "rehome_store_file_bytes",
    help: "Size of the store's files; those that end in -wal are the logs of what is not folded in yet.",
    labelNames: ["file"],
    // Several processes have the same files.
    aggregator: "max",
    async collect() {
      for (const path of files) {
        const size = await stat(path).then(
          (found) => found.size,
          () => 0,
        );
        this.set({ file: basename(path) }, size);
      }
    },
  });
}

function lagMetrics(registry: Registry): () => void {
  const delay = monitorEventLoopDelay({ resolution: lagResolutionMs });
  delay.enable();
  const seconds = (nanoseconds: number) =>
    Number.isFinite(nanoseconds) ? nanoseconds / 1_000_000_000 : 0;
  gauge(registry, {
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
