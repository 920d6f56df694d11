import { expect, test } from "bun:test";
import * as fc from "fast-check";
import * as bans from "../../src/domain/ban.ts";
import { dayMs, minuteMs } from "../../src/domain/clock.ts";
import { imposeBan, liftBan } from "../../src/features/keys/service.ts";
import { checked } from "./checked.ts";

const { isBanned, noBan, recordNoisyMinute } = bans;
const startMs = Date.UTC(2026, 10, 21, 8, 30);
const startLabel = startMs / minuteMs;

/** At which of the refusals at `timesMs` a minute was found noisy. */
function noisyAt(timesMs: readonly number[], perMinute: number): number[] {
  const count = { minuteLabel: 0, firstMs: 0, counted: 0 };
  return timesMs.flatMap((timeMs, at) =>
    bans.countRefusal(count, { perMinute, perDay: 1_000_000 }, timeMs) ? [at] : [],
  );
}

/** Three noisy minutes in a row, the first one that of `fromMs`; the ban comes in the third. */
const threeNoisyMinutes = (state: bans.BanState, fromMs: number) =>
  [0, 1, 2].reduce(
    (next, at) =>
      recordNoisyMinute(next, Math.floor(fromMs / minuteMs) + at, fromMs + at * minuteMs),
    state,
  );

test("a minute is noisy once: at the first refusal above max(20, half the limit) after 2 s", () => {
  const offsets = fc.array(fc.oneof(fc.constantFrom(0, 1_999, 2_000), fc.nat(89_999)), {
    minLength: 40,
    maxLength: 200,
  });
  let noisy = 0;
  checked(fc.tuple(offsets, fc.integer({ min: 1, max: 100 })), ([offsetsMs, limit]) => {
    const times = offsetsMs.map((ms) => startMs + 15_000 + ms).toSorted((a, b) => a - b);
    const expected = [0, 1].flatMap((minute) => {
      const within = times.filter((ms) => Math.floor(ms / minuteMs) === startLabel + minute);
      const counted = within.filter((ms) => ms - (within[0] ?? 0) >= 2_000);
      const at = Math.floor(Math.max(20, limit / 2));
      const isNoisy = counted.length > at;
      return isNoisy ? [times.lastIndexOf(within.at(-1) ?? 0) - (counted.length - 1 - at)] : [];
    });
    noisy += expected.length;
    expect(noisyAt(times, limit)).toEqual(expected);
  });
  expect(noisy).toBeGreaterThan(300);
});

test("bans exactly when three of the last ten minutes were noisy, each reported as often as may be", () => {
  let banned = 0;
  checked(fc.array(fc.nat(6), { maxLength: 12 }), (gaps) => {
    let state = noBan;
    let label = startLabel;
    let noisy: number[] = [];
    for (const gap of gaps) {
      label += gap;
      const nowMs = label * minuteMs + 30_000;
      const before = state;
      state = recordNoisyMinute(state, label, nowMs);
      // Nothing that is reported during a ban prolongs it or leads to the next one.
      if (isBanned(before, nowMs)) expect(state).toBe(before);
      if (isBanned(before, nowMs)) continue;
      noisy = [...new Set([...noisy, label])].filter((other) => label - other < 10);
      expect(isBanned(state, nowMs)).toBe(noisy.length === 3);
      if (noisy.length === 3) [noisy, banned] = [[], banned + 1];
      expect(state.noisyMinutes).toEqual(noisy);
    }
  });
  expect(banned).toBeGreaterThan(100);
  // Minutes that a clock noted while it was ahead do not count.
  const ahead = { ...noBan, noisyMinutes: [startLabel + 1, startLabel + 60] };
  expect(recordNoisyMinute(ahead, startLabel, startMs).noisyMinutes).toEqual([startLabel]);
});

test.each([
  ["0 0 0 0 0", "5 15 60 1440 1440 1440"],
  ["0 1", "5 15 15"],
  ["0 2", "5 15 5"],
  ["0 0 30", "5 15 60 5"],
  ["0 0 0 0 0 3", "5 15 60 1440 1440 1440 5"],
])("bans with %s clean days between them last %s minutes", (pauses, lengths) => {
  let state = noBan;
  let fromMs = startMs;
  const found = [0, ...pauses.split(" ").map(Number)].map((days) => {
    fromMs = Math.ceil((fromMs + days * dayMs) / minuteMs) * minuteMs;
    state = threeNoisyMinutes(state, fromMs);
    const lengthMs = state.bannedUntilMs - (fromMs + 2 * minuteMs);
    fromMs = state.bannedUntilMs;
    return lengthMs / minuteMs;
  });
  expect(found.join(" ")).toBe(lengths);
});

test("an unfinished day forgives nothing, to the millisecond", () => {
  const state = { ...noBan, step: 2, bannedUntilMs: startMs };
  const times = [-dayMs, 0, dayMs - 1, dayMs, 2 * dayMs - 1, 2 * dayMs, 9 * dayMs];
  const steps = times.map((ms) => bans.stepAt(state, startMs + ms));
  expect(steps).toEqual([2, 2, 2, 1, 1, 0, 0]);
});

test("a ban holds until its end, and an automatic one no longer than any may be", () => {
  const state = imposeBan(noBan, 0, startMs);
  expect([-1, 0, 1].map((ms) => isBanned(state, startMs + ms))).toEqual([true, false, false]);
  const holds = (banned: bans.BanState) =>
    [0, 5_000, 5_001, 365 * dayMs].map((overMs) =>
      isBanned({ ...banned, bannedUntilMs: startMs + dayMs + overMs }, startMs),
    );
  expect(holds(threeNoisyMinutes(noBan, startMs))).toEqual([true, true, false, false]);
  expect(holds(imposeBan(noBan, minuteMs, startMs))).toEqual([true, true, true, true]);
});

test("an operator's ban replaces an automatic one, forgets what was noisy, and is no step", () => {
  for (const [before, nextMinutes] of [
    [recordNoisyMinute(noBan, startLabel, startMs), 5],
    [threeNoisyMinutes(noBan, startMs - 2 * minuteMs), 15],
  ] as const) {
    const banned = imposeBan(before, minuteMs, startMs);
    expect(banned).toMatchObject({ bannedUntilMs: startMs + minuteMs, noisyMinutes: [] });
    expect(banned.reason).toContain("operator");
    const next = threeNoisyMinutes(banned, startMs + minuteMs);
    expect(next.bannedUntilMs).toBe(startMs + (3 + nextMinutes) * minuteMs);
  }
});

test("a lifted ban is over, whatever the clock does, and keeps its step", () => {
  const nowMs = startMs + 3 * minuteMs;
  for (const banned of [threeNoisyMinutes(noBan, startMs), imposeBan(noBan, dayMs, startMs)]) {
    const lifted = liftBan(banned, nowMs);
    for (const ms of [nowMs, nowMs - minuteMs]) expect(isBanned(lifted, ms)).toBe(false);
    expect(lifted).toMatchObject({ step: banned.step, noisyMinutes: [] });
  }
  const ended = { ...noBan, step: 1, bannedUntilMs: 1, noisyMinutes: [startLabel] };
  expect(liftBan(ended, startMs)).toEqual({ ...ended, noisyMinutes: [] });
});
