import { bucketOf, parseAddress } from "../../domain/address.ts";
import { minuteMs, type Clock } from "../../domain/clock.ts";

/** Links and cookies that may be wrong in a minute, for each address (an IPv6 /64 is one). */
export const failuresPerMinute = 5;
/** Addresses in memory at most. More share a count: forgetting one would hand back its tries. */
const addressesMax = 10_000;
const overflow = "overflow";

/** Counts wrong links and wrong cookies by address, a minute at a time. */
export class Failures {
  readonly #clock: Clock;
  #minute = 0;
  #counts = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the seconds after which `address` may try again, or undefined when it may try now. */
  blockedSeconds(address: string): number | undefined {
    this.#roll();
    if ((this.#counts.get(this.#bucket(address)) ?? 0) < failuresPerMinute) return undefined;
    return Math.ceil(((this.#minute + 1) * minuteMs - this.#clock()) / 1_000);
  }

  /** Counts one failure. */
  note(address: string): void {
    this.#roll();
    const bucket = this.#bucket(address);
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
  }

  #roll(): void {
    const minute = Math.floor(this.#clock() / minuteMs);
    if (minute <= this.#minute) return;
    this.#minute = minute;
    this.#counts = new Map();
  }

  #bucket(address: string): string {
    const parsed = parseAddress(address);
    const bucket = parsed === undefined ? address : bucketOf(parsed);
    return this.#counts.has(bucket) || this.#counts.size < addressesMax ? bucket : overflow;
  }
}
