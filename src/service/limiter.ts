import { countRefusal, isBanned } from "../domain/ban.ts";
import type { Clock } from "../domain/clock.ts";
import { blockSize, rollCounts, windowMs, windowView } from "../domain/windows.ts";
import type { TakeRequest, TakeResult, UsageDelta, WindowStore } from "../storage/contract.ts";
import { Account } from "./key-directory.ts";
import { banned, rateLimited, unavailable, type Admission } from "./admission.ts";

/** How often `sweep` is to be called. */
export const sweepIntervalMs = 1_000;
/** After this time without a request, a block goes back where other processes take too. */
const idleMs = 1_000;
/** Other processes are taken to be at work for this long after the last sign of one. */
const sharedMs = windowMs.minute;
/** Refusals are kept this often, so that a flood of them writes next to nothing. */
const usageIntervalMs = 10 * 60_000;

type Answer = (admission: Admission) => void;

/** A take of one account under way, those that wait for it, and the key as it was asked for. */
interface Pending {
  readonly account: Account;
  readonly key: Account["key"];
  readonly version: number;
  readonly waiting: readonly Answer[];
}

interface LimiterOptions {
  readonly windows: WindowStore;
  readonly clock: Clock;
  /** False to impose no ban. A ban that an operator imposed holds anyway. */
  readonly bans: boolean;
  readonly onNoisyMinute: (keyId: string, minuteLabel: number, nowMs: number) => void;
  /** Told why requests could not be counted. */
  readonly onError: (error: unknown) => void;
}

