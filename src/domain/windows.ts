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

interface SettledReservation {
  readonly result: Reserved;
  readonly mustPut: boolean;
  /** A day that ended since the last reservation: its count leaves the windows, as usage. */
  readonly finished: { readonly day: number; readonly requests: number } | undefined;
}

/**
 * Decides a reservation of a key whose windows are `stored`: unused requests go back first, then up
 * to `want` are granted, each charged to both windows or to neither. Every store asks it, with its
 * lock held.
 */
export function settleReservation(
  stored: WindowCounts,
  { limits, want, unused }: Omit<ReserveRequest, "keyId">,
  nowMs: number,
): SettledReservation {
  const before = unused === undefined ? stored : withBack(stored, unused);
  const rolled = rollCounts(before, nowMs);
  const left = Math.min(limits.perMinute - rolled.minuteUsed, limits.perDay - rolled.dayUsed);
  const granted = Math.max(0, Math.min(want, left));
  const [minuteUsed, dayUsed] = [rolled.minuteUsed + granted, rolled.dayUsed + granted];
  // Left in the future, a label would block the key until the clock has caught up.
  const isBack = rolled.minuteLabel < before.minuteLabel || rolled.dayLabel < before.dayLabel;
  const mustPut = unused !== undefined || granted > 0 || isBack;
  const hasEnded = mustPut && rolled.dayLabel > before.dayLabel && before.dayUsed > 0;
  return {
    result: { granted, counts: { ...rolled, minuteUsed, dayUsed }, nowMs },
    mustPut,
    finished: hasEnded ? { day: before.dayLabel, requests: before.dayUsed } : undefined,
  };
}

/** The counts after unused requests went back to those of their windows that still run. */
function withBack(counts: WindowCounts, unused: UnusedReservation): WindowCounts {
  const isOf = (name: "minuteLabel" | "dayLabel") => counts[name] === unused[name];
  const back = (used: number) => Math.max(0, used - unused.count);
  return {
    ...counts,
    minuteUsed: isOf("minuteLabel") ? back(counts.minuteUsed) : counts.minuteUsed,
    dayUsed: isOf("dayLabel") ? back(counts.dayUsed) : counts.dayUsed,
  };
}

/** The limits as a caller sees them: the three headers' numbers and the window they describe. */
export interface WindowView {
  readonly window: WindowName;
  readonly limit: number;
  readonly remaining: number;
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
