import {
  endOf,
  environments,
  isWellFormedKey,
  type ApiKey,
  type Environment,
  type PlainKey,
} from "../domain/api-key.ts";
import type { RefusalCount } from "../domain/ban.ts";
import type { Clock } from "../domain/clock.ts";
import {
  labelAt,
  unusedCounts,
  windowMs,
  windowView,
  type UnusedBlock,
  type WindowCounts,
  type WindowView,
} from "../domain/windows.ts";
import type { Credential, KeyHash, Store, TakeResult } from "../storage/contract.ts";

/** A key as this process serves it: its record, its block, and its refusals. */
export class Account {
  key: ApiKey;
  /** The windows as the last take left them, the block included. */
  counts: WindowCounts = unusedCounts;
  /** How many requests of the block are left. */
  left = 0;
  /** When a request last came out of the block. */
  usedMs = 0;
  /** Where the request came from that last waited for a take; undefined when that is not known. */
  address: string | undefined;
  /** True when the last take found nothing more in these windows. */
  exhausted = false;
  /** Rises when the memory becomes invalid: a take that is under way then stores nothing in it. */
  version = 0;
  /** True once no request can find this account any more. */
  isLetGo = false;
  readonly refusals: RefusalCount = { minuteLabel: 0, firstMs: 0, counted: 0 };
  /** Refusals that are not kept yet, with their UTC day. */
  usage = { day: 0, refusals: 0 };

  constructor(key: ApiKey) {
    this.key = key;
  }

  /** True while the windows of the last take still run at `nowMs`: a day ends with a minute. */
  isCurrent(nowMs: number): boolean {
    const { minuteLabel } = this.counts;
    return labelAt(minuteLabel, nowMs, windowMs.minute) === minuteLabel;
  }

  /** Takes over what a take granted under the key's limits as they were when it was asked for. */
  keep(result: TakeResult): void {
    const { perMinute, perDay } = this.key.limits;
    this.counts = result.counts;
    this.left = result.granted;
    this.exhausted = result.counts.minuteUsed >= perMinute || result.counts.dayUsed >= perDay;
  }

  /** Uses one request of the block, and returns what is left after it. */
  useOne(nowMs: number): WindowView {
    this.left -= 1;
    this.usedMs = nowMs;
    return windowView(this.counts, this.key.limits, this.left);
  }

  /** Takes out what is left of the block, which the store gets back. */
  releaseBlock(): UnusedBlock | undefined {
    if (this.left === 0) return undefined;
    const { minuteLabel, dayLabel } = this.counts;
    const count = this.left;
    this.left = 0;
    this.exhausted = false;
    return { minuteLabel, dayLabel, count };
  }

  /** Makes the next request ask the store. Returns the block, which goes back. */
  reset(): UnusedBlock | undefined {
    const unused = this.releaseBlock();
    this.version += 1;
    this.exhausted = false;
    return unused;
  }
}

/** Secrets and accounts in memory at the most; beyond it the idle ones are let go. */
const defaultEntriesMax = 20_000;

/** SHA-256 of a secret. A fast hash is right, because nobody can guess 178 random bits. */
export function hashKey(key: PlainKey): KeyHash {
  return new Bun.CryptoHasher("sha256").update(key).digest() as Uint8Array as KeyHash;
}

/**
 * Why a credential does not open anything. The caller learns of its own typing errors, and nothing
 * that helps to guess a key.
 */
type InvalidKey = "malformed" | "Bearer twice" | "of another environment" | "unknown";

/** A key that was good once, and why it is not any more: the log says whose it is. */
interface EndedKey {
  readonly ended: "revoked" | "expired";
  readonly key: ApiKey;
}

/** What a credential turns out to be. */
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
  /** Takes back the blocks of accounts that changed or are let go. */
  readonly limiter: { release(accounts: readonly Account[]): unknown };
  readonly environment: Environment;
  readonly clock: Clock;
  readonly entriesMax?: number;
}

