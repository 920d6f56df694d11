import { windowMs } from "../domain/windows.ts";
import type { UsageDay, UsageDelta } from "./contract.ts";

/** Finished days are kept this long. */
export const usageKeptDays = 400;

/** Kept days together with the running ones, whose requests stand in the windows; oldest first. */
export function usageWithRunningDays(
  kept: readonly UsageDay[],
  running: readonly { readonly keyId: string; readonly day: number; readonly requests: number }[],
): UsageDay[] {
  const days = new Map(kept.map((row) => [`${row.keyId} ${row.day}`, row]));
  for (const { requests, ...row } of running) {
    const id = `${row.keyId} ${row.day}`;
    const sofar = days.get(id) ?? { ...row, requests: 0, refusals: 0, bans: 0 };
    days.set(id, { ...sofar, requests: sofar.requests + requests });
  }
  return [...days.values()].toSorted((a, b) => a.day - b.day || (a.keyId < b.keyId ? -1 : 1));
}

/** The usage of a key that was banned at `nowMs`. */
export function bannedOn(keyId: string, nowMs: number): UsageDelta {
  return { keyId, day: Math.floor(nowMs / windowMs.day), refusals: 0, bans: 1 };
}
