/** Which plan to offer to the holder of a key that was near its limits. */
import type { ApiKey } from "../../domain/api-key.ts";
import { planNames, publishedLimits, type Limits, type PlanName } from "../../domain/plan.ts";
import type { WindowName } from "../../domain/windows.ts";
import type { UsageDay } from "./counters.ts";
import { nearLimitShare } from "./usage.ts";

/** The window whose limit is too low for a key, and the plan that would fit. */
interface PlanAdvice {
  readonly window: WindowName;
  readonly plan: PlanName;
}

/** The advice for a key that is still in use. */
export function adviceFor(key: ApiKey, days: readonly UsageDay[]): PlanAdvice | undefined {
  return key.revokedAtMs === undefined ? planAdvice(key.limits, days) : undefined;
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
