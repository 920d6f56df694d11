import { expect, test } from "bun:test";
import { limitMax, planNames } from "../../src/domain/plan.ts";
import { agreedLimits, type PlanChange } from "../../src/service/keys.ts";

test.each([0, -1, 1.5, Number.NaN, limitMax + 1])("%d is no limit", (limit) => {
  for (const numbers of [
    { perMinute: limit, perDay: 1 },
    { perMinute: 1, perDay: limit },
  ]) {
    expect(() => agreedLimits("enterprise", numbers)).toThrow("A limit must be a whole number");
  }
});

const some: PlanChange[] = [{ perMinute: 5 }, { perDay: 5 }];

test("enterprise has the limits that were agreed on, and needs both", () => {
  const both = { perMinute: 1, perDay: limitMax };
  expect(agreedLimits("enterprise", both)).toEqual(both);
  for (const numbers of [{}, ...some]) {
    expect(() => agreedLimits("enterprise", numbers)).toThrow("it needs both numbers");
  }
});

test.each(planNames.filter((plan) => plan !== "enterprise"))("%s takes no limits", (plan) => {
  for (const numbers of [...some, { perMinute: 5, perDay: 5 }]) {
    expect(() => agreedLimits(plan, numbers)).toThrow("only enterprise takes its own");
  }
});
