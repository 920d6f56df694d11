import type { ApiKey } from "../domain/api-key.ts";
import { countRefusal, isBanned, type RefusalCount } from "../domain/ban.ts";
import { isoSeconds, type Clock } from "../domain/clock.ts";
import { blockSize } from "../domain/plan.ts";
import {
  labelAt,
  retryAfterSeconds,
  unusedCounts,
  windowMs,
  windowView,
  type UnusedBlock,
  type WindowCounts,
} from "../domain/windows.ts";
import type { TakeRequest, TakeResult, UsageDelta, WindowStore } from "../storage/contract.ts";
import type { Admission, Refusal } from "./admission.ts";

/** A key as this process serves it: its record, its block of requests taken ahead, and what it was refused. */
export class Account {
  key: ApiKey;
  /** The windows as the last take left them, the block included. */
  counts: WindowCounts = unusedCounts;
  /** How many requests of the block are left. */
  left = 0;
  /** True when the last take found nothing more in these windows. */
  exhausted = false;
  readonly refusals: RefusalCount = { minuteLabel: 0, firstMs: 0, counted: 0 };
  /** Refusals and bans that are not kept yet, with their UTC day. */
  usage = { day: 0, refusals: 0, bans: 0 };

  constructor(key: ApiKey) {
    this.key = key;
  }

  /** True while the windows of the last take still run at `nowMs`. */
  isCurrent(nowMs: number): boolean {
    const { minuteLabel, dayLabel } = this.counts;
    return (
      labelAt(minuteLabel, nowMs, windowMs.minute) === minuteLabel &&
      labelAt(dayLabel, nowMs, windowMs.day) === dayLabel
    );
  }

  /** What is left of the block, which the store gets back; the account holds nothing afterwards. */
  releaseBlock(): UnusedBlock | undefined {
    if (this.left === 0) return undefined;
    const { minuteLabel, dayLabel } = this.counts;
    const count = this.left;
    this.left = 0;
    return { minuteLabel, dayLabel, count };
  }
}

type Answer = (admission: Admission) => void;

/**
 * Admits requests of valid keys within their limits. A request is admitted from the account's block, or waits for the
 * commit that pays for the next one; all takes of one event-loop turn share a transaction.
 */
export class Limiter {
  readonly #windows: WindowStore;
  readonly #clock: Clock;
  readonly #onNoisyMinute: (keyId: string, minuteLabel: number, nowMs: number) => void;
  readonly #bans: boolean;
  readonly #onError: (error: unknown) => void;
  #waiting = new Map<Account, Answer[]>();
  #scheduled = false;
  /** Usage of accounts that were let go, or whose day went by before it was kept. */
  #unsavedUsage: UsageDelta[] = [];

  constructor(options: {
    windows: WindowStore;
    clock: Clock;
    /** False to impose no ban. One that an operator imposed holds all the same. */
    bans: boolean;
    onNoisyMinute: (keyId: string, minuteLabel: number, nowMs: number) => void;
    /** Told why requests could not be counted. */
    onError: (error: unknown) => void;
  }) {
    this.#windows = options.windows;
    this.#clock = options.clock;
    this.#bans = options.bans;
    this.#onNoisyMinute = options.onNoisyMinute;
    this.#onError = options.onError;
  }

  admit(account: Account): Admission | Promise<Admission> {
    const nowMs = this.#clock();
    if (isBanned(account.key.ban, nowMs)) return refuseBanned(account, nowMs);
    if (account.isCurrent(nowMs)) {
      if (account.left > 0) return useOne(account);
      if (account.exhausted) return this.#refuse(account, nowMs);
    }
    return this.#enqueue(account);
  }

  /** Gives back what the accounts did not use and keeps their usage. For a clean stop and for accounts let go. */
  async release(accounts: Iterable<Account>): Promise<void> {
    const requests: TakeRequest[] = [];
    for (const account of accounts) {
      const unused = account.releaseBlock();
      account.counts = unusedCounts;
      this.#saveUsage(account);
      if (unused !== undefined) {
        requests.push({ keyId: account.key.id, limits: account.key.limits, want: 0, unused });
      }
    }
    const usage = this.#unsavedUsage.splice(0);
    if (requests.length + usage.length > 0) await this.#windows.take(requests, usage);
  }

