import type { ApiKey } from "../domain/api-key.ts";
import type { Clock } from "../domain/clock.ts";
import { windowMs, type ReserveRequest, type Reserved } from "../domain/windows.ts";
import type { UsageDelta, WindowStore } from "../storage/contract.ts";
import { Account } from "./account.ts";
import type { Admission } from "./admission.ts";

export const sweepIntervalMs = 1_000;
/** After this time without a request, a reservation goes back where other processes reserve too. */
const idleMs = 1_000;
/** Other processes are taken to be at work for this long after the last sign of one. */
const sharedMs = windowMs.minute;
/** Refusals are stored this often, so that a flood of them writes next to nothing. */
const usageIntervalMs = 10 * 60_000;

type Waiting = ((admission: Admission) => void)[];

interface LimiterOptions {
  readonly windows: WindowStore;
  readonly clock: Clock;
  /** False to impose no ban. A ban that an operator imposed holds anyway. */
  readonly bans: boolean;
  readonly onNoisyMinute: (keyId: string, minuteLabel: number, nowMs: number) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Admits requests of valid keys within their limits: from what is reserved for the account, or
 * after the commit of the next reservation. All reservations of one event-loop turn share a
 * transaction. What a failed one granted is lost, because the commit may have happened.
 */
export class Limiter {
  #waiting = new Map<Account, Waiting>();
  #scheduled = false;
  /** Refusals that are not stored yet, of accounts that are not asked any more. */
  #refusals: UsageDelta[] = [];
  #usageStoredMs: number;
  #windowsVersion: number;
  #sharedSinceMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: LimiterOptions) {
    this.#usageStoredMs = this.#now();
    this.#windowsVersion = options.windows.version();
  }

  /** The account of `key` in this process. Close it with `release` when the key changes. */
  open(key: ApiKey): Account {
    const mayBan = this.options.bans && !key.readOnly;
    return new Account(key, mayBan ? this.options.onNoisyMinute : undefined);
  }

  /**
   * Decides on a request of a valid key, and charges it if admitted. The promise never rejects; a
   * failed reservation is a refusal `unavailable`.
   */
  admit(account: Account): Admission | Promise<Admission> {
    return account.admit(this.#now()) ?? this.#enqueue(account);
  }

  /**
   * Closes accounts: gives back what they did not use, and stores their usage. For a clean stop,
   * and for keys that changed. Never rejects.
   */
  async release(accounts: Iterable<Account>): Promise<void> {
    const requests: ReserveRequest[] = [];
    for (const account of accounts) {
      account.isClosed = true;
      this.#refusals.push(...account.takeRefusals());
      const back = account.giveBack();
      if (back !== undefined) requests.push(back);
    }
    await this.#giveBack(requests);
  }

  /**
   * Work for once a second, without a request. Reservations of past minutes go back, because their
   * requests still count in the day. If other processes use the same windows, idle reservations go
   * back, and exhausted windows are looked at again.
   */
  async sweep(accounts: Iterable<Account>): Promise<void> {
    const nowMs = this.#now();
    const version = this.options.windows.version();
    const mayHaveMore = version !== this.#windowsVersion;
    this.#windowsVersion = version;
    if (mayHaveMore) this.#sharedSinceMs = nowMs;
    const isShared = Math.abs(nowMs - this.#sharedSinceMs) < sharedMs;
    const isUsageDue = Math.abs(nowMs - this.#usageStoredMs) >= usageIntervalMs;
    const requests: ReserveRequest[] = [];
    for (const account of accounts) {
      if (mayHaveMore) account.askAgain();
      if (isUsageDue) this.#refusals.push(...account.takeRefusals());
      if (account.isOutdated(nowMs) || (isShared && account.isIdle(nowMs, idleMs))) {
        const back = account.giveBack();
        if (back !== undefined) requests.push(back);
      }
    }
    if (isUsageDue) this.#usageStoredMs = nowMs;
    await this.#giveBack(requests, isUsageDue);
  }

  async #giveBack(requests: readonly ReserveRequest[], withUsage = true): Promise<void> {
    const usage = withUsage ? this.#refusals.splice(0) : [];
    if (requests.length + usage.length === 0) return;
    try {
      await this.options.windows.reserve(requests, usage);
    } catch (error) {
      this.#refusals.push(...usage);
      this.options.onError(error);
    }
  }

  /** The windows are those of the store's clock. */
  #now(): number {
    return this.options.clock() + this.options.windows.skewMs();
  }

  #enqueue(account: Account): Promise<Admission> {
    const { promise, resolve } = Promise.withResolvers<Admission>();
    this.#waiting.getOrInsertComputed(account, () => []).push(resolve);
    if (!this.#scheduled) this.#schedule();
    return promise;
  }

  #schedule(): void {
    this.#scheduled = this.#waiting.size > 0;
    if (this.#scheduled) setImmediate(() => void this.#reserve());
  }

  /** One transaction for all that waits. While it is under way the next one gathers. */
  async #reserve(): Promise<void> {
    const pending = this.#waiting;
    this.#waiting = new Map();
    const requests = [...pending].map(([account, { length }]) => account.nextReservation(length));
    try {
      this.#settle(pending, await this.options.windows.reserve(requests, []));
    } catch (error) {
      this.#fail(pending, error);
    }
  }

  #settle(pending: ReadonlyMap<Account, Waiting>, results: readonly Reserved[]): void {
    const closed: Account[] = [];
    for (const [position, [account, decided]] of [...pending].entries()) {
      const result = results[position] as Reserved;
      account.fill(result);
      for (const decide of decided) decide(account.decide(result.nowMs));
      this.#serveGathered(account, result.nowMs);
      if (account.isClosed) closed.push(account);
    }
    // They were reserved under limits that may not hold any more.
    if (closed.length > 0) void this.release(closed);
    this.#schedule();
  }

  /** Serves requests that came meanwhile from the same reservation. */
  #serveGathered(account: Account, nowMs: number): void {
    const gathered = this.#waiting.get(account);
    if (gathered === undefined) return;
    for (const decide of gathered.splice(0, account.left)) decide(account.decide(nowMs));
    if (gathered.length === 0) this.#waiting.delete(account);
  }

  /** No second attempt for waiting requests: they have waited as long as the store may take. */
  #fail(pending: ReadonlyMap<Account, Waiting>, error: unknown): void {
    const nowMs = this.#now();
    const gathered = this.#waiting;
    this.#waiting = new Map();
    for (const [account, decided] of [...pending, ...gathered]) {
      for (const decide of decided) decide(account.refuseUncounted(nowMs));
    }
    this.options.onError(error);
    this.#schedule();
  }
}
