import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { csvRows } from "../../../../src/features/import/read/csv-rows.ts";
import { readTable } from "../../../../src/features/import/read/table.ts";
import { MalformedRecord } from "../../../../src/features/import/read/records.ts";
import { inPieces, readWhole, refusal } from "../helpers.ts";
import { message } from "../../../../src/features/import/messages.ts";

async function rows(text: string, pieceSize = 3): Promise<[number, unknown][]> {
  const all: [number, unknown][] = [];
  for await (const { lines, records } of csvRows(inPieces(text, pieceSize), ",")) {
    records.forEach((record, index) => all.push([lines[index]!, record]));
  }
  return all;
}

describe("csvRows", () => {
  test("quotes, doubled quotes, newlines within, CRLF and LF mixed, blank lines, no last newline", async () => {
    expect(await rows('a,"b ""x""",c\r\n\n"1\r\n2",,"3"\n\r\n"",4\n"last\n"')).toEqual([
      [1, ["a", 'b "x"', "c"]],
      [3, ["1\r\n2", "", "3"]],
      [6, ["", "4"]],
      [7, ["last\n"]],
    ]);
  });

  test("quotes that mark nothing are text", async () => {
    const text = 'id,name\n1,23-0954 "Clark"\n2,"Clark" Kent\n3,5" collar\n4,"a ""b"" c"\n';
    expect(await rows(text)).toEqual([
      [1, ["id", "name"]],
      [2, ["1", '23-0954 "Clark"']],
      [3, ["2", '"Clark" Kent']],
      [4, ["3", '5" collar']],
      [5, ["4", 'a "b" c']],
    ]);
    expect(await rows('id,name\n1,"Clark" Kent')).toContainEqual([2, ["1", '"Clark" Kent']]);
  });

  test("a quote left open spoils its own line, never in silence", async () => {
    const problem = message("quoteOpen");
    expect(await rows('a,b\n"Rex,1\r\n"Bo",2\nLu,3\n', 5)).toEqual([
      [1, ["a", "b"]],
      [2, new MalformedRecord(problem, '"Rex,1')],
      [3, ["Bo", "2"]],
      [4, ["Lu", "3"]],
    ]);
  });

  test("a line with a quote that marks nothing keeps the fields that are quoted", async () => {
    const text = '"Clark" Kent,"a, b" ,"x ""y""",""\r\n"Smith, "Bob"",2,3,4\n"1\n2",3,4,5\n';
    expect(await rows(text)).toEqual([
      [1, ['"Clark" Kent', "a, b", 'x "y"', ""]],
      [2, ['"Smith, "Bob""', "2", "3", "4"]],
      [3, ["1\n2", "3", "4", "5"]],
    ]);
  });

  test("a field over more than one portion is read once and whole", async () => {
    const long = "x\n".repeat(200_000);
    const [first, second] = await rows(`a,"${long}"\nb,c\n`, 50_000);
    expect(first).toEqual([1, ["a", long]]);
    expect(second).toEqual([200_002, ["b", "c"]]);
  });

  test("an empty line is no row", async () => {
    expect(await rows('a\n\n\r\n""\nb')).toEqual([
      [1, ["a"]],
      [5, ["b"]],
    ]);
  });

  test.each(['a\n1,"2\n3,4\n5', 'a\n"1" 2,"3'])(
    "a quote that stays open to the end is refused at its line: %j",
    async (text) => {
      expect(await refusal(rows(text))).toBe(
        "line 2: expected a closing '\"' for a field of this record, found the end",
      );
    },
  );

  test("gives back any table with the lines of its rows, however it is cut", async () => {
    const field = fc.string({
      unit: fc.constantFrom("a", "é", "\n", "\r\n", '"', ",", " ", "'"),
      maxLength: 4,
    });
    const blanks = fc.constantFrom("", "\n", "\r\n\n");
    const row = fc.tuple(blanks, field, field, fc.constantFrom("\n", "\r\n"));
    await fc.assert(
      fc.asyncProperty(fc.array(row), fc.integer({ min: 1, max: 5 }), async (table, size) => {
        let text = "";
        const expected: [number, string[]][] = [];
        for (const [blank, a, b, end] of table) {
          text += blank;
          expected.push([text.split("\n").length, [a, b]]);
          text += `${[a, b].map((value) => `"${value.replaceAll('"', '""')}"`).join(",")}${end}`;
        }
        expect(await rows(text, size)).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });

  test("reads any text of the characters that matter the same, however it is cut", async () => {
    const text = fc.string({
      unit: fc.constantFrom(",", '"', "\n", "\r\n", "a", "é", " "),
      maxLength: 24,
    });
    const read = (text: string, size: number) =>
      rows(text, size).catch((error: unknown) => (error as Error).message);
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 5 }), async (text, size) => {
        expect(await read(text, size)).toEqual(await read(text, 1000));
      }),
      { numRuns: 1000 },
    );
  });
});

