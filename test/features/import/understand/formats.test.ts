import { describe, expect, test } from "bun:test";
import { brief, readFixture, readWhole, refusal } from "../helpers.ts";
import { parseFieldMap } from "../../../../src/features/import/understand/columns.ts";

async function briefs(name: string): Promise<readonly [string, string, readonly string[]]> {
  const { format, shape, outcomes } = await readFixture(name);
  return [format, shape, outcomes.map(brief)];
}

describe("named formats, found by themselves", () => {
  test("Petfinder: pages after one another, HTML entities decoded, found animals skipped", async () => {
    expect(await briefs("petfinder.json")).toEqual([
      "petfinder",
      "json",
      [
        "1 Vihan & Zoran / Dog / available [petfinder:120001]",
        "2 O'Malley été / Small & Furry / sold [petfinder:120002]",
        '3 gone: status "found" [petfinder:120003]',
        "4  / Cat / available [petfinder:120004]",
        "5 rejected: type: expected a value, found nothing",
        "6 GABBY 403433 / Bird / available [petfinder:120006]",
      ],
    ]);
  });

  test("RescueGroups: the species is named after the animals, pictures are not kept", async () => {
    const { format, outcomes } = await readFixture("rescuegroups.json");
    expect(format).toBe("rescuegroups");
    expect(outcomes.map(brief)).toEqual([
      "1 Biscuit / Dog / available [rescuegroups:7001]",
      "2 Juniper / Cats / pending [rescuegroups:7002]",
      "3 Otto / Dog / sold [rescuegroups:7003]",
      "4 rejected: relationships.species: expected a value, found nothing",
      "5 rejected: relationships.species: expected a value, found nothing",
    ]);
  });

  test("ASM3's own export, which has more of an animal in rows of their own", async () => {
    const heads =
      "ANIMALID,ANIMALCODE,ANIMALNAME,ANIMALSPECIES,ANIMALDECEASEDDATE,ANIMALNOTFORADOPTION,ANIMALNONSHELTER,MOVEMENTTYPE,MOVEMENTDATE,VACCINATIONTYPE";
    const rows = [
      "1,A1,Rex,Dog,,0,0,0,,",
      ",A1,Rex,,,,,,,Rabies",
      "2,A2,Tom,Cat,,0,0,1,11/03/2026,",
      "3,A3,Kim,Cat,,1,0,0,,",
      "4,A4,Bo,Dog,11/03/2026,0,0,0,,",
      "5,A5,Lu,Dog,,0,1,0,,",
    ];
    const { format, outcomes } = await readWhole([heads, ...rows, ""].join("\n"));
    expect([format, ...outcomes.map(brief)]).toEqual([
      "asm",
      "2 Rex / Dog / available [asm:1]",
      "3 gone: more of the animal above",
      "4 Tom / Cat / sold [asm:2]",
      "5 gone: not available for adoption [asm:3]",
      "6 gone: deceased [asm:4]",
      "7 gone: not a shelter animal [asm:5]",
    ]);
  });

  test("ASM3: only animals that are or were up for adoption", async () => {
    expect(await briefs("asm.json")).toEqual([
      "asm",
      "json",
      [
        "1 Rolo / Dog / available [asm:501]",
        "2 Pepper / Cat / pending [asm:502]",
        "3 Sunny / Cat / sold [asm:503]",
        "4 gone: left the shelter otherwise than by adoption [asm:504]",
        "5 gone: deceased [asm:505]",
        "6 gone: not a shelter animal [asm:506]",
        "7 gone: not available for adoption [asm:507]",
        "8  / Guinea Pig / available [asm:508]",
        "9 rejected: SPECIESNAME: expected a value, found nothing",
      ],
    ]);
  });

  test("Austin: BOM, CRLF, newline in quotes, staff names, blank names, the newest row told by version", async () => {
    expect(await briefs("austin.csv")).toEqual([
      "austin",
      "csv",
      [
        "2 Luna / Dog / sold [austin:A900001]",
        "3 Luna / Dog / available [austin:A900001]",
        "4  / Cat / available [austin:A900002]",
        '7 gone: Outcome Type "Transfer" [austin:A900003]',
        "8 Zoë / Bird / sold [austin:A900004]",
        "9 rejected: Animal Type: expected a value, found nothing",
        "10 rejected: Animal Type: expected a value, found nothing",
      ],
    ]);
    const { outcomes } = await readFixture("austin.csv");
    expect(outcomes.slice(0, 2).map(({ version }) => version)).toEqual([
      20240502233000, 20240501000500,
    ]);
  });

  test("Long Beach, King County and Dallas by their columns", async () => {
    expect(await briefs("long-beach.csv")).toEqual([
      "long-beach",
      "csv",
      [
        "2 bella / cat / sold [long-beach:A700001]",
        "3  / dog / available [long-beach:A700002]",
        '4 gone: outcome_type "euthanasia" [long-beach:A700003]',
      ],
    ]);
    expect(await briefs("king-county.csv")).toEqual([
      "king-county",
      "csv",
      [
        "2  / Cat / available [king-county:A800001]",
        '3 gone: Record_Type "LOST" [king-county:A800002]',
        '4 gone: Record_Type "FOUND" [king-county:A800003]',
      ],
    ]);
    expect(await briefs("dallas.csv")).toEqual([
      "dallas",
      "csv",
      [
        "2  / DOG / sold [dallas:A600001]",
        "3  / CAT / available [dallas:A600002]",
        '4 gone: Outcome_Type "RETURNED TO OWNER" [dallas:A600003]',
      ],
    ]);
  });

  test("our own export: exact, a line that is cut is rejected and the next one read", async () => {
    expect(await briefs("rehome.ndjson")).toEqual([
      "rehome",
      "ndjson",
      [
        "1 Rex / 9223372036854775807 / available [asm:1]",
        "3  / -3 / none",
        "4 rejected: : not JSON: Unexpected EOF",
        "5 Last, no newline / 12 / sold",
      ],
    ]);
  });
});

