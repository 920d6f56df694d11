/** What the doctor makes of followed lists. */
import { expect, test } from "bun:test";
import { hourMs } from "../../../src/domain/clock.ts";
import { checkSources } from "../../../src/features/operate/doctor/schedule.ts";
import type { JobRow } from "../../../src/features/schedule/jobs.ts";

const nowMs = Date.UTC(2026, 10, 24);
const row: JobRow = {
  kind: "pull",
  target: "north",
  everyMs: hourMs,
  sinceMs: nowMs,
  failures: 0,
  problem: null,
  paused: null,
};
const states = (...rows: Partial<JobRow>[]) =>
  checkSources(
    rows.map((each) => ({ ...row, ...each })),
    nowMs,
  ).map(({ state }) => state);
const ago = (hours: number) => ({ sinceMs: nowMs - hours * hourMs });

test("a list that is pulled in time is ok, whatever one pull came to", () => {
  expect(states()).toEqual([]);
  expect(states({ kind: "backup" })).toEqual([]);
  expect(states({}, ago(3))).toEqual(["ok"]);
  expect(states({ paused: "person", ...ago(99) })).toEqual(["ok"]);
});

test("one is warned of after three intervals, and fails after 48 hours", () => {
  expect(states(ago(3.1), ago(48), ago(48.1))).toEqual(["warn", "warn", "fail"]);
  // Not before it could have been pulled three times.
  expect(states({ everyMs: 24 * hourMs, ...ago(71) })).toEqual(["ok"]);
  expect(states({ everyMs: 24 * hourMs, ...ago(73) })).toEqual(["fail"]);
});

test("what waits for a person is warned of", () => {
  expect(states({ problem: { text: "12 withdrawals wait for a person" } })).toEqual(["warn"]);
  expect(states({ paused: "undo" }, { paused: "restore" })).toEqual(["warn", "warn"]);
});
