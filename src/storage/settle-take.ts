import {
  giveBack,
  mustKeep,
  take,
  type UnusedBlock,
  type WindowCounts,
} from "../domain/windows.ts";
import type { TakeRequest, TakeResult } from "./contract.ts";
import { usageKeptDays } from "./usage.ts";

/**
 * A day that ended between two takes of a key. Its count leaves the windows, so it has to be kept
 * as usage.
 */
export interface FinishedDay {
  readonly day: number;
  readonly requests: number;
  /** Usage of earlier days is no longer kept. */
  readonly forgetBefore: number;
}

/** What a take comes to, and what of it has to be kept. */
export interface SettledTake {
  readonly result: TakeResult;
  /** True when the result's counts have to take the place of those that were kept. */
  readonly mustPut: boolean;
  /** Undefined when no day ended, or nothing was used in it. */
  readonly finished: FinishedDay | undefined;
}

/**
 * Decides a take of a key whose windows are kept as `kept`, by the domain's rule. Every store asks
 * it, with its lock held.
 */
export function settleTake(
  kept: WindowCounts,
  { limits, want, unused }: TakeRequest,
  nowMs: number,
): SettledTake {
  const taken = take(kept, limits, want, nowMs, unused);
  const { granted, counts } = taken;
  const mustPut = unused !== undefined || mustKeep(taken, kept);
  const finished = mustPut ? finishedDay(kept, unused, counts) : undefined;
  return { result: { granted, counts, nowMs }, mustPut, finished };
}

function finishedDay(
  kept: WindowCounts,
  unused: UnusedBlock | undefined,
  after: WindowCounts,
): FinishedDay | undefined {
  if (after.dayLabel <= kept.dayLabel) return undefined;
  const { dayLabel, dayUsed } = unused === undefined ? kept : giveBack(kept, unused);
  if (dayUsed === 0) return undefined;
  return { day: dayLabel, requests: dayUsed, forgetBefore: after.dayLabel - usageKeptDays };
}
