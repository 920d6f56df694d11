/** JSON whose records leave out what is null, as publishers of open data do; all made up. */
import { describe, expect, test } from "bun:test";
import { brief, readWhole } from "../helpers.ts";

type Json = Readonly<Record<string, unknown>>;

const briefsOf = async (records: readonly Json[], format?: string) => {
  const asJson = await readWhole(JSON.stringify(records), { format: format });
  const lines = records.map((record) => JSON.stringify(record)).join("\n");
  const asLines = await readWhole(lines, { format: format });
  const withoutLine = (briefs: readonly string[]) =>
    briefs.map((each) => each.replace(/^\d+ /, ""));
  const found = [asJson.format, ...withoutLine(asJson.outcomes.map(brief))];
  expect([asLines.format, ...withoutLine(asLines.outcomes.map(brief))]).toEqual(found);
  return found;
};

const dog = (ID: number, more: Json = {}) => ({
  ID,
  ANIMALNAME: `Dog ${ID}`,
  SPECIESNAME: "Dog",
  ARCHIVED: 0,
  ...more,
});

describe("a field that the first records lack", () => {
  test("ASM: death, hold and adoption count", async () => {
    const records = [
      dog(1),
      dog(2, { DECEASEDDATE: "2026-01-01T00:00:00" }),
      dog(3, { IsHold: 1 }),
      dog(4, { activemovementtype: 1 }),
      dog(5),
    ];
    expect(await briefsOf(records)).toEqual([
      "asm",
      "Dog 1 / Dog / available [asm:1]",
      "gone: deceased [asm:2]",
      "gone: hold [asm:3]",
      "Dog 4 / Dog / sold [asm:4]",
      "Dog 5 / Dog / available [asm:5]",
    ]);
  });

  test("Petfinder and our own export are found by later records too", async () => {
    const found = [
      { id: 1, name: "Bo", type: "Dog", status: "adopted" },
      { id: 2, name: "Rex", type: "Dog", status: "adopted", organization_id: "MI1" },
    ];
    expect((await briefsOf(found))[0]).toBe("petfinder");
    expect((await briefsOf([{ name: "Bo" }, { name: "Rex", categoryId: 1 }]))[0]).toBe("rehome");
  });

  test("a column that the first records chose is not replaced by another one", async () => {
    const animal = { Species: "Dog", Stage: "Available", ARN: "9" };
    const records = [
      { ...animal, "Animal #": "A1", "Animal Name": "Bo" },
      { ...animal, "Animal Name": "Rex" },
    ];
    expect(await briefsOf(records)).toEqual([
      "petpoint",
      "Bo / Dog / available [petpoint:A1]",
      "Rex / Dog / available",
    ]);
  });
});
