import { bucketOfText } from "../domain/address.ts";
import type { Clock } from "../domain/clock.ts";
import { labelAt, viewOf, windowMs, type WindowView } from "../domain/windows.ts";
import { rateLimited, type Admission } from "./admission.ts";

/** Buckets in memory at most. More callers share one: dropping one would hand back its quota. */
const bucketsMax = 200_000;
const overflowBucket = "overflow";
const unknownBucket = "unknown";

/** Limits callers without a valid key, by address, in this process's memory. */
export class AddressLimiter {
  #label = 0;
  #used = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    private readonly perMinute: number,
  ) {}

  /** Charges one request to the bucket of `address`, unless it is used up. */
  admit(address: string | undefined): Admission {
    this.#keepTime();
    const bucket = this.#bucketOf(address);
    const used = this.#used.get(bucket) ?? 0;
    if (used < this.perMinute) {
      this.#used.set(bucket, used + 1);
      return admitted(this.#viewOf(used + 1));
    }
    const view = this.#viewOf(used);
    const refusal = rateLimited(view, this.clock(), {
      allowance: "An address without a valid key may make",
      exceeded: "address's limit",
    });
    return { view, key: undefined, refusal };
  }

  /** What the bucket of an address shows when nothing is charged to it. */
  peek(address: string | undefined): WindowView {
    this.#keepTime();
    return this.#viewOf(this.#used.get(this.#bucketOf(address)) ?? 0);
  }

  /** Forgets the minute before, of which most addresses do not come again. */
  #keepTime(): void {
    const label = labelAt(this.#label, this.clock(), windowMs.minute);
    if (label === this.#label) return;
    // A clock that is set back gives nothing back.
    if (label > this.#label) this.#used = new Map();
    this.#label = label;
  }

  #bucketOf(address: string | undefined): string {
    const name = bucketOfText(address) ?? unknownBucket;
    return this.#used.has(name) || this.#used.size < bucketsMax ? name : overflowBucket;
  }

  #viewOf(used: number): WindowView {
    return viewOf("minute", this.#label, this.perMinute, this.perMinute - used);
  }
}

export function admitted(view: WindowView): Admission {
  return { view, key: undefined, refusal: undefined };
}
