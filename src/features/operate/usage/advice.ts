import {
  nearLimitShare,
  planNames,
  publishedLimits,
  type Limits,
  type PlanName,
} from "../../../domain/plan.ts";
import type { UsageDay } from "../../../storage/contract.ts";

/** Fewer refusals than both of these are no reason for another plan. */
const refusalsMin = 20;
const refusalShareMin = 0.01;

/** The use of a key on one day, for the choice of a plan. */
type DayOfUse = Pick<UsageDay, "requests" | "refusals">;

/** Why a key's plan does not fit, and the one that would. */
interface PlanAdvice {
  /** The window whose limit is too low. */
  readonly window: "minute" | "day";
  /** The smallest published plan that would fit, or Enterprise. */
  readonly plan: PlanName;
}

/**
 * The plan to offer for a key near its limits, or undefined if its plan fits. A day that was nearly
 * used up needs a larger day. Refusals without such a day mean that the minute is too small.
 */
export function planAdvice(limits: Limits, days: readonly DayOfUse[]): PlanAdvice | undefined {
  const peakPerDay = Math.max(0, ...days.map(({ requests }) => requests));
  if (peakPerDay >= limits.perDay * nearLimitShare) {
    const plan = smallestPlan(({ perDay }) => peakPerDay < perDay * nearLimitShare);
    return { window: "day", plan };
  }
  const requests = days.reduce((sum, day) => sum + day.requests, 0);
  const refusals = days.reduce((sum, day) => sum + day.refusals, 0);
  if (refusals < refusalsMin || refusals < requests * refusalShareMin) return undefined;
  const plan = smallestPlan(({ perMinute }) => perMinute > limits.perMinute);
  return { window: "minute", plan };
}

function smallestPlan(fits: (limits: Limits) => boolean): PlanName {
  const published = planNames.filter((name) => name !== "enterprise");
  return published.find((name) => fits(publishedLimits[name])) ?? "enterprise";
}
