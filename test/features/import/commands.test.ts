/** What the commands of an import understand and say, without a store. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { givenBy, writeRejects } from "../../../src/features/import/command.ts";
import { message } from "../../../src/features/import/messages.ts";
import type { Rejection } from "../../../src/features/import/understand/record.ts";
import { UsageError } from "../../../src/features/usage-error.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

test("the file of rejects is new, and says how many it has", async () => {
  using folder = temporaryFolder();
  const path = `${folder.path}/bad.ndjson`;
  const record = { name: "x".repeat(1024 * 1024) };
  const bad = { kind: "reject", line: 2, field: "name", problem: message("missing"), record };
  const rejections = Array.from({ length: 70 }, () => bad as Rejection);
  // It is no larger than an input may be.
  expect(writeRejects(path, rejections)).toBe(63);
  expect(readFileSync(path, "utf8").split("\n")).toHaveLength(64);
  expect(() => writeRejects(path, rejections)).toThrow("cannot be written");
});

const options = { format: "auto" };

test.each(["clinic", "x".repeat(40), "été-2"])("--source %s is a name", (source) => {
  expect(givenBy({ ...options, source }).source).toBe(source);
});

test.each([
  ...["", "a b", "a:b", "x".repeat(41)].map((source) => ({ source })),
  { encoding: "utf-7" },
  { map: ["name=a,categoryId=b"], format: "asm" },
  { map: ["name=a", "categoryId=b"], category: "Cat" },
  { map: ["name=a", "name=b"] },
  { category: "7" },
  { status: ["sold"] },
  { status: ["Zone 1=?"] },
  { records: '"a\\q".list' },
])("%j is no way to read a file", (wrong) => {
  expect(() => givenBy({ ...options, ...wrong })).toThrow(UsageError);
});

test("the options of a reading reach it", () => {
  const status = ["Zone 1=gone", "Zone 2=sold"];
  const map = ["name=A", "externalId=B,status=C"];
  const given = givenBy({
    records: "result.pets",
    map,
    status,
    category: " Cat ",
    believe: ["Out"],
  });
  expect(given).toMatchObject({ records: ["result", "pets"], category: "Cat", believed: ["Out"] });
  expect(given.columns).toEqual({ name: "A", externalId: "B", status: "C" });
  expect(given.statuses).toEqual(
    new Map([
      ["zone 1", "gone"],
      ["zone 2", "sold"],
    ]),
  );
  expect([givenBy(options).format, givenBy({ format: "asm" }).format]).toEqual([undefined, "asm"]);
  expect(
    [{ dayFirst: true } as const, { monthFirst: true } as const, {}].map(
      (day) => givenBy(day).dayFirst,
    ),
  ).toEqual([true, false, undefined]);
});
