import { clockToleranceMs, dayMs, hourMs, minuteMs } from "./clock.ts";
import type { Limits } from "./plan.ts";
import { windowMs } from "./windows.ts";

/** Refusals within this time of a minute's first one were in flight already and are not counted. */
const refusalGraceMs = 2_000;
/** More counted refusals than this, and than half its limit, make a minute noisy. */
const noisyRefusalsMin = 20;
/** So many noisy minutes within `noisySpanMinutes` lead to a ban. */
const noisyMinutesForBan = 3;
const noisySpanMinutes = 10;
/** The lengths of the first ban and of each later one. */
export const banStepsMs = [5 * minuteMs, 15 * minuteMs, hourMs, dayMs] as const;
/** A ban is forgotten by one step for each day without one. */
const forgivenessMs = dayMs;

export interface BanState {
  /** Labels of the minutes that were noisy lately, oldest first. */
  readonly noisyMinutes: readonly number[];
  /** How many steps the next ban is above the first; falls with clean days, see `stepAt`. */
  readonly step: number;
  /** When the last ban ends or ended, or 0 when there was none. Milliseconds since the epoch. */
  readonly bannedUntilMs: number;
  /** Why the last ban was imposed, for the caller and the operator; empty once it is lifted. */
  readonly reason: string;
}

export const noBan: BanState = { noisyMinutes: [], step: 0, bannedUntilMs: 0, reason: "" };

/** NEVER change: it is stored with each ban by an operator, and tells it from an automatic one. */
export const operatorReason = "the operator of this service imposed it";
const automaticBanMaxMs = Math.max(...banStepsMs);

/**
 * True while the ban is in force. An automatic ban longer than the longest one comes from a clock
 * that was ahead. It is void, so that it does not block a key for years.
 */
export function isBanned(state: BanState, nowMs: number): boolean {
  const leftMs = state.bannedUntilMs - nowMs;
  // A lifted ban has no reason, and stays lifted if the clock goes back.
  if (leftMs <= 0 || state.reason === noBan.reason) return false;
  return state.reason === operatorReason || leftMs <= automaticBanMaxMs + clockToleranceMs;
}

export interface RefusalCount {
  minuteLabel: number;
  firstMs: number;
  counted: number;
}

/**
 * Counts one refusal (429, not banned) at `nowMs` into `count`, in place because this runs for
 * every 429. Returns true once per noisy minute: for the refusal that makes it noisy.
 */
export function countRefusal(count: RefusalCount, limits: Limits, nowMs: number): boolean {
  const minuteLabel = Math.floor(nowMs / windowMs.minute);
  if (count.minuteLabel !== minuteLabel) {
    count.minuteLabel = minuteLabel;
    count.firstMs = nowMs;
    count.counted = 0;
  }
  if (nowMs - count.firstMs < refusalGraceMs) return false;
  count.counted += 1;
  // So many a minute are not noisy.
  return count.counted === Math.max(noisyRefusalsMin, Math.floor(limits.perMinute / 2)) + 1;
}

/** The step of a ban imposed at `nowMs`: each clean day since the last ban's end forgives one. */
export function stepAt(state: BanState, nowMs: number): number {
  const cleanDays = Math.max(0, Math.floor((nowMs - state.bannedUntilMs) / forgivenessMs));
  return Math.max(0, state.step - cleanDays);
}

/**
 * The state after a noisy minute at `nowMs`. The same minute counts once, whichever process reports
 * it. Three within ten minutes impose a ban. A minute reported during a ban changes nothing.
 */
export function recordNoisyMinute(state: BanState, minuteLabel: number, nowMs: number): BanState {
  if (isBanned(state, nowMs) || state.noisyMinutes.includes(minuteLabel)) return state;
  const noisyMinutes = [...state.noisyMinutes, minuteLabel].filter(
    (label) => label > minuteLabel - noisySpanMinutes && label <= minuteLabel,
  );
  if (noisyMinutes.length < noisyMinutesForBan) return { ...state, noisyMinutes };
  const lastStep = banStepsMs.length - 1;
  const step = Math.min(stepAt(state, nowMs), lastStep);
  return {
    noisyMinutes: [],
    // Never above the last: there the first clean day would forgive nothing.
    step: Math.min(step + 1, lastStep),
    bannedUntilMs: nowMs + (banStepsMs[step] ?? 0),
    reason: `it went on sending requests after 429 in ${noisyMinutesForBan} minutes out of ${noisySpanMinutes}`,
  };
}
