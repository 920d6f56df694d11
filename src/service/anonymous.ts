import { bucketOf, parseAddress } from "../domain/address.ts";
import type { Clock } from "../domain/clock.ts";
import { labelAt, windowMs, type WindowView } from "../domain/windows.ts";
import { rateLimited, type Admission } from "./admission.ts";

/** Buckets in memory at the most. Beyond it callers share one, because dropping a bucket would hand back its quota. */
const bucketsMax = 200_000;
const overflowBucket = "overflow";
/** Callers without an address (a Unix socket) share one bucket. */
const unknownBucket = "unknown";

/** Limits callers without a valid key, by address, a minute at a time and in memory only. */
export class AnonymousLimiter {
  readonly #clock: Clock;
  readonly #perMinute: number;
  #label = 0;
  #used = new Map<string, number>();
  /** Spellings of addresses seen in this minute with their buckets: reading one costs more than all the rest. */
  #buckets = new Map<string, string>();

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** Charges one request to the bucket of `address`, unless it is used up. */
  admit(address: string | undefined): Admission {
    const nowMs = this.#clock();
    const label = labelAt(this.#label, nowMs, windowMs.minute);
    if (label > this.#label) {
      this.#used = new Map();
      this.#buckets = new Map();
    }
    this.#label = label;

    const bucket = this.#bucket(address);
    const used = this.#used.get(bucket) ?? 0;
    const view = this.#view(label, used + 1);
    if (used >= this.#perMinute) {
      return {
        view,
        key: undefined,
        refusal: rateLimited(view, nowMs, {
          allowance: "An address without a valid key may make",
          exceeded: "address's limit",
        }),
      };
    }
    this.#used.set(bucket, used + 1);
    return { view, key: undefined, refusal: undefined };
  }

  /** What the bucket of an address shows when nothing is charged to it. */
  peek(address: string | undefined): WindowView {
    const label = labelAt(this.#label, this.#clock(), windowMs.minute);
    const used = label > this.#label ? 0 : (this.#used.get(this.#bucket(address)) ?? 0);
    return this.#view(label, used);
  }

  #view(label: number, used: number): WindowView {
    return {
      window: "minute",
      limit: this.#perMinute,
      remaining: Math.max(0, this.#perMinute - used),
      resetSeconds: ((label + 1) * windowMs.minute) / 1000,
    };
  }

  #bucket(address: string | undefined): string {
    if (address === undefined) return unknownBucket;
    let bucket = this.#buckets.get(address);
    if (bucket === undefined) {
      const parsed = parseAddress(address);
      bucket = parsed === undefined ? unknownBucket : bucketOf(parsed);
      if (this.#buckets.size < bucketsMax) this.#buckets.set(address, bucket);
    }
    return this.#used.has(bucket) || this.#used.size < bucketsMax ? bucket : overflowBucket;
  }
}
