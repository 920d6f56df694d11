/** How many requests a key may make in each window. */
export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

/**
 * The plans with published limits. Enterprise limits are agreed with each customer and stand beside
 * the key.
 */
export const publishedLimits = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
} as const satisfies Record<string, Limits>;

export const planNames = ["free", "pro", "business", "enterprise"] as const;
export type PlanName = (typeof planNames)[number];

/**
 * The largest number that an Enterprise limit may be; above it a counter would leave the exact
 * integers.
 */
export const limitMax = 1_000_000_000;

/** True when `value` can be an Enterprise limit: a whole number from 1 to `limitMax`. */
export function isLimit(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1 && value <= limitMax;
}

/**
 * The limits in force for a key. Only Enterprise has custom ones, and must have both.
 * Returns undefined where plan and numbers do not go together.
 */
export function limitsOf(plan: PlanName, custom: Limits | undefined): Limits | undefined {
  if (plan === "enterprise") return custom;
  return custom === undefined ? publishedLimits[plan] : undefined;
}

/**
 * How many requests a process may take ahead for a key: what the plan allows in one second, rounded
 * up. A busy key then costs about one write a second, and a killed process loses at most that many.
 * Where the day allows less than the minute, it is a sixtieth of the day, so that a kill never
 * costs a key its whole day.
 */
export function blockSize({ perMinute, perDay }: Limits): number {
  return Math.ceil(Math.min(perMinute, perDay) / 60);
}
