import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  type BanState,
  banStepsMs,
  countRefusal,
  isBanned,
  noBan,
  recordNoisyMinute,
  type RefusalCount,
  stepAt,
} from "../../src/domain/ban.ts";
import { imposeBan, liftBan } from "../../src/features/keys/service.ts";
import { type Limits, publishedLimits } from "../../src/domain/plan.ts";
import { checked } from "./checked.ts";

const minute = 60_000;
const day = 86_400_000;
const startMs = Date.UTC(2026, 10, 21, 8, 30);
const startLabel = startMs / minute;
const { free } = publishedLimits;

const perMinute = (limit: number): Limits => ({ perMinute: limit, perDay: 1_000_000 });
const noRefusals = (): RefusalCount => ({ minuteLabel: 0, firstMs: 0, counted: 0 });

/** How often a minute was found noisy when refusals came at `timesMs`. */
function noisyReports(timesMs: Iterable<number>, limits: Limits): number {
  const count = noRefusals();
  let reports = 0;
  for (const timeMs of timesMs) if (countRefusal(count, limits, timeMs)) reports += 1;
  return reports;
}

/** The times of `count` refusals spread evenly over `[fromMs, toMs)`. */
function spread(count: number, fromMs: number, toMs: number): number[] {
  return Array.from(
    { length: count },
    (_, i) => fromMs + Math.floor((i * (toMs - fromMs)) / count),
  );
}

/** Three noisy minutes in a row, the first one that of `fromMs`; the ban comes in the third. */
function threeNoisyMinutes(state: BanState, fromMs: number): BanState {
  return [0, 1, 2].reduce(
    (next, i) => recordNoisyMinute(next, Math.floor(fromMs / minute) + i, fromMs + i * minute),
    state,
  );
}

describe("countRefusal", () => {
  test("a minute is noisy from the first refusal above max(20, half the limit) on", () => {
    checked(
      fc.tuple(fc.integer({ min: 1, max: 400 }), fc.nat(400)),
      ([limit, refusals]) => {
        const times = [startMs, ...spread(refusals, startMs + 2_000, startMs + minute)];
        const expected = refusals > 20 && refusals > limit / 2 ? 1 : 0;
        expect(noisyReports(times, perMinute(limit))).toBe(expected);
      },
      500,
    );
  });

  test("says so once, at the refusal that made the minute noisy", () => {
    const count = noRefusals();
    const told = [startMs, ...spread(100, startMs + 2_000, startMs + minute)].map((timeMs) =>
      countRefusal(count, free, timeMs),
    );
    expect(told.indexOf(true)).toBe(31);
    expect(told.filter(Boolean)).toHaveLength(1);
  });

  test("refusals within 2 s of the minute's first one are not counted, to the millisecond", () => {
    const firstMs = startMs + 30_000;
    const late = (ms: number) => [firstMs, ...Array<number>(31).fill(firstMs + ms)];
    expect(noisyReports(late(1_999), free)).toBe(0);
    expect(noisyReports(late(2_000), free)).toBe(1);
  });

  test("every minute begins at zero", () => {
    const quiet = (label: number) => {
      const fromMs = label * minute;
      return [fromMs, ...spread(30, fromMs + 2_000, fromMs + minute)];
    };
    expect(
      noisyReports(
        [0, 1, 2, 3].flatMap((i) => quiet(startLabel + i)),
        free,
      ),
    ).toBe(0);
    const noisy = (label: number) => [...quiet(label), label * minute + minute - 1];
    expect(
      noisyReports(
        [0, 1, 2, 3].flatMap((i) => noisy(startLabel + i)),
        free,
      ),
    ).toBe(4);
  });
});

