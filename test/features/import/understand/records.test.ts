/** What a field of a record may hold, what a map may say, and values that no field may have. */
import { describe, expect, test } from "bun:test";
import { Notes } from "../../../../src/features/import/messages.ts";
import { parseFieldMap } from "../../../../src/features/import/understand/columns.ts";
import {
  categoryName,
  idInSource,
  shelterName,
  sourceId,
} from "../../../../src/features/import/understand/record.ts";
import {
  isPlaceholderId,
  parseStatusWords,
} from "../../../../src/features/import/understand/words.ts";
import { brief, fixture, readWhole, refusal } from "../helpers.ts";

describe("shelterName", () => {
  test.each([
    [" Rex ", "Rex"],
    ["** Luna", "Luna"],
    ["*", ""],
    ["   ", ""],
    [null, ""],
    ["Name Not Known", ""],
    ["N/A", ""],
    ["Star*", "Star*"],
    ["Nana", "Nana"],
  ])("%j is %j", (given, name) => {
    expect(shelterName("name", given)).toBe(name);
  });

  test("a name that is no text is a fault", () => {
    expect(() => shelterName("name", true)).toThrow("expected a text, found true");
    expect(shelterName("name", 5)).toBe("5");
    expect(() => shelterName("name", "a\0b")).toThrow("well-formed Unicode");
    expect(() => shelterName("name", "é".repeat(1_001))).toThrow(
      "expected at most 1000 characters, found 1001",
    );
  });
});

test("a category is without the blanks around it, and text that can be kept", () => {
  expect(categoryName("kind", " Guinea Pig ")).toEqual({ name: "Guinea Pig" });
  expect(() => categoryName("kind", " ")).toThrow("found nothing");
  expect(() => categoryName("kind", "a\0b")).toThrow("well-formed Unicode");
});

describe("sourceId", () => {
  test("texts, numbers and exact large numbers become text", () => {
    expect(
      [" A1 ", 7, 9223372036854775807n, "", null].map((value) => sourceId("id", value)),
    ).toEqual(["A1", "7", "9223372036854775807", undefined, undefined]);
  });

  test("an id has at most 200 characters", () => {
    expect(sourceId("id", "x".repeat(200))).toHaveLength(200);
  });

  test("what cannot identify is a fault", () => {
    expect(() => sourceId("id", "a\0b")).toThrow("well-formed Unicode");
    expect(() => sourceId("id", 1e30)).toThrow("expected a text, found 1e+30");
    expect(() => sourceId("id", true)).toThrow("expected a text, found true");
    expect(() => sourceId("id", "x".repeat(201))).toThrow("at most 200 characters, found 201");
  });
});

describe("externalId", () => {
  const idOf = (value: string) => {
    const notes = new Notes();
    const context = { source: "clinic", notes, isWorkbook: false };
    return [idInSource(context, "Tag", value, 2), notes.list().length];
  };

  test.each(
    "N/A #N/A n/a NA #NAME? #NULL! #NUM! #REF! #VALUE! #DIV/0! null nil None NaN undefined Unknown TBD 0 000 - -- \u2013 ? ... \u00a0N/A".split(
      " ",
    ),
  )("%j stands where there is none", (value) => {
    expect(idOf(value)).toEqual([undefined, 0]);
    expect(isPlaceholderId(` ${value}`)).toBe(true);
  });

  test.each("9.8102E+14 9,81E+14 1e+5 01-Mar 1-sep Mar-01 dec-1".split(" "))(
    "%j is what a spreadsheet left of one",
    (value) => expect(idOf(value)).toEqual([undefined, 1]),
  );

  test.each("A0 0A 1-2 E+14 A9E+14 Marley-1 123-Mar May-2026 2026-03-01 nan1 no".split(" "))(
    "%j is one",
    (value) => expect(idOf(value)).toEqual([`clinic:${value}`, 0]),
  );
});

const read = async (written: string) => {
  const { outcomes } = await readWhole(`[{"name":"a","categoryId":${written}}]`);
  return outcomes.map(brief);
};

test.each([
  ["0.5", "0.5"],
  ["[7]", "a list"],
  ['"8x"', '"8x"'],
  [`1${"0".repeat(60)}`, `"1${"0".repeat(38)}..."`],
])("%s in JSON is no id, and is shown as it was written", async (written, shown) => {
  const problem = `expected a whole number of 64 bits, found ${shown}`;
  expect(await read(written)).toEqual([`1 rejected: categoryId: ${problem}`]);
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

/** JSON: other types, numbers beyond every type, and objects that cannot become text. */
const odd = [
  "1e21",
  "9007199254740991",
  "1e999",
  '{"toString":1}',
  '[{"toString":1}]',
  "[]",
  "true",
  '"constructor"',
];

/** Marks that stand for the texts until the document is one. */
const mark = (at: number) => `odd value ${at}.`;
const withOdd = (document: unknown) =>
  odd.reduce(
    (text, value, at) => text.replaceAll(`"${mark(at)}"`, value),
    JSON.stringify(document),
  );

/** A record for each field and odd value, each with this one value in the place of its own. */
function variants(record: object): object[] {
  return Object.entries(record).flatMap(([name, value]) => [
    ...odd.map((_, at) => ({ ...record, [name]: mark(at) })),
    ...(value !== null && typeof value === "object" && !Array.isArray(value)
      ? variants(value as object).map((inner) => ({ ...record, [name]: inner }))
      : []),
  ]);
}

/** The document with the variants of the first record in the first list of records. */
function spread(document: unknown): unknown {
  if (Array.isArray(document)) return [...document, ...variants(document[0] as object)];
  const entries = Object.entries(document as object);
  const [list] = entries.find(([, value]) => Array.isArray(value)) ?? [];
  return Object.fromEntries(
    entries.map(([name, value]) => [name, name === list ? spread(value) : value]),
  );
}

const told = parseStatusWords(["WORD=available"]);

describe.each(["asm.json", "petfinder.json", "rescuegroups.json", "shelterluv.json"])(
  "%s",
  (name) => {
    test("odd values reject their records", async () => {
      const document: unknown = JSON.parse(new TextDecoder().decode(await fixture(name)));
      const { outcomes } = await readWhole(withOdd(spread(document)), { statuses: told });
      const kinds = new Set(outcomes.map(({ kind }) => kind));
      expect(kinds).toContain("reject");
      expect(kinds).toContain("pet");
    });
  },
);

const record = { n: "Rex", c: "Dog", s: "available", i: "1", u: "2026-01-01" };

test("odd values in a file of our own map", async () => {
  const columns = parseFieldMap("name=n,categoryId=c,status=s,externalId=i,updatedAt=u");
  const records = [...Array.from({ length: 60 }, () => record), ...variants(record)];
  const { outcomes } = await readWhole(withOdd(records), { columns, statuses: told });
  expect(outcomes).toHaveLength(60 + 5 * odd.length);
});

test("a record that is nothing at all is bad, and no other one for it", async () => {
  const rex = { id: "1", name: "Rex", species: "Dog", status: "available", stage: "adopted" };
  const { outcomes } = await readWhole(JSON.stringify([null, rex, { ...rex, id: "2" }]));
  expect(outcomes.map(({ kind }) => kind)).toEqual(["reject", "pet", "pet"]);
});
