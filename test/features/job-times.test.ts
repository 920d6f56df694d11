import { describe, expect, test } from "bun:test";
import { assert, double, integer, property } from "fast-check";
import { hourMs, minuteMs } from "../../src/domain/clock.ts";
import {
  failingMs,
  isDue,
  leaseMs,
  nextAfterFailure,
  nextAfterSuccess,
} from "../../src/features/schedule/job-times.ts";

test("the interval is shortened by at most a tenth, and never lengthened", () => {
  const everies = integer({ min: 15 * minuteMs, max: 1e9 });
  const spreads = double({ min: 0, max: 1, noNaN: true });
  assert(
    property(everies, spreads, (every, spread) => {
      const wait = nextAfterSuccess(every, 5, spread) - 5;
      expect(wait).toBeLessThanOrEqual(every);
      expect(wait).toBeGreaterThanOrEqual(every * 0.9);
    }),
  );
});

test("a failure waits a minute, then twice as long, up to the interval or what the source asks", () => {
  const wait = (failures: number, retryAfterMs?: number) =>
    nextAfterFailure({ everyMs: hourMs, failures }, 0, retryAfterMs) / minuteMs;
  expect([1, 2, 3, 6, 7, 1000].map((failures) => wait(failures))).toEqual([1, 2, 4, 32, 60, 60]);
  expect([wait(1, 90 * minuteMs), wait(7, 1)]).toEqual([90, 60]);
  // So many failures in a row took so long at least.
  const failing = (failures: number) => failingMs({ everyMs: hourMs, failures }) / minuteMs;
  expect([0, 1, 2, 4, 8].map(failing)).toEqual([0, 0, 1, 7, 123]);
});

describe("a clock that jumps", () => {
  const minutes = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => from + at * minuteMs);

  test.each([
    ["forward begins a job once", [0, 1e12, ...minutes(1e12, 30)], 2],
    ["by less than a lease is another server's, and begins nothing", [leaseMs, 0, 1, leaseMs], 1],
    ["back does not flood", [1e12, ...minutes(0, 60)], 2],
    ["back does not starve", [1e12, ...minutes(0, 61)], 3],
  ])("%s", (_what, clocks, starts) => {
    let job = { everyMs: hourMs, nextAtMs: 0, triedAtMs: null as number | null, failures: 0 };
    let count = 0;
    for (const nowMs of clocks) {
      if (!isDue(job, nowMs)) continue;
      count++;
      job = { ...job, triedAtMs: nowMs, nextAtMs: nextAfterSuccess(hourMs, nowMs, 0) };
    }
    expect(count).toBe(starts);
  });
});
