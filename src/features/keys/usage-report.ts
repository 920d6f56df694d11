import type { ApiKey } from "../../domain/api-key.ts";
import { isoDay } from "./usage.ts";
import { nearLimitShare } from "./usage.ts";
import { planNames, publishedLimits, type Limits, type PlanName } from "../../domain/plan.ts";
import type { WindowName } from "../../domain/windows.ts";
import type { UsageDay } from "./counters.ts";

type Totals = Pick<UsageDay, "requests" | "refusals" | "bans">;

/** The window whose limit is too low for a key, and the plan that would fit. */
export interface PlanAdvice {
  readonly window: WindowName;
  readonly plan: PlanName;
}

export interface UsageReport {
  readonly totals: Totals;
  readonly days: readonly (Totals & { readonly day: string })[];
  readonly keys: readonly (Totals & {
    readonly id: string;
    readonly name: string;
    readonly plan: PlanName;
    readonly peakPerDay: number;
    readonly perDay: number;
    readonly advice: PlanAdvice | null;
  })[];
}

/** What `keys` did in the `dayCount` days up to `today`, and which are near their limits. */
export function usageReport(
  keys: readonly ApiKey[],
  days: readonly UsageDay[],
  today: number,
  dayCount: number,
): UsageReport {
  const firstDay = today - dayCount + 1;
  const known = new Set(keys.map(({ id }) => id));
  const ours = days.filter(({ keyId, day }) => known.has(keyId) && day >= firstDay && day <= today);
  const byDay = Map.groupBy(ours, (each) => each.day);
  const byKey = Map.groupBy(ours, ({ keyId }) => keyId);
  return {
    totals: sum(ours),
    days: Array.from({ length: dayCount }, (_, at) => {
      const day = firstDay + at;
      return { day: isoDay(day), ...sum(byDay.get(day) ?? []) };
    }),
    keys: keys
      .map((key) => keyReport(key, byKey.get(key.id) ?? []))
      .toSorted((a, b) => b.requests - a.requests),
  };
}

function keyReport(key: ApiKey, days: readonly UsageDay[]): UsageReport["keys"][number] {
  return {
    id: key.id,
    name: key.name,
    plan: key.plan,
    ...sum(days),
    peakPerDay: Math.max(0, ...days.map(({ requests }) => requests)),
    perDay: key.limits.perDay,
    advice: adviceFor(key, days) ?? null,
  };
}

/** The advice for a key that is still in use. */
export function adviceFor(key: ApiKey, days: readonly UsageDay[]): PlanAdvice | undefined {
  return key.revokedAtMs === undefined ? planAdvice(key.limits, days) : undefined;
}

function sum(days: readonly UsageDay[]): Totals {
  const of = (field: keyof Totals) => days.reduce((total, each) => total + each[field], 0);
  return { requests: of("requests"), refusals: of("refusals"), bans: of("bans") };
}

/** Fewer refusals than both of these are no reason for another plan. */
const refusalsMin = 20;
const refusalShareMin = 0.01;

/**
 * The plan to offer for a key near its limits, or undefined if its plan fits. A day that was nearly
 * used up needs a larger day. Refusals without such a day mean that the minute is too small.
 */
export function planAdvice(
  limits: Limits,
  days: readonly Pick<UsageDay, "requests" | "refusals">[],
): PlanAdvice | undefined {
  const peakPerDay = Math.max(0, ...days.map(({ requests }) => requests));
  if (peakPerDay >= limits.perDay * nearLimitShare) {
    const plan = smallestPlan(({ perDay }) => peakPerDay < perDay * nearLimitShare);
    return { window: "day", plan };
  }
  const requests = days.reduce((total, day) => total + day.requests, 0);
  const refusals = days.reduce((total, day) => total + day.refusals, 0);
  if (refusals < refusalsMin || refusals < requests * refusalShareMin) return undefined;
  const plan = smallestPlan(({ perMinute }) => perMinute > limits.perMinute);
  return { window: "minute", plan };
}

function smallestPlan(fits: (limits: Limits) => boolean): PlanName {
  const published = planNames.filter((name) => name !== "enterprise");
  return published.find((name) => fits(publishedLimits[name])) ?? "enterprise";
}
