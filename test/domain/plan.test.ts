import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  blockSize,
  isLimit,
  limitMax,
  limitsOf,
  planNames,
  publishedLimits,
} from "../../src/domain/plan.ts";
import { checked } from "./checked.ts";

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

describe("blockSize", () => {
  test("is one second's worth, rounded up", () => {
    expect(blockSize(publishedLimits.free)).toBe(1);
    expect(blockSize(publishedLimits.pro)).toBe(5);
    expect(blockSize(publishedLimits.business)).toBe(17);
    expect(blockSize({ perMinute: 1, perDay: 1 })).toBe(1);
    expect(blockSize({ perMinute: 61, perDay: 61 })).toBe(2);
    expect(blockSize({ perMinute: 6_000, perDay: 10 })).toBe(1);
  });

  test("is the smallest whole number that sixty times over fills a minute", () => {
    checked(fc.integer({ min: 1, max: limitMax }), (perMinute) => {
      const size = blockSize({ perMinute, perDay: limitMax });
      expect(Number.isSafeInteger(size)).toBe(true);
      expect(size * 60).toBeGreaterThanOrEqual(perMinute);
      expect((size - 1) * 60).toBeLessThan(perMinute);
    });
  });
});
