export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** The plans with published limits. Enterprise limits are agreed on, and stored with the key. */
export const publishedLimits = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
} as const satisfies Record<string, Limits>;

export const planNames = ["free", "pro", "business", "enterprise"] as const;
export type PlanName = (typeof planNames)[number];

/** The largest Enterprise limit. A larger one would leave the exact integers. */
export const limitMax = 1_000_000_000;

export function isLimit(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1 && value <= limitMax;
}

/**
 * The limits in force for a key. Only Enterprise has custom ones, and must have both.
 * Returns undefined if plan and numbers do not go together.
 */
export function limitsOf(plan: PlanName, custom: Limits | undefined): Limits | undefined {
  if (plan === "enterprise") return custom;
  return custom === undefined ? publishedLimits[plan] : undefined;
}