describe("recordNoisyMinute", () => {
  test("the three lie within ten minutes: the tenth still counts, the eleventh does not", () => {
    const third = (later: number) => {
      const two = recordNoisyMinute(
        recordNoisyMinute(noBan, startLabel, startMs),
        startLabel + 1,
        startMs + minute,
      );
      return recordNoisyMinute(two, startLabel + later, startMs + later * minute);
    };
    expect(third(9).bannedUntilMs).toBe(startMs + 9 * minute + 5 * minute);
    expect(third(10)).toEqual({ ...noBan, noisyMinutes: [startLabel + 1, startLabel + 10] });
  });

  test("the same minute counts once, whichever process reports it and how often", () => {
    const one = recordNoisyMinute(noBan, startLabel, startMs);
    expect(recordNoisyMinute(one, startLabel, startMs + 10)).toEqual(one);
    const two = recordNoisyMinute(one, startLabel + 1, startMs + minute);
    expect(recordNoisyMinute(two, startLabel, startMs + minute)).toEqual(two);
    expect(recordNoisyMinute(two, startLabel + 1, startMs + minute)).toEqual(two);
  });

  test("bans exactly when three of the last ten minutes were noisy, whatever came before", () => {
    let bans = 0;
    checked(fc.array(fc.nat(6), { maxLength: 12 }), (gaps) => {
      let state = noBan;
      let label = startLabel;
      let noisy: number[] = [];
      for (const gap of gaps) {
        label += gap;
        const nowMs = label * minute + 30_000;
        if (isBanned(state, nowMs)) continue;
        noisy = [...new Set([...noisy, label])].filter((other) => label - other < 10);
        state = recordNoisyMinute(state, label, nowMs);
        expect(isBanned(state, nowMs)).toBe(noisy.length === 3);
        if (noisy.length < 3) continue;
        bans += 1;
        noisy = [];
      }
    });
    expect(bans).toBeGreaterThan(100);
  });

  test("minutes that a clock noted while it was ahead do not count", () => {
    const ahead = { ...noBan, noisyMinutes: [startLabel + 1, startLabel + 60] };
    expect(recordNoisyMinute(ahead, startLabel, startMs)).toEqual({
      ...noBan,
      noisyMinutes: [startLabel],
    });
  });

  test("nothing reported during a ban prolongs it or leads to the next one", () => {
    const banned = threeNoisyMinutes(noBan, startMs);
    for (let i = 2; i < 7; i += 1) {
      expect(recordNoisyMinute(banned, startLabel + i, startMs + i * minute)).toBe(banned);
    }
    const afterMs = banned.bannedUntilMs;
    const one = recordNoisyMinute(banned, afterMs / minute, afterMs);
    const two = recordNoisyMinute(one, afterMs / minute + 1, afterMs + minute);
    expect(isBanned(two, afterMs + minute)).toBe(false);
  });
});

describe("the length of a ban", () => {
  /**
   * The lengths of bans that follow each other with `pausesMs` between an end and the next noise.
   */
  function lengths(pausesMs: readonly number[]): number[] {
    let state = noBan;
    let fromMs = startMs;
    return [0, ...pausesMs].map((pauseMs) => {
      fromMs = Math.ceil((fromMs + pauseMs) / minute) * minute;
      state = threeNoisyMinutes(state, fromMs);
      const lengthMs = state.bannedUntilMs - (fromMs + 2 * minute);
      fromMs = state.bannedUntilMs;
      return lengthMs / minute;
    });
  }

  test("is 5 min, 15 min, 1 h, 24 h, and 24 h from then on", () => {
    expect(banStepsMs.map((ms) => ms / minute)).toEqual([5, 15, 60, 1440]);
    expect(lengths([0, 0, 0, 0, 0])).toEqual([5, 15, 60, 1440, 1440, 1440]);
  });

  test("falls by one step for each clean day since the last one's end", () => {
    expect(lengths([0, day])).toEqual([5, 15, 15]);
    expect(lengths([0, 2 * day])).toEqual([5, 15, 5]);
    expect(lengths([0, 0, day])).toEqual([5, 15, 60, 60]);
    expect(lengths([0, 0, 30 * day])).toEqual([5, 15, 60, 5]);
    expect(lengths([0, 0, 0, day])).toEqual([5, 15, 60, 1440, 60]);
    expect(lengths([0, 0, 0, 0, 0, 3 * day])).toEqual([5, 15, 60, 1440, 1440, 1440, 5]);
  });

  test("an unfinished day forgives nothing, to the millisecond", () => {
    const state = { ...noBan, step: 2, bannedUntilMs: startMs };
    expect(
      [0, day - 1, day, 2 * day - 1, 2 * day, 9 * day].map((ms) => stepAt(state, startMs + ms)),
    ).toEqual([2, 2, 1, 1, 0, 0]);
    expect(stepAt(state, startMs - day)).toBe(2);
    expect(stepAt(noBan, startMs)).toBe(0);
  });
});

