import { describe, expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import * as fc from "fast-check";
import { csvRows } from "../../../../src/annexes/import/read/csv-rows.ts";
import { readCsv } from "../../../../src/annexes/import/read/csv.ts";
import { MalformedRecord } from "../../../../src/annexes/import/read/records.ts";
import { inPieces, refusal } from "../helpers.ts";

async function rows(text: string, pieceSize = 3): Promise<[number, string[]][]> {
  const all: [number, string[]][] = [];
  for await (const { lines, records } of csvRows(inPieces(text, pieceSize), ",")) {
    records.forEach((record, index) => all.push([lines[index]!, record as string[]]));
  }
  return all;
}

/** What csv-parse makes of the same text; undefined when it refuses it. */
function oracle(text: string): string[][] | undefined {
  try {
    return parse(text, {
      relax_column_count: true,
      skip_empty_lines: true,
      record_delimiter: ["\r\n", "\n"],
    });
  } catch {
    return undefined;
  }
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

  test("a quoted empty field alone is a row, an empty line is none", async () => {
    expect(await rows('""\n\n""')).toEqual([
      [1, [""]],
      [3, [""]],
    ]);
  });

  test.each([
    [
      'a\n1,"2\n3,4\n5',
      "line 2: expected a closing '\"' for a field of this record, found the end",
    ],
    [
      'a\n"1\n2"x,3',
      "line 3: expected a delimiter or the line's end after a closing '\"', found \"x\" (within a field a '\"' is written '\"\"')",
    ],
    [
      'a\n1,2"x\n',
      "line 2: found a '\"' within a field that does not begin with one (such a field is quoted, and a '\"' in it written '\"\"')",
    ],
  ])("refuses %j", async (text, message) => {
    expect(await refusal(rows(text))).toBe(message);
  });

  test("agrees with csv-parse on any text of the characters that matter, however it is cut", async () => {
    const text = fc.string({
      unit: fc.constantFrom(",", '"', "\n", "\r\n", "a", "é", " "),
      maxLength: 24,
    });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 5 }), async (text, size) => {
        const read = rows(text, size).then(
          (all) => all.map(([, row]) => row),
          () => undefined,
        );
        expect(await read).toEqual(oracle(text));
      }),
      { numRuns: 2000 },
    );
  });

  test("names the line on which each row begins", async () => {
    const field = fc.string({ unit: fc.constantFrom("a", "\n", '"', ","), maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(field, field)), async (table) => {
        const lines: number[] = [];
        let text = "";
        for (const fields of table) {
          lines.push(text.split("\n").length);
          text += `${fields.map((value) => `"${value.replaceAll('"', '""')}"`).join(",")}\n`;
        }
        expect((await rows(text)).map(([line]) => line)).toEqual(lines);
      }),
    );
  });
});

describe("readCsv", () => {
  async function read(text: string, delimiter = ",") {
    const { columns, batches } = await readCsv(inPieces(text, 4), delimiter);
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
      new MalformedRecord("expected 2 fields as in the header, found 1 field", "5"),
      new MalformedRecord("expected 2 fields as in the header, found 3 fields", "6,7,8"),
    ]);
  });

  test.each([
    ["\n\n", "expected a CSV header line, found nothing"],
    [",,\n1,2,3", "line 1: expected a CSV header line, found only empty fields"],
    ["a,b\r1,2\r", "line 1: expected lines that end in LF or CRLF, found CR alone"],
  ])("refuses %j", async (text, message) => {
    expect(await refusal(read(text))).toBe(message);
  });
});
