import type { ApiKey } from "../domain/api-key.ts";
import { Account } from "./account.ts";
import type { Found, KeyDirectory } from "./key-directory.ts";
import { admitted, type AddressLimiter } from "./anonymous.ts";
import type { Limiter } from "./limiter.ts";
import { unauthorized, unavailable, type Admission } from "./admission.ts";

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
