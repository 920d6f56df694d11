/** The windows of a key, one step at a time; test/service/limiter-model has whole histories. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { dayMs, minuteMs } from "../../src/domain/clock.ts";
import { type Limits, publishedLimits } from "../../src/domain/plan.ts";
import * as windows from "../../src/domain/windows.ts";
import { checked } from "./checked.ts";

const { labelAt, reservationSize, retryAfterSeconds, unusedCounts, windowView } = windows;
const startMs = Date.UTC(2026, 10, 21, 8, 30);
const midnightMs = Date.UTC(2026, 10, 22);
const { free } = publishedLimits;

function reserve(from: windows.WindowCounts, limits: Limits, want: number, nowMs: number) {
  const request = { limits, want, unused: undefined };
  const { granted, counts } = windows.settleReservation(from, request, nowMs).result;
  return { granted, counts };
}

/** The counts of a key with `minuteUsed` and `dayUsed` in the windows of `nowMs`. */
const countsAt = (nowMs: number, minuteUsed: number, dayUsed: number): windows.WindowCounts => ({
  minuteLabel: Math.floor(nowMs / minuteMs),
  minuteUsed,
  dayLabel: Math.floor(nowMs / dayMs),
  dayUsed,
});

const someLimits = fc.oneof(
  fc.record({
    perMinute: fc.integer({ min: 1, max: 130 }),
    perDay: fc.integer({ min: 1, max: 400 }),
  }),
  fc.constantFrom(...Object.values(publishedLimits)),
);
const someTime = fc.oneof(
  fc.integer({ min: startMs, max: startMs + 2 * dayMs }),
  fc.integer({ min: -6_000, max: 6_000 }).map((ms) => midnightMs + ms),
);

test.each([
  [minuteMs, startMs],
  [dayMs, midnightMs],
])(
  "a label of %d ms moves on with the clock, and back where it is more than one ahead",
  (lengthMs, edgeMs) => {
    const label = edgeMs / lengthMs;
    expect([0, -1].map((ms) => labelAt(0, edgeMs + ms, lengthMs))).toEqual([label, label - 1]);
    const behindMs = [0, 1, 15_000, lengthMs, lengthMs + 1, 2 * lengthMs + 1];
    const labels = behindMs.map((ms) => labelAt(label, edgeMs - ms, lengthMs));
    expect(labels).toEqual([label, label, label, label, label - 2, label - 3]);
  },
);

test.each([
  // The fewest left, with that window's limit and end; at a tie the day.
  [20, 20, 0, "minute", 40],
  [20, 988, 0, "day", 12],
  [60, 1000, 0, "day", 0],
  [30, 970, 0, "day", 30],
  [60, 999, 0, "minute", 0],
  [59, 1000, 0, "day", 0],
  // What was taken ahead is still the caller's.
  [20, 20, 3, "minute", 43],
  [20, 990, 3, "day", 13],
])("used %d of the minute and %d of the day, %d of it ahead: the %s, %d left", (...row) => {
  const [minuteUsed, dayUsed, ahead, window, remaining] = row;
  expect(windowView(countsAt(startMs, minuteUsed, dayUsed), free, ahead)).toEqual(
    window === "minute"
      ? { window, limit: 60, remaining, resetSeconds: startMs / 1000 + 60 }
      : { window: "day", limit: 1000, remaining, resetSeconds: midnightMs / 1000 },
  );
});

test("Retry-After reaches the reset, and who waits exactly that long gets through", () => {
  let refusals = 0;
  const used = fc.constantFrom(0, 30, 500, 200_000);
  const aheads = [-dayMs, -minuteMs, 0, 1, 15_000, minuteMs, 2 * minuteMs, dayMs, 50 * dayMs];
  const given = fc.tuple(someLimits, someTime, used, used, fc.constantFrom(...aheads));
  checked(given, ([limits, nowMs, minuteUsed, dayUsed, aheadMs]) => {
    const kept = countsAt(nowMs + aheadMs, minuteUsed, dayUsed);
    const { granted, counts } = reserve(kept, limits, 1, nowMs);
    if (granted > 0) return;
    refusals += 1;
    const { remaining, resetSeconds } = windowView(counts, limits, 0);
    const seconds = retryAfterSeconds(resetSeconds, nowMs);
    expect([remaining, seconds]).toEqual([0, Math.max(1, Math.ceil(resetSeconds - nowMs / 1000))]);
    expect(reserve(counts, limits, 1, nowMs + seconds * 1000).granted).toBe(1);
  });
  expect(refusals).toBeGreaterThan(300);
  expect(retryAfterSeconds(startMs / 1000, startMs + 5_000)).toBe(1);
});

test.each([
  [publishedLimits.free, 1],
  [publishedLimits.pro, 5],
  [publishedLimits.business, 17],
  [{ perMinute: 6_000, perDay: 10 }, 1],
])("of %j a second's worth is taken ahead: %d", (limits, size) =>
  expect(reservationSize(limits)).toBe(size),
);

describe("a take that is settled", () => {
  const kept = countsAt(startMs, 4, 40);
  const { minuteLabel, dayLabel } = kept;
  const full = { ...kept, dayUsed: 1_000 };
  const ahead = { ...full, dayLabel: dayLabel + 2 };
  const back = (count: number, minutesAgo = 0, daysAgo = 0) => ({
    minuteLabel: minuteLabel - minutesAgo,
    dayLabel: dayLabel - daysAgo,
    count,
  });

  test.each([
    ["grants something", kept, 3, 0, undefined, "kept: 3 granted, 7 and 43 used"],
    ["grants nothing in a new minute", full, 3, minuteMs, undefined, "0 granted, 0 and 1000 used"],
    ["only gives back", kept, 0, 0, back(2), "kept: 0 granted, 2 and 38 used"],
    ["gives back to another minute", kept, 0, 0, back(2, 1), "kept: 0 granted, 4 and 38 used"],
    ["gives back to another day", kept, 0, 0, back(2, 0, 1), "kept: 0 granted, 2 and 40 used"],
    ["gives back more than there is", kept, 0, 0, back(9), "kept: 0 granted, 0 and 31 used"],
    ["moves a label back", ahead, 1, 0, undefined, "kept: 0 granted, 4 and 1000 used"],
    ["ends a day", kept, 1, dayMs, undefined, "kept: 1 granted, 1 and 1 used, 40 before"],
    ["ends it, giving back", kept, 1, dayMs, back(15), "kept: 1 granted, 1 and 1 used, 25 before"],
    ["ends what was given back", kept, 0, dayMs, back(40), "kept: 0 granted, 0 and 0 used"],
    ["would end a day", kept, 0, dayMs, undefined, "0 granted, 0 and 0 used"],
    ["is the first of a key", unusedCounts, 1, 0, undefined, "kept: 1 granted, 1 and 1 used"],
  ])("and %s", (_what, from, want, afterMs, unused, expected) => {
    const request = { limits: free, want, unused };
    const settled = windows.settleReservation(from, request, startMs + afterMs);
    const { granted, counts } = settled.result;
    const { finished } = settled;
    expect(finished?.day ?? dayLabel).toBe(dayLabel);
    expect(
      (settled.mustPut ? "kept: " : "") +
        `${granted} granted, ${counts.minuteUsed} and ${counts.dayUsed} used` +
        (finished === undefined ? "" : `, ${finished.requests} before`),
    ).toBe(expected);
  });
});
