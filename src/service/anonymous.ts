import { bucketOf, parseAddress } from "../domain/address.ts";
import type { Clock } from "../domain/clock.ts";
import { labelAt, viewOf, windowMs, type WindowView } from "../domain/windows.ts";
import { rateLimited, type Admission } from "./admission.ts";

/** Buckets in memory at most. More callers share one: dropping one would hand back its quota. */
const bucketsMax = 200_000;
const overflowBucket = "overflow";
/** Callers without an address (a Unix socket) share one bucket. */
const unknownBucket = "unknown";

export interface Granted {
  readonly label: number;
  /** What the bucket has given in that minute, these requests included. */
  readonly used: number;
  readonly granted: number;
}

/** Buckets of addresses: requests counted a minute at a time, in memory only. */
export class MinuteBuckets {
  readonly #clock: Clock;
  readonly #perMinute: number;
  #label = 0;
  #used = new Map<string, number>();

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** Takes `want` requests from a bucket, or what it has left. Taking none shows what it gave. */
  reserve(bucket: string, want: number): Granted {
    const label = labelAt(this.#label, this.#clock(), windowMs.minute);
    if (label > this.#label) this.#used = new Map();
    this.#label = label;
    const isKept = this.#used.has(bucket) || this.#used.size < bucketsMax;
    const name = isKept ? bucket : overflowBucket;
    const before = this.#used.get(name) ?? 0;
    const granted = Math.min(want, this.#perMinute - before);
    if (granted > 0) this.#used.set(name, before + granted);
    return { label, used: before + granted, granted };
  }
}

/** The names of buckets by addresses as they are spelt, because reading an address costs most. */
export class BucketNames {
  readonly #names = new Map<string, string>();

  of(address: string | undefined): string {
    if (address === undefined) return unknownBucket;
    const known = this.#names.get(address);
    if (known !== undefined) return known;
    const parsed = parseAddress(address);
    const name = parsed === undefined ? unknownBucket : bucketOf(parsed);
    if (this.#names.size < bucketsMax) this.#names.set(address, name);
    return name;
  }

  /** Forgets addresses of an earlier minute, of which most do not come again. */
  forget(): void {
    this.#names.clear();
  }
}

/** Limits callers without a valid key, by address. */
export interface AddressLimiter {
  /** Charges one request to the bucket of `address`, unless it is used up. */
  admit(address: string | undefined): Admission | Promise<Admission>;
  /** What the bucket of an address shows when nothing is charged to it. */
  peek(address: string | undefined): WindowView;
}

export class AnonymousLimiter implements AddressLimiter {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #buckets: MinuteBuckets;
  readonly #names = new BucketNames();
  #label = 0;

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
    this.#buckets = new MinuteBuckets(clock, perMinute);
  }

  admit(address: string | undefined): Admission {
    const { label, used, granted } = this.#buckets.reserve(this.#names.of(address), 1);
    if (label !== this.#label) this.#names.forget();
    this.#label = label;
    const view = viewOf("minute", label, this.#perMinute, this.#perMinute - used);
    return granted === 1 ? admitted(view) : usedUp(view, this.#clock());
  }

  peek(address: string | undefined): WindowView {
    const { label, used } = this.#buckets.reserve(this.#names.of(address), 0);
    return viewOf("minute", label, this.#perMinute, this.#perMinute - used);
  }
}

export function admitted(view: WindowView): Admission {
  return { view, key: undefined, refusal: undefined };
}

export function usedUp(view: WindowView, nowMs: number): Admission {
  const refusal = rateLimited(view, nowMs, {
    allowance: "An address without a valid key may make",
    exceeded: "address's limit",
  });
  return { view, key: undefined, refusal };
}
