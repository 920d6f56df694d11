import {
  endOf,
  environments,
  isWellFormedKey,
  type ApiKey,
  type Environment,
  type PlainKey,
} from "../domain/api-key.ts";
import type { Clock } from "../domain/clock.ts";
import type { Credential, KeyHash, Store } from "../storage/contract.ts";
import type { Account, Limiter } from "./limiter.ts";

/** SHA-256 of a secret. A fast hash is right, because nobody can guess 178 random bits. */
export function hashKey(key: PlainKey): KeyHash {
  return new Bun.CryptoHasher("sha256").update(key).digest() as Uint8Array as KeyHash;
}

/**
 * Why a credential does not open anything. The caller learns of its own typing errors, and nothing
 * that helps to guess a key.
 */
type InvalidKey = "malformed" | "Bearer twice" | "of another environment" | "unknown";

/** A key that was valid once. The log says whose it is. */
type EndedKey = { readonly ended: "revoked" | "expired"; readonly key: ApiKey };

export type Found = Account | EndedKey | InvalidKey;

/** Why `credential` is no key of this environment: a staging key in production is common. */
function whyNotWellFormed(credential: string): InvalidKey {
  if (/^bearer\s/i.test(credential)) return "Bearer twice";
  const isKey = environments.some((each) => isWellFormedKey(credential, each));
  return isKey ? "of another environment" : "malformed";
}

interface Entry {
  readonly account: Account;
  readonly secretExpiresAtMs: number | undefined;
}

interface KeyDirectoryOptions {
  readonly store: Pick<Store, "current" | "keys" | "versions">;
  readonly limiter: Pick<Limiter, "open" | "release">;
  readonly environment: Environment;
  readonly clock: Clock;
}

/**
 * Finds the account of a secret. It is cached, and checked against the store's version of the
 * keys: how soon another process's change is seen, `Store.current` says.
 */
export class KeyDirectory {
  readonly #entries = new Map<string, Entry>();
  /** Well-formed unknown credentials of this version: a broken client repeats the same one. */
  readonly #unknown = new Set<string>();
  readonly #accounts = new Map<string, Account>();
  #version: number;
  #refreshing: Promise<void> | undefined;

  constructor(
    private readonly options: KeyDirectoryOptions,
    private readonly entriesMax = 20_000,
  ) {
    this.#version = options.store.versions().keys;
  }

  find(credential: string): Found | Promise<Found> {
    const stale = this.options.store.current?.();
    return stale === undefined ? this.#look(credential) : stale.then(() => this.#look(credential));
  }

  #look(credential: string): Found | Promise<Found> {
    const { keys: version } = this.options.store.versions();
    if (version !== this.#version) {
      this.#refreshing ??= this.#refresh(version).finally(() => {
        this.#refreshing = undefined;
      });
      return this.#refreshing.then(() => this.#look(credential));
    }
    const known = this.#entries.get(credential);
    if (known !== undefined) return this.#check(known);
    if (this.#unknown.has(credential)) return "unknown";
    if (!isWellFormedKey(credential, this.options.environment)) return whyNotWellFormed(credential);
    return this.options.store.keys.byHash(hashKey(credential)).then((found) =>
      // What was read before a change must not be cached after it.
      this.#version === version ? this.#add(credential, found) : this.#look(credential),
    );
  }

  accounts(): Iterable<Account> {
    return this.#accounts.values();
  }

  #check({ account, secretExpiresAtMs }: Entry): Account | EndedKey {
    const nowMs = this.options.clock();
    const { key } = account;
    if (secretExpiresAtMs !== undefined && nowMs >= secretExpiresAtMs)
      return { ended: "expired", key };
    const ended = endOf(key, nowMs);
    return ended === undefined ? account : { ended, key };
  }

  #add(credential: string, found: Credential | undefined): Found {
    if (found === undefined) {
      if (this.#unknown.size >= this.entriesMax) this.#unknown.clear();
      this.#unknown.add(credential);
      return "unknown";
    }
    this.#makeRoom();
    const { key } = found;
    const account = this.#accounts.getOrInsertComputed(key.id, () =>
      this.options.limiter.open(key),
    );
    const entry = { account, secretExpiresAtMs: found.secretExpiresAtMs };
    this.#entries.set(credential, entry);
    return this.#check(entry);
  }

  async #refresh(version: number): Promise<void> {
    const changed = await this.options.store.keys.changedSince(this.#version);
    this.#version = version;
    this.#entries.clear();
    this.#unknown.clear();
    const outdated = changed.flatMap(({ id }) => this.#accounts.get(id) ?? []);
    for (const { key } of outdated) this.#accounts.delete(key.id);
    void this.options.limiter.release(outdated);
  }

  /** Drops everything when memory is full. Keys in use come back with one look-up each. */
  #makeRoom(): void {
    if (this.#entries.size < this.entriesMax) return;
    this.#entries.clear();
    const accounts = [...this.#accounts.values()];
    this.#accounts.clear();
    void this.options.limiter.release(accounts);
  }
}
