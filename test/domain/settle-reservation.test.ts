import { describe, expect, test } from "bun:test";
import {
  settleReservation,
  unusedCounts,
  windowMs,
  type WindowCounts,
} from "../../src/domain/windows.ts";

const limits = { perMinute: 10, perDay: 100 };
const noonMs = Date.UTC(2026, 10, 21, 12);
const day = Math.floor(noonMs / windowMs.day);
const minute = Math.floor(noonMs / windowMs.minute);
const kept: WindowCounts = {
  minuteLabel: minute,
  minuteUsed: 4,
  dayLabel: day,
  dayUsed: 40,
};

function settle(from: WindowCounts, want: number, nowMs = noonMs, giveBack?: number) {
  const { minuteLabel, dayLabel } = from;
  const unused = giveBack === undefined ? undefined : { minuteLabel, dayLabel, count: giveBack };
  return settleReservation(from, { keyId: "k", limits, want, unused }, nowMs);
}

describe("a take", () => {
  test("that grants something is kept", () => {
    expect(settle(kept, 3)).toEqual({
      result: { granted: 3, counts: { ...kept, minuteUsed: 7, dayUsed: 43 }, nowMs: noonMs },
      mustPut: true,
      finished: undefined,
    });
  });

  test("that grants nothing is not, though a window began", () => {
    const full = { ...kept, dayUsed: 100 };
    expect(settle(full, 3, noonMs + windowMs.minute)).toMatchObject({
      result: { granted: 0, counts: { minuteLabel: minute + 1, minuteUsed: 0 } },
      mustPut: false,
    });
  });

  test("that only gives back is", () => {
    expect(settle(kept, 0, noonMs, 2)).toMatchObject({
      result: { granted: 0, counts: { minuteUsed: 2, dayUsed: 38 } },
      mustPut: true,
    });
  });

  test("that moves a label back to the clock is", () => {
    const ahead = { ...kept, dayLabel: day + 2, dayUsed: 100 };
    expect(settle(ahead, 1)).toMatchObject({
      result: { granted: 0, counts: { dayLabel: day } },
      mustPut: true,
      finished: undefined,
    });
  });
});

describe("the day that ended", () => {
  const tomorrowMs = noonMs + windowMs.day;

  test("holds what was used in it, and tells what is too old since", () => {
    expect(settle(kept, 1, tomorrowMs).finished).toEqual({
      day,
      requests: 40,
    });
  });

  test("does not hold what goes back into it", () => {
    expect(settle(kept, 1, tomorrowMs, 15).finished).toMatchObject({ day, requests: 25 });
    expect(settle(kept, 0, tomorrowMs, 40).finished).toBeUndefined();
  });

  test("stays where it is while the new counts are not kept", () => {
    expect(settle(kept, 0, tomorrowMs)).toMatchObject({ mustPut: false, finished: undefined });
  });

  test("is none for a key that was never used", () => {
    expect(settle(unusedCounts, 1).finished).toBeUndefined();
  });
});
