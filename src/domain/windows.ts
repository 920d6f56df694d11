import { dayMs, minuteMs } from "./clock.ts";
import type { Limits } from "./plan.ts";

/**
 * Lengths of the two fixed windows. Both are aligned to UTC: a window's label is its start divided
 * by its length.
 */
export const windowMs = { minute: minuteMs, day: dayMs } as const;
export const windowNames = ["minute", "day"] as const satisfies readonly (keyof typeof windowMs)[];
export type WindowName = (typeof windowNames)[number];

/**
 * What is kept of a key's use: for each window its label and how many requests are charged to it.
 */
export interface WindowCounts {
  readonly minuteLabel: number;
  readonly minuteUsed: number;
  readonly dayLabel: number;
  readonly dayUsed: number;
}

/** The counts of a key that was never used. */
export const unusedCounts: WindowCounts = {
  minuteLabel: 0,
  minuteUsed: 0,
  dayLabel: 0,
  dayUsed: 0,
};

/** Requests that were taken ahead in these windows and are not used. */
export interface UnusedBlock {
  readonly minuteLabel: number;
  readonly dayLabel: number;
  readonly count: number;
}

/**
 * The label in force at `nowMs` where `label` stands. A label one window ahead of the clock stays,
 * so a clock that bounces hands back no quota. A label further ahead moves back to the clock, so it
 * shuts no key out for longer than a window.
 */
export function labelAt(label: number, nowMs: number, lengthMs: number): number {
  const current = Math.floor(nowMs / lengthMs);
  return label === current + 1 ? label : current;
}

/**
 * The counts as they stand at `nowMs`: a new window starts at zero, a label moved back keeps its
 * count.
 */
export function rollCounts(counts: WindowCounts, nowMs: number): WindowCounts {
  const minuteLabel = labelAt(counts.minuteLabel, nowMs, windowMs.minute);
  const dayLabel = labelAt(counts.dayLabel, nowMs, windowMs.day);
  return {
    minuteLabel,
    minuteUsed: minuteLabel > counts.minuteLabel ? 0 : counts.minuteUsed,
    dayLabel,
    dayUsed: dayLabel > counts.dayLabel ? 0 : counts.dayUsed,
  };
}

/** The counts after a block's unused requests went back to those of its windows that still run. */
export function giveBack(counts: WindowCounts, unused: UnusedBlock): WindowCounts {
  const back = (label: number, blockLabel: number, used: number) =>
    label === blockLabel ? Math.max(0, used - unused.count) : used;
  return {
    ...counts,
    minuteUsed: back(counts.minuteLabel, unused.minuteLabel, counts.minuteUsed),
    dayUsed: back(counts.dayLabel, unused.dayLabel, counts.dayUsed),
  };
}

/** The outcome of a take: how many requests were granted and the counts to keep. */
export interface Take {
  readonly granted: number;
  readonly counts: WindowCounts;
}

/**
 * Takes up to `want` requests at `nowMs`, each charged to both windows or to neither. What is not
 * granted is charged to none. `unused` is what an earlier take of the same caller left over.
 */
export function take(
  counts: WindowCounts,
  limits: Limits,
  want: number,
  nowMs: number,
  unused?: UnusedBlock,
): Take {
  const rolled = rollCounts(unused === undefined ? counts : giveBack(counts, unused), nowMs);
  const granted = Math.max(
    0,
    Math.min(want, limits.perMinute - rolled.minuteUsed, limits.perDay - rolled.dayUsed),
  );
  return {
    granted,
    counts: {
      ...rolled,
      minuteUsed: rolled.minuteUsed + granted,
      dayUsed: rolled.dayUsed + granted,
    },
  };
}

/**
 * True when what a take left must be kept: it granted something, or a label moved back. A label
 * that is not kept where it was moved to would go on to stand in the future, and keep a key out
 * until the clock has caught up with it.
 */
export function mustKeep({ granted, counts }: Take, before: WindowCounts): boolean {
  return (
    granted > 0 || counts.minuteLabel < before.minuteLabel || counts.dayLabel < before.dayLabel
  );
}

/** The limits as a caller sees them: the three headers' numbers and the window they describe. */
export interface WindowView {
  readonly window: WindowName;
  readonly limit: number;
  readonly remaining: number;
  /** Unix time in seconds at which the window ends. */
  readonly resetSeconds: number;
}

/**
 * The window to show: the one with the fewest requests left, and the day (the later reset) at a
 * tie. `ahead` of the counted requests are taken but not yet used, so they are still the caller's.
 */
export function windowView(counts: WindowCounts, limits: Limits, ahead: number): WindowView {
  const minuteLeft = Math.max(0, limits.perMinute - counts.minuteUsed + ahead);
  const dayLeft = Math.max(0, limits.perDay - counts.dayUsed + ahead);
  return minuteLeft < dayLeft
    ? {
        window: "minute",
        limit: limits.perMinute,
        remaining: minuteLeft,
        resetSeconds: ((counts.minuteLabel + 1) * windowMs.minute) / 1000,
      }
    : {
        window: "day",
        limit: limits.perDay,
        remaining: dayLeft,
        resetSeconds: ((counts.dayLabel + 1) * windowMs.day) / 1000,
      };
}

/**
 * Whole seconds from `nowMs` until `resetSeconds`, rounded up and at least 1 (RFC 9110, section
 * 10.2.3).
 */
export function retryAfterSeconds(resetSeconds: number, nowMs: number): number {
  return Math.max(1, Math.ceil((resetSeconds * 1000 - nowMs) / 1000));
}
