import type { ApiKey } from "../../../domain/api-key.ts";
import { isoDay } from "../../../domain/clock.ts";
import {
  nearLimitShare,
  planNames,
  publishedLimits,
  type Limits,
  type PlanName,
} from "../../../domain/plan.ts";
import { windowNames } from "../../../domain/windows.ts";
import type { UsageDay } from "../../../storage/contract.ts";
import { json, type Static } from "../../json.ts";

const { count, day, list, object, oneOf, orNull, text } = json;

const totals = {
  requests: count("admitted requests"),
  refusals: count("requests over a limit, refused with 429"),
  bans: count("started automatic bans"),
};

export const usageSchema = object({
  from: day("first day"),
  to: day("last day, which is today"),
  totals: object(totals),
  days: list(object({ day: day("UTC day"), ...totals })),
  keys: list(
    object({
      id: text("id of the key"),
      name: text("label"),
      plan: oneOf(planNames, "plan"),
      ...totals,
      peakPerDay: count("requests on its highest day"),
      perDay: count("requests per day that its plan allows"),
      advice: orNull(
        object(
          {
            window: oneOf(windowNames, "window whose limit is too low"),
            plan: oneOf(planNames, "plan that would fit"),
          },
          { description: "set when the key is near its limits" },
        ),
      ),
    }),
  ),
});
export type UsageReport = Static<typeof usageSchema>;

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
    from: isoDay(firstDay),
    to: isoDay(today),
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
  const advice = key.revokedAtMs === undefined ? planAdvice(key.limits, days) : undefined;
  return {
    id: key.id,
    name: key.name,
    plan: key.plan,
    ...sum(days),
    peakPerDay: Math.max(0, ...days.map(({ requests }) => requests)),
    perDay: key.limits.perDay,
    advice: advice ?? null,
  };
}

function sum(days: readonly UsageDay[]): UsageReport["totals"] {
  const of = (field: keyof UsageReport["totals"]) =>
    days.reduce((total, each) => total + each[field], 0);
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
): NonNullable<UsageReport["keys"][number]["advice"]> | undefined {
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
