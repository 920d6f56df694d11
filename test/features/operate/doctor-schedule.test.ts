/** What the doctor makes of followed lists, and of backups that fail. */
import { expect, test } from "bun:test";
import { hourMs } from "../../../src/domain/clock.ts";
import { loadConfig } from "../../../src/config.ts";
import { checkBackup, checkSources } from "../../../src/features/operate/doctor/schedule.ts";
import { backupSettings } from "../../../src/features/operate/settings.ts";
import type { JobRow } from "../../../src/features/schedule/jobs.ts";
import { testIo } from "../../helpers/io.ts";

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

test("backups that fail are warned of, and fail after 48 hours, or as often as that takes", async () => {
  const loaded = loadConfig({ "backup-to": "/backups" }, {}, Object.values(backupSettings));
  const problem = { text: "The disk is full." };
  const found = (more: Partial<JobRow>) => {
    const job = { ...row, kind: "backup", everyMs: 24 * hourMs, problem, ...more } as const;
    return checkBackup("/none", [job], nowMs, loaded, testIo());
  };
  expect(await found({ failures: 3 })).toMatchObject({
    state: "warn",
    detail: "the service failed to make one, 3 times in a row: The disk is full",
  });
  expect((await found({ failures: 3, ...ago(96) })).state).toBe("fail");
  expect((await found({ failures: 20 })).state).toBe("fail");
});
