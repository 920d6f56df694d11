import { minuteMs, type Clock } from "../../domain/clock.ts";
import type { AnsweredRequest, RequestObserver } from "../../http/door.ts";
import { statusOf } from "../../http/errors.ts";

/** Bounds in milliseconds between which latencies are told apart; the last class has none. */
const latencyBoundsMs = [
  0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 25, 50, 100, 250, 450, 1_000, 2_500,
] as const;
const minutes = 60;

interface Minute {
  requests: number;
  refused: number;
  failed: number;
  readonly latencies: number[];
}

/** What the service did in the last hour. */
export interface Traffic {
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
  /**
   * The latency in milliseconds that half of the requests, and 99 of 100, did not exceed; 0 where
   * there were none.
   */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests in each minute, oldest first; the running one is the last. */
  readonly perMinute: readonly number[];
  readonly upSeconds: number;
  /** True if other processes serve beside this one, whose requests are not counted here. */
  readonly isPart: boolean;
}

/** Counts what the service answers, for an hour, in some 10 KiB. */
export class TrafficMeter implements RequestObserver {
  readonly #clock: Clock;
  readonly #isPart: boolean;
  readonly #startMs: number;
  readonly #ring: Minute[] = Array.from({ length: minutes }, emptyMinute);
  #minute: number;

  constructor(clock: Clock, isPart = false) {
    this.#clock = clock;
    this.#isPart = isPart;
    this.#startMs = clock();
    this.#minute = Math.floor(this.#startMs / minuteMs);
  }

  answered({ status, durationMs }: AnsweredRequest): void {
    this.#roll();
    const current = this.#ring.at(-1);
    if (current === undefined) return;
    current.requests += 1;
    if (status === statusOf.rate_limited) current.refused += 1;
    if (status >= statusOf.internal_error) current.failed += 1;
    const found = latencyBoundsMs.findIndex((bound) => durationMs <= bound);
    const at = found < 0 ? latencyBoundsMs.length : found;
    current.latencies[at] = (current.latencies[at] ?? 0) + 1;
  }

  lastHour(): Traffic {
    this.#roll();
    const sum = (field: "requests" | "refused" | "failed") =>
      this.#ring.reduce((total, minute) => total + minute[field], 0);
    const classes = Array.from({ length: latencyBoundsMs.length + 1 }, (_, at) =>
      this.#ring.reduce((total, { latencies }) => total + (latencies[at] ?? 0), 0),
    );
    return {
      requests: sum("requests"),
      refused: sum("refused"),
      failed: sum("failed"),
      p50Ms: quantile(classes, 0.5),
      p99Ms: quantile(classes, 0.99),
      perMinute: this.#ring.map(({ requests }) => requests),
      upSeconds: Math.round((this.#clock() - this.#startMs) / 1_000),
      isPart: this.#isPart,
    };
  }

  /** Drops the minutes that are more than an hour old. A clock that is set back changes nothing. */
  #roll(): void {
    const minute = Math.floor(this.#clock() / minuteMs);
    const passed = Math.min(minutes, minute - this.#minute);
    if (passed <= 0) return;
    this.#minute = minute;
    this.#ring.splice(0, passed);
    for (let i = 0; i < passed; i += 1) this.#ring.push(emptyMinute());
  }
}

function emptyMinute(): Minute {
  return { requests: 0, refused: 0, failed: 0, latencies: [] };
}

/**
 * The bound of the class that holds the given share of all. Above the last bound it is that bound.
 */
function quantile(classes: readonly number[], share: number): number {
  const total = classes.reduce((sum, count) => sum + count, 0);
  if (total === 0) return 0;
  let seen = 0;
  const at = classes.findIndex((count) => (seen += count) >= total * share);
  return latencyBoundsMs[at] ?? latencyBoundsMs.at(-1) ?? 0;
}
