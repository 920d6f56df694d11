import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { type Limits, publishedLimits } from "../../src/domain/plan.ts";
import {
  reservationSize,
  giveBack,
  labelAt,
  retryAfterSeconds,
  reserve,
  unusedCounts,
  type WindowCounts,
  windowMs,
  windowView,
} from "../../src/domain/windows.ts";
import { checked } from "./checked.ts";

const { minute, day } = windowMs;
const startMs = Date.UTC(2026, 10, 21, 8, 30);
const midnightMs = Date.UTC(2026, 10, 22);
const { free } = publishedLimits;

/** The counts of a key with `minuteUsed` and `dayUsed` in the windows of `nowMs`. */
function countsAt(nowMs: number, minuteUsed: number, dayUsed: number): WindowCounts {
  return {
    minuteLabel: Math.floor(nowMs / minute),
    minuteUsed,
    dayLabel: Math.floor(nowMs / day),
    dayUsed,
  };
}

const smallLimits = fc.record({
  perMinute: fc.integer({ min: 1, max: 130 }),
  perDay: fc.integer({ min: 1, max: 400 }),
});
const someLimits: fc.Arbitrary<Limits> = fc.oneof(
  smallLimits,
  fc.constantFrom(...Object.values(publishedLimits)),
);
const someTime = fc.oneof(
  fc.integer({ min: startMs, max: startMs + 2 * day }),
  fc
    .tuple(fc.constantFrom(startMs, midnightMs), fc.integer({ min: -6_000, max: 6_000 }))
    .map(([edgeMs, offsetMs]) => edgeMs + offsetMs),
);

describe("labelAt", () => {
  test("is the window of the clock, and of its first millisecond too", () => {
    expect(labelAt(0, startMs, minute)).toBe(startMs / minute);
    expect(labelAt(0, startMs - 1, minute)).toBe(startMs / minute - 1);
    expect(labelAt(0, midnightMs, day)).toBe(midnightMs / day);
    expect(labelAt(0, midnightMs - 1, day)).toBe(midnightMs / day - 1);
  });

  test("stays where it is one window ahead of the clock, and moves back where it is further", () => {
    for (const [lengthMs, edgeMs] of [
      [minute, startMs],
      [day, midnightMs],
    ] as const) {
      const label = edgeMs / lengthMs;
      const behindMs = [0, 1, 15_000, lengthMs, lengthMs + 1, 2 * lengthMs + 1];
      const labels = behindMs.map((ms) => labelAt(label, edgeMs - ms, lengthMs));
      expect(labels).toEqual([label, label, label, label, label - 2, label - 3]);
    }
  });
});

describe("a row written by a clock that was wrong", () => {
  const farMs = Date.UTC(2099, 0, 1, 12);

  test("a label from the year 2099 freezes the key for one window at most and keeps its count", () => {
    const full = countsAt(farMs, free.perMinute, 200);
    const refused = reserve(full, free, 1, startMs + 10_000);
    expect(refused.granted).toBe(0);
    expect(refused.counts).toEqual(countsAt(startMs, free.perMinute, 200));
    const later = reserve(full, free, 1, startMs + minute);
    expect(later.granted).toBe(0);
    const next = reserve(refused.counts, free, 1, startMs + minute);
    expect(next.granted).toBe(1);
    expect(next.counts).toEqual(countsAt(startMs + minute, 1, 201));
  });

  test("its day's count is kept until midnight and gone after it", () => {
    const full = countsAt(farMs, 0, free.perDay);
    const refused = reserve(full, free, 1, startMs);
    expect(refused.granted).toBe(0);
    expect(reserve(refused.counts, free, 1, midnightMs - 1).granted).toBe(0);
    expect(reserve(refused.counts, free, 1, midnightMs).granted).toBe(1);
  });
});

describe("reserve", () => {
  test("the 60th of a minute passes, the 61st does not, and the next minute begins at zero", () => {
    const lastMs = startMs + minute - 1;
    const full = reserve(unusedCounts, free, 60, lastMs);
    expect(full.granted).toBe(60);
    expect(reserve(full.counts, free, 1, lastMs).granted).toBe(0);
    const next = reserve(full.counts, free, 61, lastMs + 1);
    expect(next).toEqual({ granted: 60, counts: countsAt(startMs + minute, 60, 120) });
  });

  test("a lower plan below what is used: nothing is granted, nothing is negative", () => {
    const used = countsAt(startMs, 250, 250);
    expect(reserve(used, free, 5, startMs)).toEqual({ granted: 0, counts: used });
    expect(windowView(used, free, 0)).toMatchObject({ window: "minute", limit: 60, remaining: 0 });
    expect(reserve(used, free, 5, startMs + minute).granted).toBe(5);
  });
});

