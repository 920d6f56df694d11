import type { ApiKey } from "../domain/api-key.ts";
import type { RefusalCount } from "../domain/ban.ts";
import {
  labelAt,
  unusedCounts,
  windowMs,
  windowView,
  type UnusedBlock,
  type WindowCounts,
  type WindowView,
} from "../domain/windows.ts";
import type { TakeResult } from "../storage/contract.ts";

/**
 * A key as this process serves it: its record, its block of requests taken ahead, and what it was
 * refused.
 */
export class Account {
  key: ApiKey;
  /** The windows as the last take left them, the block included. */
  counts: WindowCounts = unusedCounts;
  /** How many requests of the block are left. */
  left = 0;
  /** When a request last came out of the block. */
  usedMs = 0;
  /** True when the last take found nothing more in these windows. */
  exhausted = false;
  /**
   * Raised whenever what is in memory stops to hold: a take that was under way then brings nothing
   * back into it.
   */
  version = 0;
  /** True once no request can find this account any more. */
  isLetGo = false;
  readonly refusals: RefusalCount = { minuteLabel: 0, firstMs: 0, counted: 0 };
  /** Refusals that are not kept yet, with their UTC day. */
  usage = { day: 0, refusals: 0 };

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

  /** What is left of the block, which the store gets back; the account holds nothing afterwards. */
  releaseBlock(): UnusedBlock | undefined {
    if (this.left === 0) return undefined;
    const { minuteLabel, dayLabel } = this.counts;
    const count = this.left;
    this.left = 0;
    return { minuteLabel, dayLabel, count };
  }

  /**
   * Forgets the windows, so that the next request asks the store. Returns the block, which the
   * store gets back.
   */
  reset(): UnusedBlock | undefined {
    const unused = this.releaseBlock();
    this.version += 1;
    this.counts = unusedCounts;
    this.exhausted = false;
    return unused;
  }
}
