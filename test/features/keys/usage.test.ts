import { expect, test } from "bun:test";
import { publishedLimits } from "../../../src/domain/plan.ts";
import { countsOf, isoDay, planAdvice } from "../../../src/features/keys/usage.ts";
import { windowMs } from "../../../src/domain/windows.ts";
import { TestClock } from "../../helpers/app.ts";
import { makeKey, temporaryFolder } from "../../helpers/binary.ts";
import { command } from "../../helpers/command.ts";
import { servicesOn } from "../../helpers/services.ts";
import { openTestStore } from "../../helpers/store-under-test.ts";
import { liveThrough } from "../../helpers/usage.ts";

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

const ago = (days: number) => isoDay(Math.floor(Date.now() / windowMs.day) - days);

test("keys show has the days of a key, as far back as asked, and keys list who needs another plan", async () => {
  using folder = temporaryFolder();
  const env = { REHOME_DATA: folder.path };
  const printed = async (...args: string[]) => (await command(["keys", ...args], { env })).stdout;
  const { id } = await makeKey(folder.path, "--plan", "free", "--name", "busy");
  const other = await makeKey(folder.path, "--plan", "pro", "--name", "pressed");
  await makeKey(folder.path, "--plan", "free", "--name", "idle");
  await liveThrough(folder.path, id, [
    { daysAgo: 40, requests: 77 },
    { daysAgo: 3, requests: 900, refusals: 5 },
    { daysAgo: 2, requests: 0, bans: 1 },
    { daysAgo: 0, requests: 20 },
  ]);
  await liveThrough(folder.path, other.id, [{ daysAgo: 1, requests: 2_000, refusals: 100 }]);
  const revoked = await makeKey(folder.path, "--plan", "free", "--name", "revoked");
  await liveThrough(folder.path, revoked.id, [{ daysAgo: 1, requests: 900 }]);
  await printed("revoke", "revoked");
  const days = [
    { day: ago(3), requests: 900, refusals: 5, bans: 0 },
    { day: ago(2), requests: 0, refusals: 0, bans: 1 },
    { day: ago(0), requests: 20, refusals: 0, bans: 0 },
  ];
  const shown = async (...args: string[]) => {
    const text = await printed("show", "busy", "--json", ...args);
    return (JSON.parse(text) as { days: unknown }).days;
  };
  expect(await shown()).toEqual(days);
  expect(await shown("--days", "1")).toEqual(days.slice(-1));
  expect(await shown("--days", "41")).toMatchObject([{ day: ago(40), requests: 77 }, ...days]);
  const keys = JSON.parse(await printed("list", "--json")) as {
    name: string;
    advice: unknown;
  }[];
  expect(Object.fromEntries(keys.map(({ name, advice }) => [name, advice]))).toEqual({
    busy: { window: "day", plan: "pro" },
    pressed: { window: "minute", plan: "business" },
    idle: null,
    revoked: null,
  });
  const text = await printed("list");
  expect(text).toContain("used 90% of its day (900 of 1,000).");
  expect(text).toContain(`rehome keys update ${id} --plan pro\n`);
  expect(text).toContain('"pressed", plan pro, was refused 100 times');
});
