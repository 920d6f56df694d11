import { expect, test } from "bun:test";
import { planAdvice } from "../../../src/features/keys/usage.ts";
import { publishedLimits } from "../../../src/domain/plan.ts";

const { free, pro, business } = publishedLimits;
const day = (requests: number, refusals = 0) => ({ requests, refusals });

test.each([
  [free, [day(799)], undefined],
  [free, [day(500, 19)], undefined],
  // A day that is nearly used up asks for a larger one.
  [free, [day(1), day(800), day(2)], "day pro"],
  [free, [day(7_999)], "day pro"],
  [free, [day(8_000)], "day business"],
  [pro, [day(8_000)], "day business"],
  [business, [day(80_000)], "day enterprise"],
  [{ perMinute: 5, perDay: 10 }, [day(9)], "day free"],
  [{ perMinute: 5_000, perDay: 900_000 }, [day(900_000)], "day enterprise"],
  // Refusals below the day's limit ask for a larger minute: twenty, and a hundredth at least.
  [free, [day(300, 15), day(300, 15)], "minute pro"],
  [pro, [day(300, 20)], "minute business"],
  [business, [day(2_000, 20)], "minute enterprise"],
  [business, [day(2_001, 20)], undefined],
  [{ perMinute: 100, perDay: 1_000_000 }, [day(300, 30)], "minute pro"],
] as const)("%j with %j: %s", (limits, days, expected) => {
  const { window, plan } = planAdvice(limits, days) ?? {};
  expect(window && `${window} ${plan}`).toBe(expected);
});
