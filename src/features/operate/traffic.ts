import { minuteMs, type Clock } from "../../domain/clock.ts";
import type { AnsweredRequest, RequestObserver } from "../../http/handler.ts";
import { statusOf } from "../../http/errors.ts";

/** Bounds in milliseconds between which latencies are told apart; the last class has none. */
const latencyBoundsMs = [
  0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 25, 50, 100, 250, 450, 1_000, 2_500,
] as const;
const minutes = 60;

/** How long what one of several processes counted may wait until it is told. */
const tellMs = 1_000;

/** What counts of a request that was answered. */
type Timed = Pick<AnsweredRequest, "status" | "durationMs">;

/** What was answered in some time: how often, and how many latencies were in each class. */
export interface Answered {
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
  /** What half of the requests, and 99 of 100, did not exceed; 0 without requests. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests in each minute, oldest first; the running one is the last. */
  readonly perMinute: readonly number[];
  readonly upSeconds: number;
}

/** Counts an hour of answers in some 10 KiB: its own, and what other processes tell of theirs. */
export class TrafficMeter implements RequestObserver {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #ring: Answered[] = Array.from({ length: minutes }, nothing);
  #minute: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock();
    this.#minute = Math.floor(this.#startMs / minuteMs);
  }

  answered(request: Timed): void {
    count(this.#current(), request);
  }

  /** Adds what another process answered since it last told. */
  add({ requests, refused, failed, latencies }: Answered): void {
    const current = this.#current();
    current.requests += requests;
    current.refused += refused;
    current.failed += failed;
    for (const [at, more] of latencies.entries()) {
      current.latencies[at] = (current.latencies[at] ?? 0) + more;
    }
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
    };
  }

  #current(): Answered {
    this.#roll();
    return this.#ring.at(-1) ?? nothing();
  }

  /** Drops the minutes that are more than an hour old. A clock that is set back changes nothing. */
  #roll(): void {
    const minute = Math.floor(this.#clock() / minuteMs);
    const passed = Math.min(minutes, minute - this.#minute);
    if (passed <= 0) return;
    this.#minute = minute;
    this.#ring.splice(0, passed);
    for (let i = 0; i < passed; i += 1) this.#ring.push(nothing());
  }
}

/** Counts what one of several processes answers, and tells it once a second while there is any. */
export class TrafficTeller implements RequestObserver {
  readonly #tell: (answered: Answered) => void;
  #untold = nothing();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(tell: (answered: Answered) => void) {
    this.#tell = tell;
  }

  answered(request: Timed): void {
    count(this.#untold, request);
    this.#timer ??= setTimeout(() => this.tell(), tellMs).unref();
  }

  /** Tells what is untold: a process that ends leaves nothing out. */
  tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#untold.requests === 0) return;
    this.#tell(this.#untold);
    this.#untold = nothing();
  }
}

function nothing(): Answered {
  const latencies = Array.from({ length: latencyBoundsMs.length + 1 }, () => 0);
  return { requests: 0, refused: 0, failed: 0, latencies };
}

function count(into: Answered, { status, durationMs }: Timed): void {
  into.requests += 1;
  if (status === statusOf.rate_limited) into.refused += 1;
  if (status >= statusOf.internal_error) into.failed += 1;
  const found = latencyBoundsMs.findIndex((bound) => durationMs <= bound);
  const at = found < 0 ? latencyBoundsMs.length : found;
  into.latencies[at] = (into.latencies[at] ?? 0) + 1;
}

/** The bound of the class that holds the given share of all; the last bound at most. */
function quantile(classes: readonly number[], share: number): number {
  const total = classes.reduce((sum, count) => sum + count, 0);
  if (total === 0) return 0;
  let seen = 0;
  const at = classes.findIndex((count) => (seen += count) >= total * share);
  return latencyBoundsMs[at] ?? latencyBoundsMs.at(-1) ?? 0;
}
