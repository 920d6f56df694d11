import { minuteMs } from "../domain/clock.ts";
import type { Admission } from "./admission.ts";
import { BucketNames } from "./anonymous.ts";
import type { Logger } from "./log.ts";

/** Whose refusals are counted together: those of a key, else those of an address. */
export interface Caller {
  readonly admission?: Admission | undefined;
  address(): string | undefined;
}

/** A caller as a line in JSON ends with it. The parts need no escapes. */
export function jsonCaller(caller: Caller): string {
  const key = caller.admission?.key;
  const address = caller.address();
  const keyPart = key === undefined ? "" : `,"keyId":"${key.id}","plan":"${key.plan}"`;
  return address === undefined ? keyPart : `${keyPart},"address":"${address}"`;
}

export function textCaller(caller: Caller): string {
  const key = caller.admission?.key;
  return `${key === undefined ? "-" : `${key.id} (${key.plan})`} ${caller.address() ?? "-"}`;
}

/** Refusals of one caller in one minute that have lines of their own. */
const linesMax = 20;
/** Callers that are told apart in one minute; all others are one. */
const callersMax = 10_000;

interface Flood {
  count: number;
  readonly first: Caller;
}

/**
 * Refusals of one key or one address after its first in a minute. They are one line with their
 * count, at the end of the minute: a caller that does not stop must not fill the disk.
 */
export class RefusalFlood {
  readonly #log: Logger;
  readonly #level: "info" | "warn";
  readonly #names = new BucketNames();
  #floods = new Map<string, Flood>();
  #minute = Number.NaN;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `level` is the one of the lines that it counts. */
  constructor(log: Logger, level: "info" | "warn") {
    this.#log = log;
    this.#level = level;
    log.beforeClose(() => this.#end());
  }

  /** Counts a refusal, and tells whether it has no line of its own. */
  suppresses(caller: Caller): boolean {
    const nowMs = this.#log.clock();
    const minute = Math.floor(nowMs / minuteMs);
    if (minute !== this.#minute) {
      this.#end();
      this.#minute = minute;
    }
    const name = caller.admission?.key?.id ?? this.#names.of(caller.address());
    const isKnown = this.#floods.has(name) || this.#floods.size < callersMax;
    const flood = this.#floods.getOrInsertComputed(isKnown ? name : "", () => ({
      count: 0,
      first: caller,
    }));
    flood.count += 1;
    if (flood.count <= linesMax) return false;
    this.#timer ??= setTimeout(() => this.#end(), minuteMs - (nowMs % minuteMs)).unref();
    return true;
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const time = this.#log.now();
    for (const { count, first } of this.#floods.values()) {
      const suppressed = count - linesMax;
      if (suppressed <= 0) continue;
      this.#log.write(
        this.#log.format === "json"
          ? `{"time":"${time}","level":"${this.#level}","message":"refusals","suppressed":${suppressed}${jsonCaller(first)}}`
          : `${time} ${this.#level} ${suppressed} more refusals ${textCaller(first)}`,
      );
    }
    this.#floods = new Map();
    this.#names.forget();
  }
}
