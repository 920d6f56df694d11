import { isKeyBanned, type ApiKey } from "../domain/api-key.ts";
import { countRefusal } from "../domain/ban.ts";
import {
  labelAt,
  reservationSize,
  rollCounts,
  unusedCounts,
  windowMs,
  windowView,
  type ReserveRequest,
  type Reserved,
} from "../domain/windows.ts";
import type { UsageDelta } from "../storage/contract.ts";
import { banned, rateLimited, unavailable, type Admission } from "./admission.ts";

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
