/** What the commands of an import understand and say, without a store. */
import { expect, test } from "bun:test";
import { givenBy } from "../../../src/features/import/commands/import-options.ts";
import {
  causesText,
  guessRemedy,
  importedJson,
  importedText,
} from "../../../src/features/import/commands/import-report.ts";
import { Rejects } from "../../../src/features/import/commands/rejects.ts";
import type { ImportSummary } from "../../../src/features/import/do/summary.ts";
import { message } from "../../../src/features/import/messages.ts";
import type { Rejection } from "../../../src/features/import/understand/record.ts";
import { UsageError } from "../../../src/cli/errors.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

const none: ImportSummary = {
  format: "austin",
  shape: "csv",
  source: "austin",
  reading: { format: "austin", source: "austin", statuses: {} },
  isGuessed: false,
  change: 1n,
  statuses: { available: 1, pending: 0, sold: 0, none: 0 },
  stems: [],
  rejections: [],
  refusal: undefined,
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
  lookalikes: [],
  named: { updated: [], withdrawn: [], skipped: [] },
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
    { said: message("namesMissing"), records: 7, firstLine: 0, example: "" },
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
Note: animals have no name and are called Unnamed (7).
Note: ids that a spreadsheet damaged are ignored (1,000, first on line 9: 01-Mar).
`);
  const would = importedText({ ...all, applied: false, missing: 0 });
  expect(would).toContain("  1,000  would be added\n");
  expect(would).toContain("      3  would be withdrawn\n");
  expect(would).toContain("Category Dog would be 7.\n");
  expect(importedJson(all)).toMatchObject({ skipped: 6, skippedReasons: all.skipped });
});

test("causes have their first lines, and say where there are more", () => {
  const problem = message("missing");
  const causes = [
    { field: "name", problem, records: 1_000, lines: [2, 3, 4, 5, 6] },
    { field: "name", problem, records: 2, lines: [7, 8] },
    { field: "", problem: message("otherProblems"), records: 1, lines: [9] },
  ];
  expect(causesText({ ...all, causes }, "All of them are in bad.ndjson."))
    .toBe(`  1,000  name: expected a value, found nothing (lines 2, 3, 4, 5, 6, ...)
      2  name: expected a value, found nothing (lines 7, 8)
      1  other problems (line 9)
  All of them are in bad.ndjson.
`);
});

test("a guess is told with what it makes of the columns, and how a script agrees to it", () => {
  const reading = {
    format: "map",
    source: "",
    columns: { name: "Pet Name", categoryId: "Kind" },
    statuses: { ready: "available" },
    defaultStatus: "none",
  } as const;
  const guessed: ImportSummary = { ...none, format: "map", reading, isGuessed: true };
  expect(importedText(guessed)).toContain(
    `Read 1 record (guessed, csv).
  Pet Name -> name, Kind -> category: 1 available
`,
  );
  expect(guessRemedy(guessed)).toBe(
    "If the guess is right, add --accept-guess, or say the same: --map 'name=Pet Name,categoryId=Kind' --status ready=available --default-status none.",
  );
});

test("the file of rejects is bounded by the input, and says how many it has", async () => {
  using folder = temporaryFolder();
  const path = `${folder.path}/bad.ndjson`;
  using rejects = Rejects.open(path, false);
  const record = { name: "x".repeat(1_000) };
  const bad = { kind: "reject", line: 2, field: "name", problem: message("missing"), record };
  const rejections = Array.from({ length: 5_000 }, () => bad as Rejection);
  const written = rejects.write(rejections, 10);
  expect(written).toBeLessThan(1_024);
  const text = await Bun.file(path).text();
  expect(text.split("\n")).toHaveLength(written + 1);
  expect(text.length).toBeLessThanOrEqual(1024 * 1024);
});

const options = { format: "auto" };

test.each(["clinic", "x".repeat(40), "été-2"])("--source %s is a name", (source) => {
  expect(givenBy({ ...options, source }).source).toBe(source);
});

test.each([
  ...["", "a b", "a:b", "x".repeat(41)].map((source) => ({ source })),
  { encoding: "utf-7" },
  { map: "name=a,categoryId=b", format: "asm" },
  { map: "name=a,categoryId=b", category: "Cat" },
  { category: "7" },
  { status: ["sold"] },
  { status: ["Zone 1=?"] },
])("%j is no way to read a file", (wrong) => {
  expect(() => givenBy({ ...options, ...wrong })).toThrow(UsageError);
});

test("the options of a reading reach it", () => {
  const given = givenBy({
    format: "rehome",
    records: "result.pets",
    status: ["Zone 1=gone", "Zone 2=sold"],
    defaultStatus: "pending",
    encoding: "windows-1252",
    sheet: "Old",
    category: " Cat ",
  });
  expect(given).toMatchObject({
    format: "rehome",
    records: ["result", "pets"],
    defaultStatus: "pending",
    encoding: "windows-1252",
    sheet: "Old",
    category: "Cat",
  });
  expect([...(given.statuses ?? [])]).toEqual([
    ["zone 1", "gone"],
    ["zone 2", "sold"],
  ]);
  expect(givenBy(options).format).toBeUndefined();
});
