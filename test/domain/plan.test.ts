import { describe, expect, test } from "bun:test";
import { isLimit, limitMax, limitsOf, planNames, publishedLimits } from "../../src/domain/plan.ts";

const custom = { perMinute: 7, perDay: 70 };

test("the published limits are the specification's", () => {
  expect(publishedLimits).toEqual({
    free: { perMinute: 60, perDay: 1_000 },
    pro: { perMinute: 300, perDay: 10_000 },
    business: { perMinute: 1_000, perDay: 100_000 },
  });
  expect(planNames).toEqual(["free", "pro", "business", "enterprise"]);
});

describe("limitsOf", () => {
  test("a published plan has its own numbers and takes no others", () => {
    for (const plan of ["free", "pro", "business"] as const) {
      expect(limitsOf(plan, undefined)).toEqual(publishedLimits[plan]);
      expect(limitsOf(plan, custom)).toBeUndefined();
      expect(limitsOf(plan, publishedLimits[plan])).toBeUndefined();
    }
  });

  test("Enterprise has the numbers agreed on and none of its own", () => {
    expect(limitsOf("enterprise", custom)).toEqual(custom);
    expect(limitsOf("enterprise", undefined)).toBeUndefined();
  });
});

describe("isLimit", () => {
  test.each([1, 2, 60, limitMax - 1, limitMax])("takes %p", (value) =>
    expect(isLimit(value)).toBe(true),
  );

  test.each([0, -0, -1, 0.5, 1.5, limitMax + 1, 2 ** 53, 1e300, NaN, Infinity, -Infinity])(
    "refuses %p",
    (value) => expect(isLimit(value)).toBe(false),
  );
});