describe("readTable", () => {
  async function read(
    text: string,
    delimiter = ",",
    isHeader?: (columns: readonly string[]) => boolean,
  ) {
    const { columns, batches } = await readTable(
      csvRows(inPieces(text, 4000), delimiter),
      isHeader,
    );
    const records: unknown[] = [];
    for await (const batch of batches) records.push(...batch.records);
    return { columns, records };
  }

  test("a row has as many fields as the header, but empty ones may be left over", async () => {
    const { columns, records } = await read("a, b ,\n1,2,\n3,4,,\n5\n6,7,8\n");
    expect(columns).toEqual(["a", "b"]);
    expect(records).toEqual([
      ["1", "2"],
      ["3", "4"],
      new MalformedRecord(message("fieldCount", "2", "1"), "5"),
      new MalformedRecord(message("fieldCount", "2", "3"), "6,7,8"),
    ]);
  });

  test("empty rows of a spreadsheet are no records", async () => {
    const { records } = await read("a,b,c\n,,\n1,2,3\n,x,\n, ,\n,,,,\n");
    expect(records).toEqual([
      ["1", "2", "3"],
      ["", "x", ""],
    ]);
    expect((await read("a,b\n1,2\n,\n3,4\n")).records).toHaveLength(2);
  });

  test("title rows above the header are passed over", async () => {
    const table = "id,name,species\n1,Rex,Dog\n2,Bo,Cat\n";
    const report = `Animal Inventory,,\n"Printed 5/1/2026, by Jo",,\n\n${table}`;
    expect(await read(report)).toEqual(await read(table));
    const twoTitles = `Shelter,Happy Paws\nid,name,species,kennel,sex\n1,Rex,Dog,K1,M\n2,Bo,Cat,K2,F\n`;
    expect((await read(twoTitles)).columns).toEqual(["id", "name", "species", "kennel", "sex"]);
    expect((await read("Our animals\nPet,Kind\nRex,Dog\nBo,Cat\n")).columns).toEqual([
      "Pet",
      "Kind",
    ]);
    const known = (columns: readonly string[]) => columns.includes("name");
    const wide = `From,To,By\n1/1/2026,5/1/2026,Jo\n${table}`;
    expect((await read(wide, ",", known)).records).toHaveLength(2);
  });

  test("a last row that is short and has no end is cut off", async () => {
    const problem =
      "line 3: the input is cut off in the record that begins here: expected 3 fields as in the header, found 2 fields";
    expect(await refusal(read("a,b,c\n1,2,3\n4,5"))).toBe(problem);
    expect((await read("a,b,c\n1,2,3\n4,5,6")).records).toHaveLength(2);
    expect((await read("a,b,c\n1,2,3\n4,5\n")).records[1]).toBeInstanceOf(MalformedRecord);
    expect((await read("a,b,c\n1,2\n3,4,5")).records[0]).toBeInstanceOf(MalformedRecord);
    expect((await read("a,b,c\n1,2,3\n4,5,6,7")).records[1]).toBeInstanceOf(MalformedRecord);
  });

  test("a name of a column may have a line break", async () => {
    const { columns, records } = await read('a,"b\r\nc"\r\n1,2\r\n');
    expect(columns).toEqual(["a", "b\r\nc"]);
    expect(records).toEqual([["1", "2"]]);
  });

  test.each([
    ["\n\n", "expected a CSV header line, found nothing"],
    [",,\n,,", "line 1: expected a CSV header line, found only empty fields"],
    [
      "a,b\r1,2\r",
      "line 1: expected lines that end in LF or CRLF, found CR alone: save it again as CSV or .xlsx",
    ],
  ])("refuses %j", async (text, message) => {
    expect(await refusal(read(text))).toBe(message);
  });
});

describe("the delimiter", () => {
  const table = (delimiter: string) =>
    [
      ["name", "categoryId", "status"],
      ["Rex, the dog", "1", "available"],
      ["Zoë; cat", "2", "sold"],
      ["Tom | Jerry", "3", ""],
    ]
      .map((row) =>
        row.map((field) => (field.includes(delimiter) ? `"${field}"` : field)).join(delimiter),
      )
      .join("\r\n");

  test.each([",", ";", "\t", "|"])("%j is found out", async (delimiter) => {
    const { outcomes } = await readWhole(table(delimiter));
    expect(outcomes).toEqual((await readWhole(table(","))).outcomes);
  });

  test("is the one that `sep=` names, as Excel writes it", async () => {
    const { outcomes } = await readWhole(`sep=;\r\nname;categoryId\r\na,b,c,d;1\r\ne,f,g,h;2\r\n`);
    expect(outcomes).toMatchObject([{ line: 3, name: "a,b,c,d" }, { line: 4 }]);
  });

  test.each([
    ["in quotes", 'name;categoryId\n"a,b,c,d";1\n"e,f,g,h";2\n'],
    ["once in each line", "name;categoryId;age, years\nBo, cat;1;2\nRex, dog;2;3\n"],
  ])("is not one that stands %s", async (_where, text) => {
    const { outcomes } = await readWhole(text);
    expect(outcomes).toMatchObject([{ category: { id: 1n } }, { category: { id: 2n } }]);
  });

  test("is not that of a title row", async () => {
    const { outcomes } = await readWhole(
      `Inventory, May 2026, all\nname;categoryId\nRex;1\nBo;2\n`,
    );
    expect(outcomes).toMatchObject([{ name: "Rex" }, { name: "Bo" }]);
  });
});
