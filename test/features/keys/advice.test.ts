import { describe, expect, test } from "bun:test";
import { planAdvice } from "../../../src/features/keys/usage.ts";
import { publishedLimits } from "../../../src/domain/plan.ts";

const { free, pro, business } = publishedLimits;
const day = (requests: number, refusals = 0) => ({ requests, refusals });

describe("a plan fits", () => {
  test.each([
    [[day(799)]],
    [[day(500, 19)]],
    // 20 of 100,000 is a slip.
    [[day(700, 6), day(700, 7), day(700, 7)].map((each) => ({ ...each, requests: 799 }))],
  ])("%j", (days) => expect(planAdvice(free, days)).toBeUndefined());
});

describe("a day that is nearly used up asks for a larger one", () => {
  test.each([
    [free, 800, "pro"],
    [free, 7_999, "pro"],
    [free, 8_000, "business"],
    [pro, 8_000, "business"],
    [business, 80_000, "enterprise"],
    [{ perMinute: 5, perDay: 10 }, 9, "free"],
    [{ perMinute: 5_000, perDay: 900_000 }, 900_000, "enterprise"],
  ] as const)("%j at %d a day: %s", (limits, peak, plan) => {
    expect(planAdvice(limits, [day(1), day(peak), day(2)])).toEqual({ window: "day", plan });
  });
});

describe("refusals below the day's limit ask for a larger minute", () => {
  test.each([
    [free, "pro"],
    [pro, "business"],
    [business, "enterprise"],
    [{ perMinute: 100, perDay: 1_000_000 }, "pro"],
  ] as const)("%j: %s", (limits, plan) => {
    expect(planAdvice(limits, [day(300, 15), day(300, 15)])).toEqual({ window: "minute", plan });
  });

  test("a hundredth of the requests, not less", () => {
    expect(planAdvice(business, [day(2_000, 20)])?.window).toBe("minute");
    expect(planAdvice(business, [day(2_001, 20)])).toBeUndefined();
  });
});