test("an export for people has the number of a category without a name", async () => {
  const heads = "Number,Name,Category,Status,Number at the source,Source";
  const { format, outcomes } = await readWhole(`${heads}\n1,Rex,3,available,,\n2,Tom,Cat,sold,,\n`);
  expect([format, ...outcomes.map(brief)]).toEqual([
    "rehome",
    "2 Rex / 3 / available",
    "3 Tom / Cat / sold",
  ]);
});

describe("one field tells a format", () => {
  test.each([["id,name,category,status,externalId,source\n1,Rex,Dog,sold,,\n", "rehome"]])(
    "%s",
    async (text, format) => {
      expect((await readWhole(text)).format).toBe(format);
    },
  );

  test("a name and a category do not", async () => {
    const text = "id,name,category,status\n7,Rex,Dog,pending\n";
    expect(await readWhole(text)).toMatchObject({ format: "map", isGuessed: true });
  });
});

describe("numbers in JSON", () => {
  const read = async (written: string) => {
    const { outcomes } = await readWhole(`[{"name":"a","categoryId":${written}}]`);
    return outcomes.map(brief);
  };

  test("a whole number of more digits than a double keeps is an integer", async () => {
    expect(await read("9007199254740993.0")).toEqual(["1 a / 9007199254740993 / none"]);
  });

  test.each([
    ["0.5", "0.5"],
    ["[7]", "a list"],
    ['"8x"', '"8x"'],
    [`1${"0".repeat(60)}`, `1${"0".repeat(39)}...`],
  ])("%s is no id, and is shown as it was written", async (written, shown) => {
    const problem = `expected a whole number of 64 bits, found ${shown}`;
    expect(await read(written)).toEqual([`1 rejected: categoryId: ${problem}`]);
  });

  test("a text of digits is one in CSV", async () => {
    const { outcomes } = await readWhole("name,categoryId\na, 8 \n");
    expect(outcomes.map(brief)).toEqual(["2 a / 8 / none"]);
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
  const map = 'name=pet name,categoryId="Kind, or species",status=State,externalId=Tag';

  test("names columns whatever their case, and one with a comma in quotes", async () => {
    const { outcomes } = await readFixture("other.csv", { columns: parseFieldMap(map) });
    expect(outcomes.map(brief)).toEqual([
      "2 Bo / Dog / available [T-1]",
      "3  / 7 / pending [T-2]",
      '4 gone: State "Stray" [T-3]',
    ]);
  });

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

  test("leaves the rest to be guessed, and a typo is none", async () => {
    const text = "Name,Art,Status\nBo,Dog,pending\n";
    const given = { columns: parseFieldMap("name=Name") };
    expect(await readWhole(text, given)).toMatchObject({
      isGuessed: true,
      reading: { columns: { name: "Name", categoryId: "Art", status: "Status" } },
    });
    for (const name of ["Nam", "Name,categoryId=Breed"]) {
      const columns = parseFieldMap(`name=${name}`);
      expect(await refusal(readWhole(text, { columns }))).toContain("there is no such column");
    }
    const json = JSON.stringify([{ Name: "Bo", Art: "Dog", Status: "pending" }]);
    const columns = parseFieldMap("name=Nam");
    expect(await refusal(readWhole(json, { columns }))).toBe(
      '--map name=Nam: there is no such column; there are "Name", "Art", "Status"',
    );
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