describe("giveBack", () => {
  const counts = countsAt(startMs, 30, 300);
  const { minuteLabel, dayLabel } = counts;

  test("gives to the windows that the block was taken from and to no other", () => {
    expect(giveBack(counts, { minuteLabel, dayLabel, count: 5 })).toEqual(
      countsAt(startMs, 25, 295),
    );
    expect(giveBack(counts, { minuteLabel: minuteLabel - 1, dayLabel, count: 5 })).toEqual(
      countsAt(startMs, 30, 295),
    );
    expect(giveBack(counts, { minuteLabel, dayLabel: dayLabel - 1, count: 5 })).toEqual(
      countsAt(startMs, 25, 300),
    );
    const old = { minuteLabel: minuteLabel - 1, dayLabel: dayLabel - 1, count: 5 };
    expect(giveBack(counts, old)).toEqual(counts);
  });
});

describe("windowView", () => {
  const view = (minuteUsed: number, dayUsed: number, ahead = 0) =>
    windowView(countsAt(startMs, minuteUsed, dayUsed), free, ahead);
  const minuteReset = startMs / 1000 + 60;
  const dayReset = midnightMs / 1000;

  test("shows the window with the fewest left, with that window's limit and end", () => {
    expect(view(20, 20)).toEqual({
      window: "minute",
      limit: 60,
      remaining: 40,
      resetSeconds: minuteReset,
    });
    expect(view(20, 988)).toEqual({
      window: "day",
      limit: 1000,
      remaining: 12,
      resetSeconds: dayReset,
    });
  });

  test("shows the day at a tie, and when both are used up", () => {
    for (const left of [0, 1, 30, 60]) {
      expect(view(60 - left, 1000 - left)).toMatchObject({ window: "day", remaining: left });
    }
    expect(view(60, 999)).toMatchObject({ window: "minute", remaining: 0 });
    expect(view(59, 1000)).toMatchObject({ window: "day", remaining: 0 });
  });

  test("what was taken ahead is still the caller's", () => {
    expect(view(20, 20, 3).remaining).toBe(43);
    expect(view(20, 990, 3)).toMatchObject({ window: "day", remaining: 13 });
    expect(view(60, 60, 1).remaining).toBe(1);
  });

  test("one client sees Remaining fall by exactly one, and as many pass as it said", () => {
    checked(
      fc.tuple(someLimits, fc.nat(140), fc.nat(400)),
      ([limits, minuteUsed, dayUsed]) => {
        let counts = countsAt(startMs, minuteUsed, minuteUsed + dayUsed);
        const { remaining } = windowView(counts, limits, 0);
        const size = reservationSize(limits);
        const seen: number[] = [];
        for (let ahead = 0; ; ahead -= 1) {
          if (ahead === 0) {
            const taken = reserve(counts, limits, size, startMs);
            if (taken.granted <= 0) break;
            ({ counts } = taken);
            ahead = taken.granted;
          }
          seen.push(windowView(counts, limits, ahead - 1).remaining);
        }
        expect(seen).toEqual(Array.from({ length: remaining }, (_, i) => remaining - 1 - i));
      },
      200,
    );
  });
});

describe("retryAfterSeconds", () => {
  test.each([
    [59_001, 60],
    [59_000, 59],
    [1, 1],
    [-5_000, 1],
  ])("%d ms before the reset it is %d s", (beforeMs, seconds) =>
    expect(retryAfterSeconds(startMs / 1000, startMs - beforeMs)).toBe(seconds),
  );

  test("reaches the reset, and waiting exactly that long always gets through", () => {
    let refusals = 0;
    const used = fc.oneof(fc.constant(0), fc.nat(500), fc.constant(200_000));
    const labelAheadMs = fc.constantFrom(
      -day,
      -minute,
      0,
      1,
      15_000,
      minute,
      2 * minute,
      day,
      50 * day,
    );
    checked(
      fc.tuple(someLimits, someTime, used, used, labelAheadMs),
      ([limits, nowMs, minuteUsed, dayUsed, aheadMs]) => {
        const kept = countsAt(nowMs + aheadMs, minuteUsed, dayUsed);
        const { granted, counts } = reserve(kept, limits, 1, nowMs);
        if (granted > 0) return;
        refusals += 1;
        const shown = windowView(counts, limits, 0);
        const seconds = retryAfterSeconds(shown.resetSeconds, nowMs);
        expect(shown.remaining).toBe(0);
        expect(Number.isSafeInteger(seconds)).toBe(true);
        expect(seconds).toBeGreaterThanOrEqual(1);
        expect(nowMs + seconds * 1000).toBeGreaterThanOrEqual(shown.resetSeconds * 1000);
        expect(reserve(counts, limits, 1, nowMs + seconds * 1000).granted).toBe(1);
      },
      3000,
    );
    expect(refusals).toBeGreaterThan(500);
  });
});

describe("reservationSize", () => {
  test("is one second's worth, rounded up", () => {
    expect(reservationSize(publishedLimits.free)).toBe(1);
    expect(reservationSize(publishedLimits.pro)).toBe(5);
    expect(reservationSize(publishedLimits.business)).toBe(17);
    expect(reservationSize({ perMinute: 6_000, perDay: 10 })).toBe(1);
  });
});
