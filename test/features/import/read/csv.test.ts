import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { message } from "../../../../src/features/import/messages.ts";
import { csvTable, MalformedRecord, tableOf } from "../../../../src/features/import/read/table.ts";
import { listHints } from "../../../../src/features/import/understand/guess.ts";
import { readWhole, refusal } from "../helpers.ts";

async function rows(text: string): Promise<[number, unknown][]> {
  const table = csvTable(text);
  return table.rows.map((row, index) => [table.lines[index] ?? 0, row]);
}

describe("the rows of CSV", () => {
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
    expect(await rows('a,b\n"Rex,1\r\n"Bo",2\nLu,3\n')).toEqual([
      [1, ["a", "b"]],
      [2, new MalformedRecord(problem, '"Rex,1')],
      [3, ["Bo", "2"]],
      [4, ["Lu", "3"]],
    ]);
    // The same where no quote follows, to the end of the input, and behind an odd one.
    for (const open of ['1,"2', '"1" 2,"3', '1,"2""']) {
      const bad: [number, unknown] = [2, new MalformedRecord(problem, open)];
      expect(await rows(`a,b\n${open}\n3,4\n`)).toEqual([[1, ["a", "b"]], bad, [3, ["3", "4"]]]);
      expect(await rows(`a,b\n${open}`)).toEqual([[1, ["a", "b"]], bad]);
    }
  });

  test("gives back any table with the lines of its rows", async () => {
    const field = fc.string({
      unit: fc.constantFrom("a", "é", "\n", "\r\n", '"', ",", " ", "'"),
      maxLength: 4,
    });
    const blanks = fc.constantFrom("", "\n", "\r\n\n");
    const row = fc.tuple(blanks, field, field, fc.constantFrom("\n", "\r\n"));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 5 }), async (table) => {
        let text = "";
        const expected: [number, string[]][] = [];
        for (const [before, one, other, end] of table) {
          text += before;
          expected.push([text.split("\n").length, [one, other]]);
          text += `${quoted(one)},${quoted(other)}${end}`;
        }
        expect(await rows(text)).toEqual(expected);
      }),
    );
  });

  test("takes time that grows with the text alone, whatever its quotes", async () => {
    const odd = ['"a\n', '"a"b\n', 'x,"y" z,"\n', '"a""\n', '",'];
    const before = process.cpuUsage();
    for (const each of odd) {
      const text = `h,i\n${each.repeat(200_000)}`;
      await rows(text).catch(() => undefined);
    }
    expect(await rows(`h,i\n${'"a" b,1\n'.repeat(60_000)}`)).toHaveLength(60_001);
    const returns = "\r".repeat(400_000);
    for (const each of [`"a"${returns}x,1\n`, `"a${returns}x\n"`]) {
      await rows(`h,i\n${each}`).catch(() => undefined);
    }
    expect(process.cpuUsage(before).user).toBeLessThan(15_000_000);
  }, 120_000);
});

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

