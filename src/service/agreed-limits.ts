import { AppError } from "../domain/errors.ts";
import {
  isLimit,
  limitMax,
  limitsOf,
  planNames,
  type Limits,
  type PlanName,
} from "../domain/plan.ts";

/** What an operator may say of a key's plan and limits; the numbers go with Enterprise only. */
export interface PlanChange {
  readonly plan?: PlanName | undefined;
  readonly perMinute?: number | undefined;
  readonly perDay?: number | undefined;
}

/** The limits of a plan, or `invalid_request`: Enterprise needs both numbers, no other has any. */
export function agreedLimits(
  plan: PlanName,
  { perMinute, perDay }: Omit<PlanChange, "plan">,
): Limits {
  for (const limit of [perMinute, perDay]) {
    if (limit !== undefined && !isLimit(limit)) {
      throw new AppError(
        "invalid_request",
        `A limit must be a whole number from 1 to ${limitMax}.`,
      );
    }
  }
  const given = perMinute !== undefined || perDay !== undefined;
  const custom =
    perMinute === undefined || perDay === undefined ? undefined : { perMinute, perDay };
  const limits = given && custom === undefined ? undefined : limitsOf(plan, custom);
  if (limits !== undefined) return limits;
  throw plan === "enterprise"
    ? new AppError(
        "invalid_request",
        "The enterprise plan has no limits of its own; it needs both numbers.",
        {
          hint: "Add --per-minute N --per-day N.",
        },
      )
    : new AppError(
        "invalid_request",
        `The ${plan} plan has published limits; only enterprise takes its own.`,
        {
          hint: `Leave --per-minute and --per-day out, or choose --plan enterprise (plans: ${planNames.join(", ")}).`,
        },
      );
}
