/** What the commands of an import understand and say, without a store. */
import { expect, test } from "bun:test";
import { readOptions } from "../../../src/features/import/commands/import-options.ts";
import {
  causesText,
  importedJson,
  importedText,
  Rejects,
} from "../../../src/features/import/commands/import-report.ts";
import type { ImportSummary } from "../../../src/features/import/import.ts";
import { message } from "../../../src/features/import/messages.ts";
import { rehome } from "../../../src/features/import/formats/rehome.ts";
import { UsageError } from "../../../src/cli/errors.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

const none: ImportSummary = {
  format: "austin",
  shape: "csv",
  source: "austin",
  dryRun: false,
  applied: true,
  read: 1,
  added: 1,
  updated: 0,
  unchanged: 0,
  withdrawn: 0,
  missing: 0,
  superseded: 0,
  skipped: [],
  rejected: 0,
  causes: [],
  notes: [],
  sample: [],
  categoriesAdded: [],
};
const all: ImportSummary = {
  ...none,
  read: 1_234,
  added: 1_000,
  withdrawn: 3,
  missing: 2,
  superseded: 4,
  skipped: [
    { reason: 'status "Died"', records: 5 },
    { reason: 'status "Lost"', records: 1 },
  ],
  rejected: 6,
  notes: [
    { said: message("datesTurned"), records: 7, firstLine: 0, example: "" },
    { said: message("idsDamaged"), records: 1_000, firstLine: 9, example: "01-Mar" },
  ],
  categoriesAdded: [{ id: 7n, name: "Dog" }],
};

test("an import is told in lines, of which those that say nothing are left out", () => {
  expect(importedText(none)).toBe(
    "Read 1 record (austin, csv).\n  1  added\n  0  updated\n  0  unchanged\n",
  );
  expect(importedText(all)).toBe(`Read 1,234 records (austin, csv).
  1,000  added
      0  updated
      0  unchanged
      3  withdrawn, 2 of them not in the whole list
      4  older records of animals that have a newer one
      5  not for adoption: status "Died"
      1  not for adoption: status "Lost"
      6  bad
Category Dog is 7.
Note: dates were read with the month first, before another date showed that the day is first (7).
Note: ids that a spreadsheet damaged are ignored (1,000, first on line 9: 01-Mar).
`);
  const would = importedText({ ...all, applied: false, missing: 0 });
  expect(would).toContain("  1,000  would be added\n");
  expect(would).toContain("      3  would be withdrawn\n");
  expect(would).toContain("Category Dog would be 7.\n");
  expect(importedJson(all)).toMatchObject({ skipped: 6, skippedReasons: all.skipped });
});

test("causes have their first lines, and say where there are more", () => {
  using folder = temporaryFolder();
  using rejects = Rejects.open(`${folder.path}/bad.ndjson`, false);
  const problem = message("nameMissing");
  const causes = [
    { field: "name", problem, records: 1_000, lines: [2, 3, 4, 5, 6] },
    { field: "name", problem, records: 2, lines: [7, 8] },
    { field: "", problem: message("otherProblems"), records: 1, lines: [9] },
  ];
  expect(causesText({ ...all, causes }, rejects))
    .toBe(`  1,000  name: expected a name, found nothing (lines 2, 3, 4, 5, 6, ...)
      2  name: expected a name, found nothing (lines 7, 8)
      1  other problems (line 9)
  All of them are in ${folder.path}/bad.ndjson.
`);
});

const options = { format: "auto" };

test.each(["clinic", "x".repeat(40), "été-2"])("--source %s is a name", (source) => {
  expect(readOptions({ ...options, source }).source).toBe(source);
});

test.each([
  ...["", "a b", "a:b", "x".repeat(41)].map((source) => ({ source })),
  { encoding: "utf-7" },
  { map: "name=a,categoryId=b", format: "asm" },
  { status: ["sold"] },
])("%j is no way to read a file", (wrong) => {
  expect(() => readOptions({ ...options, ...wrong })).toThrow(UsageError);
});

test("the options of a reading reach it", () => {
  const read = readOptions({
    format: "rehome",
    records: "result.pets",
    status: ["Zone 1=gone", "Zone 2=sold"],
    defaultStatus: "pending",
    encoding: "windows-1252",
    sheet: "Old",
  });
  expect(read).toMatchObject({ encoding: "windows-1252", sheet: "Old" });
  expect([read.format, read.records]).toEqual([rehome, ["result", "pets"]]);
  expect(["zone 1", "ZONE 2"].map((word) => read.statuses?.meaningOf(word))).toEqual([
    "gone",
    "sold",
  ]);
  expect(read.statuses?.whenMissing).toBe("pending");
  expect(readOptions(options).format).toBeUndefined();
});