describe("a table", () => {
  async function read(
    text: string,
    isHeader: (columns: readonly string[]) => boolean = () => false,
  ) {
    const known = { ...listHints, isHeader };
    const { columns, records, notes } = tableOf(csvTable(text), known);
    return { columns, records: [...records], notes };
  }

  test("a row has at most as many fields as the header, but empty ones may be left over", async () => {
    const { columns, records } = await read("a, b ,\n1,2,\n3,4,,\n5\n6,7,8\n");
    expect(columns).toEqual(["a", "b"]);
    expect(records).toEqual([
      ["1", "2"],
      ["3", "4"],
      ["5", ""],
      new MalformedRecord(message("fieldCount", "2", "3"), "6,7,8"),
    ]);
  });

  test("empty rows of a spreadsheet are no records", async () => {
    const { records } = await read("a,b,c\n,,\n1,2,3\n,x,y\n, ,\n,,,,\n");
    expect(records).toEqual([
      ["1", "2", "3"],
      ["", "x", "y"],
    ]);
    expect((await read("a,b\n1,2\n,\n3,4\n")).records).toHaveLength(2);
  });

  test("title rows above the header are passed over", async () => {
    const table = "id,name,species\n1,Rex,Dog\n2,Bo,Cat\n";
    const report = `Animal Inventory,,\n"Printed 5/1/2026, by Jo",,\n\n${table}`;
    expect(await read(report)).toEqual(await read(table));
    const twoTitles = `Shelter,Happy Paws\nid,name,species,kennel,sex\n1,Rex,Dog,K1,M\n2,Bo,Cat,K2,F\n`;
    expect((await read(twoTitles)).columns).toEqual(["id", "name", "species", "kennel", "sex"]);
    const oneTitle = await read("Our animals\nPet,Kind\nRex,Dog\nBo,Cat\n");
    expect(oneTitle.columns).toEqual(["Pet", "Kind"]);
    const known = (columns: readonly string[]) => columns.includes("name");
    const wide = `From,To,By\n1/1/2026,5/1/2026,Jo\n${table}`;
    expect((await read(wide, known)).records).toHaveLength(2);
  });

  test("a last row that is short and has no end is cut off", async () => {
    const problem =
      "line 3: the input is cut off: expected 3 fields as in the header, found 2 fields";
    expect(await refusal(read("a,b,c\n1,2,3\n4,5"))).toBe(problem);
    expect((await read("a,b,c\n1,2,3\n4,5,6")).records).toHaveLength(2);
    expect((await read("a,b,c\n1,2,3\n4,5\n")).records[1]).toEqual(["4", "5", ""]);
    // Programs leave blank fields at the end of a row out, then of the last one, too.
    expect((await read("a,b,c\n1,2\n3,4,5\n6,7")).records).toEqual([
      ["1", "2", ""],
      ["3", "4", "5"],
      ["6", "7", ""],
    ]);
    expect((await read("a,b,c\n1,2,3\n4,5,6,7")).records[1]).toBeInstanceOf(MalformedRecord);
  });

  test.each([
    [" \n", "line 1: expected a CSV header line, found nothing"],
    [",,\n,,", "line 1: expected a CSV header line, found nothing"],
    [
      "Rex,Dog,available\nBo,Cat,sold\n",
      "line 1: the first row is an animal, and no row has names",
    ],
    ["Toto,5,mediano\nNarnia,15,grande\n", "line 1: the first row is an animal"],
    [`${"a,".repeat(1_000)}b\n`, "line 1: the input has more than 1000 columns"],
    [`a,b\n${"1,2\n".repeat(100_101)}`, "line 100101: the input has more than 100000 records"],
    [
      `a,b\n"${"x".repeat(1_048_577)}",2\n`,
      "line 2: expected a record of at most 1048576 characters",
    ],
  ])("is refused: %#", async (text, words) => {
    expect(await refusal(read(text))).toStartWith(words);
  });

  test("totals and notes below are left out, and that is said", async () => {
    const list = "Name,Species,Status\nRex,Dog,available\nTotal,Dog,sold\n";
    const below = [
      "Total,2,\n",
      "Total:,,\n",
      "\n* bonded pair\n",
      "Printed by Jo\n,,\n",
      "Subtotal,1,\nAll ages in years\n",
    ];
    for (const each of below) {
      const { records, notes } = await read(list + each);
      expect(records).toEqual([
        ["Rex", "Dog", "available"],
        ["Total", "Dog", "sold"],
      ]);
      expect(notes).toMatchObject([{ said: { code: "rowsLeftOut" } }]);
    }
    // A row in the middle that is no animal is a bad record.
    const { records } = await read("Name,Species,Status\nCATS\nMia,Cat,available\n");
    expect(records[0]).toBeInstanceOf(MalformedRecord);
  });

  test("the header is the row with names that lists have, below titles and merged cells", async () => {
    const text =
      "Shelter list,,May,2026\nAnimal,,Stay,\nName,Species,Status,Since\nRex,Dog,available,May\n";
    expect((await read(text)).columns).toEqual(["Name", "Species", "Status", "Since"]);
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
