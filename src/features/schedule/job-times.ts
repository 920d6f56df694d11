/**
 * When the service does by itself what is due: pulls of followed lists and backups. Times are in
 * milliseconds since 1970.
 */

import { hourMs, minuteMs } from "../../domain/clock.ts";

/** What is wrong with a job. Who has words of their own for the code shows these. */
export interface JobProblem {
  readonly text: string;
  readonly code?: string;
  readonly values?: readonly string[];
}

export interface JobTimes {
  readonly everyMs: number;
  readonly nextAtMs: number;
  /** When it was last begun, or ended since; null if never. */
  readonly triedAtMs: number | null;
  /** How often in a row it failed. */
  readonly failures: number;
}

export const intervalMinMs = 15 * minuteMs;
const firstRetryMs = minuteMs;

/**
 * How long a job that was begun keeps others from beginning it again. A process that dies leaves
 * it to them after that.
 */
export const leaseMs = 15 * minuteMs;

export const jobMaxMs = 6 * hourMs;

/**
 * True if the job is to begin. One that was tried far in the future was tried before the clock
 * went back: it begins once, and then goes on by the new clock. Within a lease it may be the clock
 * of another server that is ahead.
 */
export function isDue({ nextAtMs, triedAtMs }: JobTimes, nowMs: number): boolean {
  return nextAtMs <= nowMs || (triedAtMs !== null && triedAtMs > nowMs + leaseMs);
}

const lateIntervals = 3;
const veryLateMs = 48 * hourMs;

/** How late a job is whose last success was `sinceMs` ago: a problem later (`warn`), or now. */
export function lateness(everyMs: number, sinceMs: number): "ok" | "warn" | "fail" {
  if (sinceMs <= lateIntervals * everyMs) return "ok";
  return sinceMs > veryLateMs ? "fail" : "warn";
}

/**
 * When to do it again after a success. `spread`, from 0 to 1, shortens the interval by up to 10 %,
 * so that many stores do not ask a source at the same moment.
 */
export function nextAfterSuccess(everyMs: number, nowMs: number, spread: number): number {
  return nowMs + everyMs - Math.floor(everyMs * 0.1 * spread);
}

/**
 * When to try again after the last of `failures` in a row: after a minute, then twice as long each
 * time, at most the interval. A source that asks for more time gets it.
 */
export function nextAfterFailure(
  { everyMs, failures }: Pick<JobTimes, "everyMs" | "failures">,
  nowMs: number,
  retryAfterMs = 0,
): number {
  return nowMs + Math.max(backoffMs(everyMs, failures), retryAfterMs);
}

function backoffMs(everyMs: number, failures: number): number {
  return Math.min(firstRetryMs * 2 ** Math.min(failures - 1, 30), everyMs);
}

/** How often in a row a job failed, behind what failed; nothing for once. */
export const timesInARow = (failures: number): string =>
  failures > 1 ? `, ${failures} times in a row` : "";

/** How long at least a job has failed: the times between so many failures in a row. */
export function failingMs({ everyMs, failures }: Pick<JobTimes, "everyMs" | "failures">): number {
  let ms = 0;
  for (let failed = 1; failed < failures; failed++) ms += backoffMs(everyMs, failed);
  return ms;
}
