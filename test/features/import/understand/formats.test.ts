import { describe, expect, test } from "bun:test";
import { brief, fixture, readWhole, refusal } from "../helpers.ts";
import { parseFieldMap } from "../../../../src/features/import/understand/columns.ts";

describe("named formats, found by themselves", () => {
  test("RescueGroups: the species is named after the animals, pictures are not kept", async () => {
    const { format, outcomes } = await readWhole(await fixture("rescuegroups.json"));
    expect(format).toBe("rescuegroups");
    expect(outcomes.map(brief)).toEqual([
      "1 Biscuit / Dog / available [rescuegroups:7001]",
      "2 Juniper / Cats / pending [rescuegroups:7002]",
      "3 Otto / Dog / sold [rescuegroups:7003]",
      "4 rejected: relationships.species: expected a value, found nothing",
      "5 rejected: relationships.species: expected a value, found nothing",
    ]);
  });
});

describe("numbers in JSON", () => {
  const read = async (written: string) => {
    const { outcomes } = await readWhole(`[{"name":"a","categoryId":${written}}]`);
    return outcomes.map(brief);
  };

  test("a whole number of more digits than a double keeps is an integer", async () => {
    expect(await read("9007199254740993")).toEqual(["1 a / 9007199254740993 / none"]);
  });

  test.each([
    ["0.5", "0.5"],
    ["[7]", "a list"],
    ['"8x"', '"8x"'],
    [`1${"0".repeat(60)}`, `"1${"0".repeat(38)}..."`],
  ])("%s is no id, and is shown as it was written", async (written, shown) => {
    const problem = `expected a whole number of 64 bits, found ${shown}`;
    expect(await read(written)).toEqual([`1 rejected: categoryId: ${problem}`]);
  });
});

describe("a format that does not fit", () => {
  test("records in no known format are refused with what to do", async () => {
    expect(await refusal(readWhole('[{"a":1}]'))).toContain("--map");
    expect(await refusal(readWhole('[{"a":1},{"b"'))).toContain("the input is cut off");
    expect(await refusal(readWhole("a,b\n1,2\n"))).toContain("categoryId=COLUMN");
    // Columns of one name, or of none, each show their own value.
    const twice = await refusal(readWhole("Pet,Pet,,,K\nRex,Max,x,y,Dog\n"));
    expect([...twice.matchAll(/^ {2}.*"(.*)"$/gm)].map(([, value]) => value)).toEqual(
      "Rex Max x y Dog".split(" "),
    );
  });

  test("a named format tells what the input lacks, and so does one that is found", async () => {
    const austin = "--format austin needs the columns animal id, name, animal type, outcome type";
    for (const text of ["a,b\n1,2\n", '[{"a":1},{"b":2}]', '{"a":1}\n{"b":2}\n']) {
      const said = `${austin}, which are missing; there are "a", "b"`;
      expect(await refusal(readWhole(text, { format: "austin" }))).toEndWith(said);
    }
    expect(
      await refusal(readWhole("animalname,sheltercode\nRex,x\n", { format: "asm" })),
    ).toContain("--format asm needs the columns speciesname, which are missing");
    expect(await refusal(readWhole("name,species\nRex,Dog\n", { format: "rehome" }))).toContain(
      "--format rehome needs the columns categoryId, which are missing",
    );
  });
});

describe("--map", () => {
  test("leads into JSON objects by dots, never into what objects inherit", async () => {
    const text = '[{"pet":{"title":"Bo"},"kind":{"id":9223372036854775807},"s":{"now":"sold"}}]';
    const columns = parseFieldMap("name=pet.title,categoryId=kind.id,status=s.now");
    expect((await readWhole(text, { columns })).outcomes.map(brief)).toEqual([
      "1 Bo / 9223372036854775807 / sold",
    ]);
    for (const inherited of ["status=constructor.name", "status=s.now,externalId=valueOf"]) {
      const map = parseFieldMap(`name=pet.title,categoryId=kind.id,${inherited}`);
      expect(await refusal(readWhole(text, { columns: map }))).toContain("there is no such column");
    }
  });

  test.each(["Age", "Weight", "Arrived"])("%s is no category", async (column) => {
    const text =
      "Name,Age,Weight,Arrived,Stand\nBo,2 years,3.5 kg,2026-01-02,sold\nLu,1 year,4 kg,2026-01-03,sold\n";
    const columns = parseFieldMap(`name=Name,categoryId=${column},status=Stand`);
    expect(await refusal(readWhole(text, { columns }))).toStartWith(
      `--map categoryId=${column}: that column has no names of categories`,
    );
  });

  test("a column that is not there or there twice is refused", async () => {
    const format = { columns: parseFieldMap("name=Name,categoryId=Kind") };
    expect(await refusal(readWhole("Name,Species\nBo,Dog\n", format))).toBe(
      'line 1: --map categoryId=Kind: there is no such column; there are "Name", "Species"',
    );
    expect(await refusal(readWhole("NAME,name,Kind\nBo,Bo,Dog\n", format))).toBe(
      "line 1: --map name=Name: the header has this column 2 times; rename all but one of them",
    );
  });

  test.each([
    ["name", '--map: expected field=Column, found "name"; for example'],
    ["name=", '--map: expected field=Column, found "name="; for example'],
    [
      "name=A,colour=B",
      '--map: there is no field "colour"; the fields are name, categoryId, status, externalId, updatedAt',
    ],
    ["name=A,name=B,categoryId=C", "--map: name is given twice"],
    ["", "--map: expected field=Column; for example"],
  ])("%j is explained", (text, problem) => {
    expect(() => parseFieldMap(text)).toThrow(problem);
  });
});