  #enqueue(account: Account): Promise<Admission> {
    const { promise, resolve } = Promise.withResolvers<Admission>();
    const others = this.#waiting.get(account);
    if (others === undefined) this.#waiting.set(account, [resolve]);
    else others.push(resolve);
    if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(() => this.#flush());
    }
    return promise;
  }

  /** One take for all that waits. While it is under way the next one gathers. */
  #flush(): void {
    const batch = [...this.#waiting];
    this.#waiting = new Map();
    const blocks = batch.map(([account]) => account.releaseBlock());
    const requests = batch.map(([{ key }, waiting], position): TakeRequest => ({
      keyId: key.id,
      limits: key.limits,
      want: Math.max(waiting.length, blockSize(key.limits)),
      unused: blocks[position],
    }));
    for (const [account] of batch) this.#saveUsage(account);
    const usage = this.#unsavedUsage.splice(0);

    const settle = (results: readonly TakeResult[]) => {
      results.forEach((result, position) => {
        const [account, waiting] = batch[position] as [Account, Answer[]];
        this.#settle(account, waiting, result);
      });
      this.#next();
    };
    const fail = (error: unknown) => {
      batch.forEach(([account, waiting], position) => {
        account.left += blocks[position]?.count ?? 0;
        for (const answer of waiting) answer(uncountable(account));
      });
      this.#onError(error);
      this.#unsavedUsage.push(...usage);
      this.#next();
    };
    try {
      const results = this.#windows.take(requests, usage);
      if (results instanceof Promise) results.then(settle, fail);
      else settle(results);
    } catch (error) {
      fail(error);
    }
  }

  #next(): void {
    this.#scheduled = this.#waiting.size > 0;
    if (this.#scheduled) setImmediate(() => this.#flush());
  }

  #settle(account: Account, waiting: readonly Answer[], result: TakeResult): void {
    account.counts = result.counts;
    account.left = result.granted;
    const { perMinute, perDay } = account.key.limits;
    account.exhausted = result.counts.minuteUsed >= perMinute || result.counts.dayUsed >= perDay;
    for (const answer of waiting) {
      answer(account.left > 0 ? useOne(account) : this.#refuse(account, result.nowMs));
    }
  }

  #refuse(account: Account, nowMs: number): Admission {
    const { key, counts } = account;
    const view = windowView(counts, key.limits, 0);
    this.#countUsage(account, nowMs);
    if (this.#bans && countRefusal(account.refusals, key.limits, nowMs)) {
      this.#onNoisyMinute(key.id, account.refusals.minuteLabel, nowMs);
    }
    return {
      view: { ...view, remaining: 0 },
      key,
      refusal: rateLimited(view, nowMs, `The ${key.plan} plan`),
    };
  }

  #countUsage(account: Account, nowMs: number): void {
    const day = Math.floor(nowMs / windowMs.day);
    if (account.usage.day !== day) {
      this.#saveUsage(account);
      account.usage.day = day;
    }
    account.usage.refusals += 1;
  }

  #saveUsage(account: Account): void {
    const { day, refusals, bans } = account.usage;
    if (refusals + bans === 0) return;
    this.#unsavedUsage.push({ keyId: account.key.id, day, refusals, bans });
    account.usage = { day, refusals: 0, bans: 0 };
  }
}

function useOne(account: Account): Admission {
  account.left -= 1;
  const view = windowView(account.counts, account.key.limits, account.left);
  return { view, key: account.key, refusal: undefined };
}

/** The answer to a request that the store could not charge. */
export const unavailable: Refusal = {
  kind: "unavailable",
  message: "The request could not be counted at the moment; it was not charged.",
  retryAfterSeconds: 1,
};

function uncountable({ key, counts }: Account): Admission {
  return { view: windowView(counts, key.limits, 0), key, refusal: unavailable };
}

/** The refusal of a request that is over the limit of the window that `view` shows. */
export function rateLimited(
  view: { window: string; limit: number; resetSeconds: number },
  nowMs: number,
  whose: string,
) {
  const seconds = retryAfterSeconds(view.resetSeconds, nowMs);
  return {
    kind: "rate_limited",
    message: `${whose} allows ${view.limit} requests per ${view.window} and they are used up; try again in ${seconds} s.`,
    retryAfterSeconds: seconds,
    detail: `over the limit per ${view.window}`,
  } as const;
}

function refuseBanned({ key, counts }: Account, nowMs: number): Admission {
  const { bannedUntilMs, reason } = key.ban;
  const resetSeconds = Math.ceil(bannedUntilMs / 1000);
  const view = { ...windowView(counts, key.limits, 0), remaining: 0, resetSeconds };
  const message = `This key is banned until ${isoSeconds(resetSeconds * 1000)} because ${reason}.`;
  return {
    view,
    key,
    refusal: {
      kind: "key_banned",
      message,
      retryAfterSeconds: retryAfterSeconds(resetSeconds, nowMs),
      detail: "banned",
    },
  };
}
