import { type ApiKey, isKeyBanned } from "../domain/api-key.ts";
import type { Clock } from "../domain/clock.ts";
import {
  windowMs,
  type ReserveRequest,
  type Reserved,
  labelAt,
  reservationSize,
  rollCounts,
  unusedCounts,
  windowView,
} from "../domain/windows.ts";
import type { UsageDelta, WindowStore } from "../storage/contract.ts";
import { type Admission, banned, rateLimited, unavailable } from "./admission.ts";
import { countRefusal } from "../domain/ban.ts";

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

/**
 * A key as this process serves it: what is reserved for it, and what it was refused. A change of
 * the key ends its account; the next request opens another one.
 */
export class Account {
  /** The windows as the last reservation left them, what it granted included. */
  #counts = unusedCounts;
  #left = 0;
  #isExhausted = false;
  #usedMs = 0;
  readonly #noise = { minuteLabel: 0, firstMs: 0, counted: 0 };
  /** Refusals that are not stored yet, by their UTC days. */
  readonly #refusals = new Map<number, number>();
  /** True for one that ended: what a reservation under way grants goes back. */
  isClosed = false;

  /** `onNoisyMinute` hears of a minute with too many refusals; without it, there are no bans. */
  constructor(
    readonly key: ApiKey,
    private readonly onNoisyMinute?: (keyId: string, minuteLabel: number, nowMs: number) => void,
  ) {}

  get left(): number {
    return this.#left;
  }

  /** Decides on a request at once; returns undefined when the store has to be asked. */
  admit(nowMs: number): Admission | undefined {
    if (isKeyBanned(this.key, nowMs)) return this.#refuseBanned(nowMs);
    if (!this.#isCurrent(nowMs)) return undefined;
    if (this.#left === 0 && !this.#isExhausted) return undefined;
    return this.decide(nowMs);
  }

  decide(nowMs: number): Admission {
    if (this.#left === 0) return this.#refuse(nowMs);
    this.#left -= 1;
    this.#usedMs = nowMs;
    return {
      view: windowView(this.#counts, this.key.limits, this.#left),
      key: this.key,
      refusal: undefined,
    };
  }

  refuseUncounted(nowMs: number): Admission {
    const view = windowView(rollCounts(this.#counts, nowMs), this.key.limits, 0);
    return { view, key: this.key, refusal: unavailable };
  }

  /** What to ask of the store for `waiting` requests. What is left goes back with it. */
  nextReservation(waiting: number): ReserveRequest {
    const { id, limits } = this.key;
    const want = Math.max(waiting, reservationSize(limits));
    return { keyId: id, limits, want, unused: this.#takeBack() };
  }

  fill({ counts, granted }: Reserved): void {
    const { perMinute, perDay } = this.key.limits;
    this.#counts = counts;
    this.#left = granted;
    this.#isExhausted = counts.minuteUsed >= perMinute || counts.dayUsed >= perDay;
  }

  /** What goes back to the store, if anything is left. */
  giveBack(): ReserveRequest | undefined {
    const unused = this.#takeBack();
    return unused && { keyId: this.key.id, limits: this.key.limits, want: 0, unused };
  }

  /** Makes the next request ask the store, which may have got requests back from elsewhere. */
  askAgain(): void {
    this.#isExhausted = false;
  }

  /** True when what is left is of an earlier minute, whose requests still count in the day. */
  isOutdated(nowMs: number): boolean {
    return this.#left > 0 && !this.#isCurrent(nowMs);
  }

  isIdle(nowMs: number, idleMs: number): boolean {
    return Math.abs(nowMs - this.#usedMs) >= idleMs;
  }

  takeRefusals(): UsageDelta[] {
    const deltas = [...this.#refusals].map(([day, refusals]) => ({
      keyId: this.key.id,
      day,
      refusals,
    }));
    this.#refusals.clear();
    return deltas;
  }

  /** True while the windows of the last reservation run: a day ends with a minute. */
  #isCurrent(nowMs: number): boolean {
    const { minuteLabel } = this.#counts;
    return labelAt(minuteLabel, nowMs, windowMs.minute) === minuteLabel;
  }

  #takeBack(): ReserveRequest["unused"] {
    if (this.#left === 0) return undefined;
    const { minuteLabel, dayLabel } = this.#counts;
    const count = this.#left;
    this.#left = 0;
    this.#isExhausted = false;
    return { minuteLabel, dayLabel, count };
  }

  #refuse(nowMs: number): Admission {
    const { key } = this;
    const view = windowView(this.#counts, key.limits, 0);
    const day = Math.floor(nowMs / windowMs.day);
    this.#refusals.set(day, (this.#refusals.get(day) ?? 0) + 1);
    const isNoisy =
      this.onNoisyMinute !== undefined && countRefusal(this.#noise, key.limits, nowMs);
    if (isNoisy) this.onNoisyMinute?.(key.id, this.#noise.minuteLabel, nowMs);
    const refusal = rateLimited(view, nowMs, {
      allowance: `The ${key.plan} plan allows`,
      exceeded: "limit",
      warning: this.#noise.counted > 0,
    });
    return { view, key, refusal };
  }

  #refuseBanned(nowMs: number): Admission {
    const { ban, limits } = this.key;
    const resetSeconds = Math.ceil(ban.bannedUntilMs / 1000);
    const view = { ...windowView(this.#counts, limits, 0), remaining: 0, resetSeconds };
    return { view, key: this.key, refusal: banned(ban, resetSeconds, nowMs) };
  }
}
