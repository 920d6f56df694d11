import { dayMs, minuteMs } from "./clock.ts";
import type { Limits } from "./plan.ts";

/** Lengths of both windows, aligned to UTC. A label is a window's start divided by its length. */
export const windowMs = { minute: minuteMs, day: dayMs } as const;
export const windowNames = ["minute", "day"] as const satisfies readonly (keyof typeof windowMs)[];
export type WindowName = (typeof windowNames)[number];

/** What is stored of a key's use: the label of each window, and the requests charged to it. */
export interface WindowCounts {
  readonly minuteLabel: number;
  readonly minuteUsed: number;
  readonly dayLabel: number;
  readonly dayUsed: number;
}

export const unusedCounts: WindowCounts = {
  minuteLabel: 0,
  minuteUsed: 0,
  dayLabel: 0,
  dayUsed: 0,
};

/** Requests reserved ahead in these windows and not used. */
export interface UnusedReservation {
  readonly minuteLabel: number;
  readonly dayLabel: number;
  readonly count: number;
}

/**
 * The number of requests that a process reserves ahead for a key: one second of the plan, rounded
 * up. This bounds both the writes of a busy key and the loss by a kill. If the day is smaller than
 * the minute, it is a sixtieth of the day.
 */
export function reservationSize({ perMinute, perDay }: Limits): number {
  return Math.ceil(Math.min(perMinute, perDay) / 60);
}

/**
 * The label in force at `nowMs`. A label one window ahead of the clock stays, so a clock that
 * bounces gives back no requests. A label further ahead moves back, so it blocks no key for longer
 * than a window.
 */
export function labelAt(label: number, nowMs: number, lengthMs: number): number {
  const current = Math.floor(nowMs / lengthMs);
  return label === current + 1 ? label : current;
}

/** The counts at `nowMs`: a new window starts at zero, and a label moved back keeps its count. */
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

/** The counts after unused requests went back to those of their windows that still run. */
export function giveBack(counts: WindowCounts, unused: UnusedReservation): WindowCounts {
  const back = (label: number, blockLabel: number, used: number) =>
    label === blockLabel ? Math.max(0, used - unused.count) : used;
  return {
    ...counts,
    minuteUsed: back(counts.minuteLabel, unused.minuteLabel, counts.minuteUsed),
    dayUsed: back(counts.dayLabel, unused.dayLabel, counts.dayUsed),
  };
}

/** How many requests were granted, and the counts to store. */
interface Reservation {
  readonly granted: number;
  readonly counts: WindowCounts;
}

/**
 * Reserves up to `want` requests at `nowMs`, each charged to both windows or to neither. What is
 * not granted is charged to none.
 */
export function reserve(
  counts: WindowCounts,
  limits: Limits,
  want: number,
  nowMs: number,
): Reservation {
  const rolled = rollCounts(counts, nowMs);
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
 * True when the result of a reservation must be stored: it granted something, or a label moved
 * back. Otherwise that label would stay in the future, and block a key until the clock has caught
 * up.
 */
function mustStore({ granted, counts }: Reservation, before: WindowCounts): boolean {
  return (
    granted > 0 || counts.minuteLabel < before.minuteLabel || counts.dayLabel < before.dayLabel
  );
}

/** One key's request for quota. `want` 0 only gives back. */
export interface ReserveRequest {
  readonly keyId: string;
  readonly limits: Limits;
  readonly want: number;
  readonly unused: UnusedReservation | undefined;
}

export interface Reserved {
  readonly granted: number;
  readonly counts: WindowCounts;
  readonly nowMs: number;
}

/** Days with requests that are stored of a key. They are counted, so no clock forgets them. */
export const usageStoredDays = 400;

/**
 * A day that ended between two reservations of a key. Its count leaves the windows and becomes
 * usage.
 */
interface FinishedDay {
  readonly day: number;
  readonly requests: number;
}

/** The result of a reservation, and what of it must be stored. */
interface SettledReservation {
  readonly result: Reserved;
  /** True when the counts have to be stored. */
  readonly mustPut: boolean;
  /** Undefined when no day ended, or nothing was used in it. */
  readonly finished: FinishedDay | undefined;
}

/**
 * Decides a reservation of a key whose windows are `stored`, by the domain's rule. Every
 * store asks it, with its lock held.
 */
export function settleReservation(
  stored: WindowCounts,
  { limits, want, unused }: ReserveRequest,
  nowMs: number,
): SettledReservation {
  const before = unused === undefined ? stored : giveBack(stored, unused);
  const reserved = reserve(before, limits, want, nowMs);
  const { granted, counts } = reserved;
  const mustPut = unused !== undefined || mustStore(reserved, before);
  const finished = mustPut ? finishedDay(before, counts) : undefined;
  return { result: { granted, counts, nowMs }, mustPut, finished };
}

function finishedDay(before: WindowCounts, after: WindowCounts): FinishedDay | undefined {
  const { dayLabel, dayUsed } = before;
  if (after.dayLabel <= dayLabel || dayUsed === 0) return undefined;
  return { day: dayLabel, requests: dayUsed };
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
 * tie. `ahead` of the counted requests are reserved but not used, so they are still the caller's.
 */
export function windowView(counts: WindowCounts, limits: Limits, ahead: number): WindowView {
  const minuteLeft = Math.max(0, limits.perMinute - counts.minuteUsed + ahead);
  const dayLeft = Math.max(0, limits.perDay - counts.dayUsed + ahead);
  return minuteLeft < dayLeft
    ? viewOf("minute", counts.minuteLabel, limits.perMinute, minuteLeft)
    : viewOf("day", counts.dayLabel, limits.perDay, dayLeft);
}

/** One window, of which `remaining` requests are left. */
export function viewOf(
  window: WindowName,
  label: number,
  limit: number,
  remaining: number,
): WindowView {
  return { window, limit, remaining, resetSeconds: ((label + 1) * windowMs[window]) / 1000 };
}

/** Whole seconds to `resetSeconds`, rounded up and at least 1 (RFC 9110, section 10.2.3). */
export function retryAfterSeconds(resetSeconds: number, nowMs: number): number {
  return Math.max(1, Math.ceil((resetSeconds * 1000 - nowMs) / 1000));
}