/**
 * Admits requests of valid keys within their limits: from the account's block, or after the commit
 * for the next one. All takes of one event-loop turn share a transaction. If a take fails, its
 * block is lost, because the commit may have happened.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  #waiting = new Map<Account, Answer[]>();
  #scheduled = false;
  /** Refusals that are not kept yet, of accounts that were let go or of days gone by. */
  #unsavedUsage: UsageDelta[] = [];
  #usageSavedMs: number;
  #windowsVersion: number;
  #sharedSinceMs = Number.NEGATIVE_INFINITY;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#usageSavedMs = this.#now();
    this.#windowsVersion = options.windows.version();
  }

  /**
   * Decides on a request of a valid key, and charges it if admitted: at once from the block, for a
   * ban or a used-up window, else with the next take. The promise never rejects; a failed take is a
   * refusal `unavailable`. `address` may cost a system call, so only a take calls it.
   */
  admit(account: Account, address?: () => string | undefined): Admission | Promise<Admission> {
    const nowMs = this.#now();
    if (isBanned(account.key.ban, nowMs)) return refuseBanned(account, nowMs);
    if (account.isCurrent(nowMs)) {
      if (account.left > 0) return admitOne(account, nowMs);
      if (account.exhausted) return this.#refuse(account, nowMs);
    }
    account.address = address?.();
    return this.#enqueue(account);
  }

  /**
   * Gives back what the accounts did not use and keeps their usage. For a clean stop, and for
   * accounts that changed. Never rejects.
   */
  async release(accounts: Iterable<Account>): Promise<void> {
    const requests: TakeRequest[] = [];
    for (const account of accounts) {
      const unused = account.reset();
      this.#saveUsage(account);
      if (unused !== undefined) requests.push(giveBackOf(account, unused));
    }
    await this.#giveBack(requests);
  }

  /**
   * Work for once a second, without a request. Blocks of past minutes go back, because their
   * requests still count in the day. If other processes use the same windows, idle blocks go back,
   * and exhausted windows are checked again.
   */
  async sweep(accounts: Iterable<Account>): Promise<void> {
    const nowMs = this.#now();
    const version = this.#options.windows.version();
    const mayHaveMore = version !== this.#windowsVersion;
    this.#windowsVersion = version;
    if (mayHaveMore) this.#sharedSinceMs = nowMs;
    const isShared = Math.abs(nowMs - this.#sharedSinceMs) < sharedMs;
    const isUsageDue = Math.abs(nowMs - this.#usageSavedMs) >= usageIntervalMs;
    const requests: TakeRequest[] = [];
    for (const account of accounts) {
      if (mayHaveMore) account.exhausted = false;
      if (isUsageDue) this.#saveUsage(account);
      const isIdle = isShared && Math.abs(nowMs - account.usedMs) >= idleMs;
      if (account.left > 0 && (isIdle || !account.isCurrent(nowMs))) {
        const unused = account.releaseBlock();
        if (unused !== undefined) requests.push(giveBackOf(account, unused));
      }
    }
    if (isUsageDue) this.#usageSavedMs = nowMs;
    await this.#giveBack(requests, isUsageDue);
  }

  async #giveBack(requests: readonly TakeRequest[], withUsage = true): Promise<void> {
    const usage = withUsage ? this.#unsavedUsage.splice(0) : [];
    if (requests.length + usage.length === 0) return;
    try {
      await this.#options.windows.take(requests, usage);
    } catch (error) {
      this.#unsavedUsage.push(...usage);
      this.#options.onError(error);
    }
  }

  /** The windows are those of the store's clock. */
  #now(): number {
    return this.#options.clock() + this.#options.windows.skewMs();
  }

  #enqueue(account: Account): Promise<Admission> {
    const { promise, resolve } = Promise.withResolvers<Admission>();
    const others = this.#waiting.get(account);
    if (others === undefined) this.#waiting.set(account, [resolve]);
    else others.push(resolve);
    if (!this.#scheduled) this.#schedule();
    return promise;
  }

  /** One take for all that waits. While it is under way the next one gathers. */
  #flush(): void {
    const pending: Pending[] = [];
    const requests: TakeRequest[] = [];
    for (const [account, waiting] of this.#waiting) {
      const { key, version } = account;
      const want = Math.max(waiting.length, blockSize(key.limits));
      pending.push({ account, key, version, waiting });
      requests.push({
        keyId: key.id,
        limits: key.limits,
        want,
        unused: account.releaseBlock(),
        address: account.address,
      });
    }
    this.#waiting = new Map();
    let results: ReturnType<WindowStore["take"]>;
    try {
      results = this.#options.windows.take(requests, []);
    } catch (error) {
      this.#fail(pending, error);
      return;
    }
    if (results instanceof Promise) {
      results.then(
        (late) => this.#settleAll(pending, late),
        (error: unknown) => this.#fail(pending, error),
      );
    } else this.#settleAll(pending, results);
  }

  #schedule(): void {
    this.#scheduled = this.#waiting.size > 0;
    if (this.#scheduled) setImmediate(() => this.#flush());
  }

  #settleAll(pending: readonly Pending[], results: readonly TakeResult[]): void {
    pending.forEach((take, position) => this.#settle(take, results[position] as TakeResult));
    this.#schedule();
  }

  #settle({ account, key, version, waiting }: Pending, result: TakeResult): void {
    // The key may have changed. Waiting requests are served as asked; the rest goes back, because
    // it was taken under old limits.
    const isOutdated = account.version !== version || account.isLetGo;
    const holder = isOutdated ? new Account(key) : account;
    holder.keep(result);
    const { nowMs } = result;
    for (const answer of waiting) {
      answer(holder.left > 0 ? admitOne(holder, nowMs) : this.#refuse(holder, nowMs));
    }
    if (isOutdated) void this.release([holder]);
    else this.#serveGathered(account, nowMs);
  }

  /** Serves requests that came during a take from its result, without a take of their own. */
  #serveGathered(account: Account, nowMs: number): void {
    const gathered = this.#waiting.get(account);
    if (gathered === undefined) return;
    for (const answer of gathered.splice(0, account.left)) answer(admitOne(account, nowMs));
    if (gathered.length === 0) this.#waiting.delete(account);
  }

  /** No second attempt for waiting requests: they have waited as long as the store may take. */
  #fail(pending: readonly Pending[], error: unknown): void {
    const nowMs = this.#now();
    const gathered = [...this.#waiting].map(([account, waiting]) => ({ account, waiting }));
    this.#waiting = new Map();
    for (const { account, waiting } of [...pending, ...gathered]) {
      for (const answer of waiting) answer(uncountable(account, nowMs));
    }
    this.#options.onError(error);
    this.#schedule();
  }

  #refuse(account: Account, nowMs: number): Admission {
    const { key, counts, refusals } = account;
    const view = windowView(counts, key.limits, 0);
    this.#countUsage(account, nowMs);
    if (this.#options.bans && countRefusal(refusals, key.limits, nowMs)) {
      this.#reportNoisyMinute(account, nowMs);
    }
    return {
      view,
      key,
      refusal: rateLimited(view, nowMs, {
        allowance: `The ${key.plan} plan allows`,
        exceeded: "limit",
        warning: refusals.counted > 0,
      }),
    };
  }

  #reportNoisyMinute({ key, refusals }: Account, nowMs: number): void {
    try {
      this.#options.onNoisyMinute(key.id, refusals.minuteLabel, nowMs);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #countUsage(account: Account, nowMs: number): void {
    const day = Math.floor(nowMs / windowMs.day);
    if (account.usage.day !== day) this.#saveUsage(account);
    account.usage.day = day;
    account.usage.refusals += 1;
  }

  #saveUsage(account: Account): void {
    const { day, refusals } = account.usage;
    if (refusals === 0) return;
    this.#unsavedUsage.push({ keyId: account.key.id, day, refusals });
    account.usage = { day, refusals: 0 };
  }
}

function giveBackOf({ key }: Account, unused: TakeRequest["unused"]): TakeRequest {
  return { keyId: key.id, limits: key.limits, want: 0, unused };
}

function admitOne(account: Account, nowMs: number): Admission {
  return { view: account.useOne(nowMs), key: account.key, refusal: undefined };
}

/** Shows the windows as they were last known, moved on to the ones that run now. */
function uncountable({ key, counts }: Account, nowMs: number): Admission {
  const view = windowView(rollCounts(counts, nowMs), key.limits, 0);
  return { view, key, refusal: unavailable };
}

function refuseBanned({ key, counts }: Account, nowMs: number): Admission {
  const resetSeconds = Math.ceil(key.ban.bannedUntilMs / 1000);
  const view = { ...windowView(counts, key.limits, 0), remaining: 0, resetSeconds };
  return { view, key, refusal: banned(key.ban, resetSeconds, nowMs) };
}