/**
 * Finds the account of a secret. It is cached, and checked against the store's epoch once per
 * event-loop turn, so that a change by any process takes effect at the next request.
 */
export class KeyDirectory {
  readonly #options: KeyDirectoryOptions;
  readonly #entriesMax: number;
  readonly #entries = new Map<string, Entry>();
  /** Well-formed unknown credentials of this epoch: a broken client repeats the same one. */
  readonly #unknown = new Set<string>();
  readonly #accounts = new Map<string, Account>();
  #epoch: number;
  #refreshing: Promise<void> | undefined;

  constructor(options: KeyDirectoryOptions) {
    this.#options = options;
    this.#entriesMax = options.entriesMax ?? defaultEntriesMax;
    this.#epoch = options.store.versions().keys;
  }

  /** The account that `credential` opens now, or why it opens none. */
  find(credential: string): Found | Promise<Found> {
    const stale = this.#options.store.current();
    return stale === undefined ? this.#look(credential) : stale.then(() => this.#look(credential));
  }

  #look(credential: string): Found | Promise<Found> {
    const { keys: epoch } = this.#options.store.versions();
    if (epoch !== this.#epoch) {
      this.#refreshing ??= this.#refresh(epoch).finally(() => {
        this.#refreshing = undefined;
      });
      return this.#refreshing.then(() => this.#look(credential));
    }
    const known = this.#entries.get(credential);
    if (known !== undefined) return this.#check(known);
    if (this.#unknown.has(credential)) return "unknown";
    if (!isWellFormedKey(credential, this.#options.environment))
      return whyNotWellFormed(credential);
    const found = this.#options.store.keys.byHash(hashKey(credential));
    if (!(found instanceof Promise)) return this.#add(credential, found);
    return found.then((late) =>
      // What was read before a change must not be kept after it.
      this.#epoch === epoch ? this.#add(credential, late) : this.#look(credential),
    );
  }

  /** The accounts in memory: those of the keys that were used lately. */
  accounts(): Iterable<Account> {
    return this.#accounts.values();
  }

  #check({ account, secretExpiresAtMs }: Entry): Account | EndedKey {
    const nowMs = this.#options.clock();
    const { key } = account;
    if (secretExpiresAtMs !== undefined && nowMs >= secretExpiresAtMs)
      return { ended: "expired", key };
    const ended = endOf(key, nowMs);
    return ended === undefined ? account : { ended, key };
  }

  #add(credential: string, found: Credential | undefined): Found {
    if (found === undefined) {
      if (this.#unknown.size >= this.#entriesMax) this.#unknown.clear();
      this.#unknown.add(credential);
      return "unknown";
    }
    this.#makeRoom();
    const { key } = found;
    const account = this.#accounts.getOrInsertComputed(key.id, () => new Account(key));
    const entry = { account, secretExpiresAtMs: found.secretExpiresAtMs };
    this.#entries.set(credential, entry);
    return this.#check(entry);
  }

  /** Takes over what changed. Blocks go back first: they were taken under the old limits. */
  async #refresh(epoch: number): Promise<void> {
    const changed = await this.#options.store.keys.changedSince(this.#epoch);
    this.#epoch = epoch;
    this.#entries.clear();
    this.#unknown.clear();
    const affected: Account[] = [];
    for (const key of changed) {
      const account = this.#accounts.get(key.id);
      if (account === undefined) continue;
      account.key = key;
      affected.push(account);
    }
    this.#options.limiter.release(affected);
  }

  /** Drops everything when memory is full. Keys in use come back with one look-up each. */
  #makeRoom(): void {
    if (this.#entries.size < this.#entriesMax) return;
    this.#entries.clear();
    const accounts = [...this.#accounts.values()];
    this.#accounts.clear();
    for (const account of accounts) account.isLetGo = true;
    this.#options.limiter.release(accounts);
  }
}