describe("isBanned", () => {
  test("until the end, which is free", () => {
    const state = imposeBan(noBan, 0, startMs);
    expect([-1, 0, 1].map((ms) => isBanned(state, startMs + ms))).toEqual([true, false, false]);
    expect(isBanned(noBan, startMs)).toBe(false);
  });

  test("not by an automatic ban that is longer than any, by more than 5 s; an operator's may be", () => {
    const holds = (state: BanState) =>
      [0, 5_000, 5_001, 365 * day].map((overMs) =>
        isBanned({ ...state, bannedUntilMs: startMs + day + overMs }, startMs),
      );
    expect(holds(threeNoisyMinutes(noBan, startMs))).toEqual([true, true, false, false]);
    expect(holds(imposeBan(noBan, minute, startMs))).toEqual([true, true, true, true]);
  });
});

describe("imposeBan", () => {
  test("bans for as long as the operator says, over an automatic ban too", () => {
    for (const state of [noBan, threeNoisyMinutes(noBan, startMs - 2 * minute)]) {
      const banned = imposeBan(state, 90 * minute, startMs);
      expect(banned.bannedUntilMs).toBe(startMs + 90 * minute);
      expect(banned.reason).toContain("operator");
    }
  });

  test("is no step: the next automatic ban is as long as it would have been", () => {
    const manual = imposeBan(noBan, minute, startMs);
    expect(threeNoisyMinutes(manual, startMs + minute).bannedUntilMs).toBe(startMs + 8 * minute);
    const second = imposeBan(threeNoisyMinutes(noBan, startMs - 2 * minute), minute, startMs);
    expect(threeNoisyMinutes(second, startMs + minute).bannedUntilMs).toBe(startMs + 18 * minute);
  });

  test("forgets what was noisy, as an automatic ban does", () => {
    const noisy = recordNoisyMinute(noBan, startLabel, startMs);
    expect(imposeBan(noisy, minute, startMs).noisyMinutes).toEqual([]);
  });
});

describe("liftBan", () => {
  test("frees the key at once and forgets what was noisy, but not the step", () => {
    for (const banned of [
      threeNoisyMinutes(noBan, startMs),
      imposeBan(noBan, day, startMs + 2 * minute),
    ]) {
      const lifted = liftBan(banned, startMs + 3 * minute);
      expect(isBanned(lifted, startMs + 3 * minute)).toBe(false);
      expect(lifted).toMatchObject({ step: banned.step, noisyMinutes: [] });
      // A clock set back afterwards does not bring it back.
      expect(isBanned(lifted, startMs + 2 * minute)).toBe(false);
    }
    const lifted = liftBan(threeNoisyMinutes(noBan, startMs), startMs + 3 * minute);
    const again = threeNoisyMinutes(lifted, startMs + 4 * minute);
    expect(again.bannedUntilMs).toBe(startMs + (4 + 2 + 15) * minute);
  });

  test("of a key that is not banned only forgets what was noisy", () => {
    expect(liftBan(noBan, startMs)).toEqual(noBan);
    const ended = { ...noBan, step: 1, bannedUntilMs: startMs - day, noisyMinutes: [startLabel] };
    expect(liftBan(ended, startMs)).toEqual({ ...ended, noisyMinutes: [] });
  });
});
