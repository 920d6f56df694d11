import { minuteMs } from "../domain/clock.ts";
import type { Logger } from "./log.ts";

/**
 * What has no lines of its own, counted by kind: one line when the minute ends. Kinds are a closed
 * list, so that no caller adds to the line.
 */
export class MinuteCounts {
  readonly #log: Logger;
  readonly #level: "info" | "warn";
  #counts = new Map<string, number>();
  #minute = Number.NaN;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(log: Logger, level: "info" | "warn") {
    this.#log = log;
    this.#level = level;
    log.beforeClose(() => this.#end());
  }

  /** Counts one, and returns how many of its kind this minute has. */
  count(kind: string): number {
    const nowMs = this.#log.clock();
    const minute = Math.floor(nowMs / minuteMs);
    if (minute !== this.#minute) {
      this.#end();
      this.#minute = minute;
    }
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    this.#timer ??= setTimeout(() => this.#end(), minuteMs - (nowMs % minuteMs)).unref();
    return count;
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#counts.size === 0) return;
    const time = this.#log.now();
    const counts = [...this.#counts].toSorted(([, a], [, b]) => b - a);
    this.#counts = new Map();
    if (!this.#log.isOn(this.#level)) return;
    this.#log.write(
      this.#log.format === "json"
        ? JSON.stringify({
            time,
            level: this.#level,
            message: "counts",
            counts: Object.fromEntries(counts),
          })
        : `${time} ${this.#level} counts: ${counts.map(([kind, count]) => `${kind} ${count}`).join(", ")}`,
    );
  }
}
