/** What a store promises of the windows of keys, and of their usage, on each of the two. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { dayMs, minuteMs } from "../../src/domain/clock.ts";
import { unusedCounts } from "../../src/domain/windows.ts";
import { countsOf, usageSince } from "../../src/features/keys/usage.ts";
import type { Store } from "../../src/storage/contract.ts";
import { countBan } from "../../src/storage/keys.ts";
import { hookTimeoutMs } from "../helpers/postgres.ts";
import { stores, type StorePlace } from "../helpers/stores.ts";

const noonMs = Date.UTC(2026, 10, 21, 12, 0, 10);

describe.each(stores)("$name", (kind) => {
  let place: StorePlace;
  let store: Store;
  let nowMs = noonMs;

  beforeAll(async () => {
    place = await kind.place();
    store = await place.open(() => nowMs);
  }, hookTimeoutMs);
  afterAll(async () => {
    await store.close();
    await place[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    nowMs = noonMs;
  });

  const limits = { perMinute: 10, perDay: 25 };
  const one = async (keyId: string, want: number, unused?: { label: number; count: number }) => {
    const block =
      unused === undefined
        ? undefined
        : {
            minuteLabel: unused.label,
            dayLabel: Math.floor(noonMs / dayMs),
            count: unused.count,
          };
    const [result] = await store.windows.reserve([{ keyId, limits, want, unused: block }], []);
    return result as NonNullable<typeof result>;
  };

  test("grant up to the minute's limit, then nothing until the next, then up to the day's", async () => {
    expect(await countsOf(store, "w1")).toBeUndefined();
    expect((await one("w1", 7)).granted).toBe(7);
    expect((await one("w1", 7)).granted).toBe(3);
    expect((await one("w1", 1)).granted).toBe(0);
    nowMs += minuteMs;
    expect((await one("w1", 10)).granted).toBe(10);
    nowMs += minuteMs;
    const last = await one("w1", 10);
    expect(last).toMatchObject({ granted: 5, nowMs, counts: { dayUsed: 25, minuteUsed: 5 } });
    expect(await countsOf(store, "w1")).toEqual(last.counts);
  });

  test("take back what was not used, in its own windows only", async () => {
    const label = Math.floor(noonMs / minuteMs);
    await one("w2", 10);
    expect((await one("w2", 0, { label, count: 4 })).counts.minuteUsed).toBe(6);
    expect((await one("w2", 10)).granted).toBe(4);
    nowMs += minuteMs;
    expect((await one("w2", 0, { label, count: 3 })).counts).toMatchObject({
      minuteUsed: 0,
      dayUsed: 7,
    });
  });

  test("serve several keys at once, and one key several times", async () => {
    const want = (keyId: string, n: number) => ({ keyId, limits, want: n, unused: undefined });
    const [three, ...others] = await Promise.all([
      store.windows.reserve([want("w5", 6), want("w4", 2), want("w5", 6)], []),
      store.windows.reserve([want("w4", 9), want("w6", 1)], []),
      store.windows.reserve([], []),
    ]);
    expect(three?.map(({ granted }) => granted)).toEqual([6, 2, 4]);
    expect(others.map((results) => results.map(({ granted }) => granted))).toEqual([[8, 1], []]);
  });

  test("keep a finished day's requests as usage, beside the running day's", async () => {
    const today = Math.floor(noonMs / dayMs);
    await one("w7", 8);
    await store.windows.reserve([], [{ keyId: "w7", day: today, refusals: 2 }]);
    for (let bans = 0; bans < 2; bans += 1) {
      await store.counters.transaction((tx) => countBan(tx, "w7", nowMs));
    }
    expect(await usageSince(store, today, "w7")).toEqual([
      { keyId: "w7", day: today, requests: 8, refusals: 2, bans: 2 },
    ]);
    nowMs += dayMs;
    await one("w7", 5);
    await store.windows.reserve([], [{ keyId: "w7", day: today, refusals: 1 }]);
    expect(await usageSince(store, today, "w7")).toEqual([
      { keyId: "w7", day: today, requests: 8, refusals: 3, bans: 2 },
      { keyId: "w7", day: today + 1, requests: 5, refusals: 0, bans: 0 },
    ]);
    expect(await usageSince(store, today + 1, "w7")).toHaveLength(1);
    expect((await usageSince(store, today, undefined)).length).toBeGreaterThan(2);
    expect(unusedCounts.dayUsed).toBe(0);
  });

  test("keep 400 days with requests of a key, whatever the clock says", async () => {
    const today = Math.floor(noonMs / dayMs);
    const days = Array.from({ length: 399 }, (_, ago) => ({
      day: today - 500 + ago,
      requests: 1,
    }));
    await store.counters.transaction(async (tx) => {
      for (const keyId of ["w8", "w9"]) {
        await tx.insertAll(
          tx.t.usageDays,
          days.map((day) => ({ keyId, ...day })),
        );
      }
    });
    const daysOf = async (keyId: string) =>
      (await usageSince(store, 0, keyId)).map(({ day }) => day - today);
    for (const day of [0, 4_000, 4_001]) {
      nowMs = noonMs + day * dayMs;
      await one("w8", 2);
    }
    // 400 that ended, and the running one.
    expect(await daysOf("w8")).toEqual([
      ...days.slice(1).map(({ day }) => day - today),
      0,
      4_000,
      4_001,
    ]);
    expect(await daysOf("w9")).toHaveLength(399);
  });
});
