import type { ApiKey } from "../domain/api-key.ts";
import { Account, type Limiter } from "./limiter.ts";
import type { Found, KeyDirectory } from "./key-directory.ts";
import { unauthorized, unavailable, type Admission, rateLimited } from "./admission.ts";
import { bucketOf } from "../domain/address.ts";
import type { Clock } from "../domain/clock.ts";
import { labelAt, viewOf, windowMs, type WindowView } from "../domain/windows.ts";

interface AccessParts {
  readonly directory: KeyDirectory;
  readonly limiter: Limiter;
  readonly anonymous: AddressLimiter;
  readonly onError: (error: unknown) => void;
}

/**
 * The first checks of every request, in order. A caller with a valid key has the key's windows. Any
 * other caller has its address's bucket, and gets 401 within it.
 */
export class Access {
  constructor(private readonly parts: AccessParts) {}

  /**
   * Decides on a request with `credential`, which is "" if the header has none for us. `address` is
   * called only if needed.
   */
  admit(
    credential: string | undefined,
    address: () => string | undefined,
  ): Admission | Promise<Admission> {
    if (credential === undefined) return this.#unauthorized(address, "no credential");
    if (credential === "") return this.#unauthorized(address, "no bearer key");
    const failed = (error: unknown) => this.#unavailable(address, error);
    try {
      const found = this.parts.directory.find(credential);
      return found instanceof Promise
        ? found.then((late) => this.#admitFound(late, address)).catch(failed)
        : this.#admitFound(found, address);
    } catch (error) {
      return failed(error);
    }
  }

  /** Admits a request without charge: a browser's preflight. It shows what its address has left. */
  pass(address: () => string | undefined): Admission {
    return admitted(this.parts.anonymous.peek(address()));
  }

  #admitFound(found: Found, address: () => string | undefined): Admission | Promise<Admission> {
    if (found instanceof Account) return this.parts.limiter.admit(found);
    if (typeof found === "string") return this.#unauthorized(address, found);
    return this.#unauthorized(address, found.ended, found.key);
  }

  /** Caller or limits are unknown: no key's numbers are shown, and no address is charged. */
  #unavailable(address: () => string | undefined, error: unknown): Admission {
    this.parts.onError(error);
    return { view: this.parts.anonymous.peek(address()), key: undefined, refusal: unavailable };
  }

  #unauthorized(
    address: () => string | undefined,
    why: keyof typeof unauthorized,
    key?: ApiKey,
  ): Admission {
    const { view, refusal } = this.parts.anonymous.admit(address());
    return { view, key, refusal: refusal ?? unauthorized[why] };
  }
}

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
    const name = bucketOf(address) ?? unknownBucket;
    return this.#used.has(name) || this.#used.size < bucketsMax ? name : overflowBucket;
  }

  #viewOf(used: number): WindowView {
    return viewOf("minute", this.#label, this.perMinute, this.perMinute - used);
  }
}

export function admitted(view: WindowView): Admission {
  return { view, key: undefined, refusal: undefined };
}
