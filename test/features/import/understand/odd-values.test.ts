/** Values that no field may have: each ends at its record, and never ends the import. */
import { describe, expect, test } from "bun:test";
import { parseFieldMap } from "../../../../src/features/import/understand/columns.ts";
import { parseStatusWords } from "../../../../src/features/import/understand/words.ts";
import { fixture, readWhole, refusal } from "../helpers.ts";

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

describe.each([
  "asm.json",
  "petfinder.json",
  "rescuegroups.json",
  "rescuegroups-statuses.json",
  "shelterluv.json",
])("%s", (name) => {
  test("odd values reject their records", async () => {
    // Pages may follow one another; the first will do.
    const [page = ""] = new TextDecoder().decode(await fixture(name)).split(/(?<=\n\})\n(?=\{)/);
    const document: unknown = JSON.parse(page);
    const { outcomes } = await readWhole(withOdd(spread(document)), { statuses: told });
    const kinds = new Set(outcomes.map(({ kind }) => kind));
    expect(kinds).toContain("reject");
    expect(kinds).toContain("pet");
  });
});

const record = { n: "Rex", c: "Dog", s: "available", i: "1", u: "2026-01-01" };

test("odd values in a file of our own map", async () => {
  const columns = parseFieldMap("name=n,categoryId=c,status=s,externalId=i,updatedAt=u");
  const records = [...Array.from({ length: 60 }, () => record), ...variants(record)];
  const { outcomes } = await readWhole(withOdd(records), { columns, statuses: told });
  expect(outcomes).toHaveLength(60 + 5 * odd.length);
});

test("an unknown file with them is refused in words", async () => {
  const unknown = { p: "x", q: "y" };
  const text = withOdd([unknown, ...variants(unknown)]);
  expect(await refusal(readWhole(text))).toContain("Say where the fields are");
});

test("a record that is nothing at all is bad, and no other one for it", async () => {
  const rex = { id: "1", name: "Rex", species: "Dog", status: "available", stage: "adopted" };
  const { outcomes } = await readWhole(JSON.stringify([null, rex, { ...rex, id: "2" }]));
  expect(outcomes.map(({ kind }) => kind)).toEqual(["reject", "pet", "pet"]);
});
