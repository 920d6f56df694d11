import { expect, test } from "bun:test";
import { publishedLimits } from "../../../src/domain/plan.ts";
import { countsOf, planAdvice } from "../../../src/features/keys/usage.ts";
import { windowMs } from "../../../src/domain/windows.ts";
import { TestClock } from "../../helpers/app.ts";
import { servicesOn } from "../../helpers/services.ts";
import { openTestStore } from "../../helpers/store-under-test.ts";

async function services() {
  const clock = new TestClock();
  const store = await openTestStore({ clock: clock.read });
  const { keys, usage } = servicesOn(store, { clock: clock.read });
  const take = async (keyId: string, want: number, giveBack = 0) => {
    const { windows } = store;
    const counts = await countsOf(store, keyId);
    const unused =
      giveBack === 0 || counts === undefined
        ? undefined
        : { minuteLabel: counts.minuteLabel, dayLabel: counts.dayLabel, count: giveBack };
    await windows.reserve(
      [{ keyId, limits: { perMinute: 1_000, perDay: 10_000 }, want, unused }],
      [],
    );
  };
  return { clock, keys, usage, take };
}

test("the use of a key now starts anew with each window, and remembers the day of the last request", async () => {
  const { keys, usage, clock, take } = await services();
  const { key } = await keys.create({ name: "a", plan: "pro" });
  const day = usage.today();
  await take(key.id, 7);
  clock.advance(windowMs.minute);
  await take(key.id, 5);
  const now = await usage.now(key);
  expect(now).toMatchObject({ counts: { minuteUsed: 5, dayUsed: 12 }, lastUsedDay: day });
  clock.advance(3 * windowMs.day);
  const later = await usage.now(key);
  expect(later).toMatchObject({ counts: { minuteUsed: 0, dayUsed: 0 }, lastUsedDay: day });
});

test("the use of a key now a block that is only given back is no use", async () => {
  const { keys, usage, clock, take } = await services();
  const { key } = await keys.create({ name: "a", plan: "pro" });
  const day = usage.today();
  await take(key.id, 7);
  clock.advance(2 * windowMs.day);
  await take(key.id, 0, 3);
  const use = await usage.now(key);
  expect(use.lastUsedDay).toBe(day);
  expect(await usage.days(30, key.id)).toMatchObject([{ day, requests: 4 }, { requests: 0 }]);
});

const { free, business } = publishedLimits;
const day = (requests: number, refusals = 0) => ({ requests, refusals });

test.each([
  [free, [day(500, 19)], undefined],
  // A day that is nearly used up asks for a larger one.
  [free, [day(1), day(800), day(2)], "day pro"],
  [free, [day(7_999)], "day pro"],
  [free, [day(8_000)], "day business"],
  [{ perMinute: 5, perDay: 10 }, [day(9)], "day free"],
  [{ perMinute: 5_000, perDay: 900_000 }, [day(900_000)], "day enterprise"],
  // Refusals below the day's limit ask for a larger minute: twenty, and a hundredth at least.
  [free, [day(300, 15), day(300, 15)], "minute pro"],
  [business, [day(2_000, 20)], "minute enterprise"],
  [business, [day(2_001, 20)], undefined],
] as const)("%j with %j: %s", (limits, days, expected) => {
  const { window, plan } = planAdvice(limits, days) ?? {};
  expect(window && `${window} ${plan}`).toBe(expected);
});
