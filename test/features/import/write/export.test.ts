import { expect, test } from "bun:test";
import * as fc from "fast-check";
import Papa from "papaparse";
import { petStatuses } from "../../../../src/domain/pet.ts";
import { int64Max, int64Min } from "../../../../src/domain/int64.ts";
import { exportFormats, exportText } from "../../../../src/features/import/export.ts";
import type { ExportedPet } from "../../../../src/features/import/export.ts";
import { readWhole } from "../helpers.ts";

async function text(
  batches: readonly (readonly ExportedPet[])[],
  format: (typeof exportFormats)[number],
) {
  let all = "";
  for await (const piece of exportText(batches, format)) all += piece;
  return all;
}

const some: readonly (readonly ExportedPet[])[] = [
  [{ id: 1n, name: 'Rex "the" dog, Jr.\n', categoryId: 9223372036854775807n, status: "available" }],
  [],
  [
    { id: 2n, name: "", categoryId: -1n },
    { id: 3n, name: "=1+1", categoryId: 3n, externalId: "asm:1" },
  ],
];

test("exportText writes an array, a line for each, or CSV with CRLF", async () => {
  const lines = [
    '{"id":1,"name":"Rex \\"the\\" dog, Jr.\\n","categoryId":9223372036854775807,"status":"available"}',
    '{"id":2,"name":"","categoryId":-1}',
    '{"id":3,"name":"=1+1","categoryId":3,"externalId":"asm:1"}',
  ];
  expect(await text(some, "json")).toBe(`[${lines.join(",\n")}]\n`);
  expect(await text([], "json")).toBe("[]\n");
  expect(await text(some, "ndjson")).toBe(`${lines.join("\n")}\n`);
  expect(await text(some, "csv")).toBe(
    'id,name,categoryId,category,status,externalId,source\r\n1,"Rex ""the"" dog, Jr.\n",9223372036854775807,,available,,\r\n2,,-1,,,,\r\n3,\'=1+1,3,,,asm:1,\r\n',
  );
});

test("exportText no CSV field is a formula to a spreadsheet", async () => {
  const names = ["=A1", "+1", "-1", "@x", "\tx", "\rx", "\nx", "＝A1", "a;=A1", "'=A1", "a\t=A1"];
  names.push("plain", "'plain");
  const csv = await text(
    [names.map((name, index) => ({ id: BigInt(index), name, categoryId: 1n }))],
    "csv",
  );
  const { data } = Papa.parse<string[]>(csv, { newline: "\r\n", skipEmptyLines: true });
  const fields = data.slice(1).map((row) => row[1]!);
  expect(fields.filter((field) => /(?:^|[;\t])[=+\-@\t\r\n＝＋－＠]/.test(field))).toEqual([]);
  expect(fields.slice(-2)).toEqual(["plain", "'plain"]);
  // A line end of any kind begins a row in some spreadsheet.
  expect(await text([[{ id: 1n, name: "a\rb", categoryId: 1n }]], "csv")).toContain('"a\rb"');
});

test("exportText an import leaves a sign that no apostrophe guards", async () => {
  const { outcomes } = await readWhole("name,categoryId\n-Rex,1\n'Tis,1\n'=Bo,1\n");
  expect(outcomes).toMatchObject([{ name: "-Rex" }, { name: "'Tis" }, { name: "=Bo" }]);
});

test("exportText an import reads back exactly what was exported, in every format", async () => {
  const unit = fc.constantFrom(...Array.from("aé😀\",\n\r'=;＝+-@\t {\\\ufeff"));
  const pet = fc.record(
    {
      id: fc.bigInt({ min: 1n, max: int64Max }),
      name: fc.string({ unit, maxLength: 6 }),
      categoryId: fc.bigInt({ min: int64Min, max: int64Max }),
      status: fc.constantFrom(...petStatuses),
      externalId: fc.string({
        unit: fc.constantFrom("a", "'", "=", ":", ",", '"'),
        minLength: 1,
        maxLength: 4,
      }),
    },
    { requiredKeys: ["id", "name", "categoryId"] },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(pet), { maxLength: 3 }),
      fc.constantFrom(...exportFormats),
      async (batches, format) => {
        const all = batches.flat();
        if (all.length === 0 && format === "ndjson") return;
        const { outcomes } = await readWhole(await text(batches, format));
        expect(
          outcomes.map((outcome) => {
            if (outcome.kind !== "pet") return outcome;
            const { name, category, status, externalId } = outcome;
            return { name, category, status, externalId };
          }),
        ).toEqual(
          all.map(({ name, categoryId, status, externalId }) => ({
            name,
            category: { id: categoryId },
            status,
            externalId,
          })),
        );
      },
    ),
    { numRuns: 300 },
  );
});
