/** Which dated backups `--keep` removes, also when the clock was wrong at some of them. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { datedFile, removeOlder } from "../../../../src/features/operate/backup/dated.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rehome-dated-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Makes a backup at each time, of which `keepCount` stay. Returns the days of what is left. */
function daysAfter(keepCount: number, times: readonly string[]): string[] {
  for (const time of times) {
    const file = datedFile(folder, Date.parse(time));
    writeFileSync(file, "");
    removeOlder(folder, keepCount, file);
  }
  return readdirSync(folder)
    .map((name) => name.slice("rehome-".length, "rehome-yyyymmdd".length))
    .toSorted();
}

describe("what --keep removes", () => {
  test("is the oldest", () => {
    expect(daysAfter(2, ["2026-11-21", "2026-11-22", "2026-11-23"])).toEqual([
      "20261122",
      "20261123",
    ]);
  });

  test("is not the new one, when the clock was set back", () => {
    expect(daysAfter(2, ["2026-11-21", "2026-11-22", "1970-01-01"])).toEqual([
      "19700101",
      "20261122",
    ]);
  });

  test("is what a clock in the future dated, as soon as that is the oldest", () => {
    const times = ["2040-01-01", "2040-01-02", "2026-11-21"];
    expect(daysAfter(2, times)).toEqual(["20261121", "20400102"]);
    expect(daysAfter(2, ["2026-11-22"])).toEqual(["20261121", "20261122"]);
  });

  test("is the first of one second before the second", () => {
    const second = "2026-11-21T00:00:00Z";
    daysAfter(2, [second, second, second]);
    expect(readdirSync(folder).toSorted()).toEqual([
      "rehome-20261121T000000Z-2.db",
      "rehome-20261121T000000Z-3.db",
    ]);
  });
});
