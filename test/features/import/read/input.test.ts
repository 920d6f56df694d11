import { afterEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { writeXlsx } from "hucre/xlsx";
import { parseJson } from "../../../../src/domain/exact-json.ts";
import { message } from "../../../../src/features/import/messages.ts";
import { isEncoding, wholeInput } from "../../../../src/features/import/read/input.ts";
import { jsonRecords } from "../../../../src/features/import/read/json.ts";
import { stepsOf } from "../../../../src/features/import/read/read.ts";
import { unzipped, zipped } from "../../../helpers/zip.ts";
import { parseFieldMap } from "../../../../src/features/import/understand/columns.ts";
import type { Given } from "../../../../src/features/import/understand/propose.ts";
import { brief, readWhole, refusal } from "../helpers.ts";

const csv = "name,categoryId,status\r\nZoé,1,available\r\nJürgen,2,sold\r\n";
const expected = (await readWhole(csv)).outcomes;

function utf16(text: string, order: "le" | "be", mark = true): Uint8Array {
  const bytes = Buffer.from((mark ? "\ufeff" : "") + text, "utf16le");
  return order === "le" ? bytes : bytes.swap16();
}

// Some have a text as long as an import takes, and none waits for the next.
afterEach(() => Bun.gc(true));

describe("an input in another encoding", () => {
  test.each(["le", "be"] as const)("UTF-16%s is read with its mark, or named", async (order) => {
    expect((await readWhole(utf16(csv, order))).outcomes).toEqual(expected);
    const unmarked = utf16(csv, order, false);
    expect(await refusal(readWhole(unmarked))).toContain("name its encoding with --encoding");
    const named = await readWhole(unmarked, { encoding: `utf-16${order}` });
    expect(named.outcomes).toEqual(expected);
  });

  test("letters of an old Mac are read where its lines are", async () => {
    const text = "Name,Species,Status\rFrida \x83s Bo,Dog,Available\rAda,Cat,Adopted\r\n";
    const { outcomes, notes } = await readWhole(Buffer.from(text, "latin1"));
    expect(outcomes.map(brief)).toEqual(["2 Frida És Bo / Dog / available", "3 Ada / Cat / sold"]);
    expect(notes.map(({ said }) => said)).toContainEqual(message("encodingGuessed", "macintosh"));
  });

  test("letters of Polish are read as windows-1250", async () => {
    // Kr\u00f3tkow\u0142osy Piku\u015b, as Windows writes it in Poland.
    const text = "Name,Species,Status\nKr\xf3tkow\xb3osy Piku\x9c,Dog,Available\n";
    const { outcomes } = await readWhole(Buffer.from(text, "latin1"));
    expect(outcomes.map(brief)).toEqual(["2 Kr\u00f3tkow\u0142osy Piku\u015b / Dog / available"]);
  });

  test("windows-1252 is read by itself, which is said, and when it is named", async () => {
    const bytes = Buffer.from(csv, "latin1");
    const { outcomes, notes } = await readWhole(bytes);
    expect(outcomes).toEqual(expected);
    expect(notes).toMatchObject([{ said: message("encodingGuessed", "windows-1252") }]);
    const named = await readWhole(bytes, { encoding: "windows-1252" });
    expect([named.outcomes, named.notes]).toEqual([expected, []]);
  });

  test("UTF-8 that is damaged is no other encoding", async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${csv}Zoé,1,x`),
      Buffer.from([0xff]),
      Buffer.from(",1\n"),
    ]);
    expect(await refusal(readWhole(bytes))).toStartWith("line 4: expected UTF-8 text");
  });

  test("another alphabet is asked for", async () => {
    const bytes = Uint8Array.from(Buffer.from(`a\n${"\xb4\xfa\xb8\xd5".repeat(9)}\n`, "latin1"));
    expect(await refusal(readWhole(bytes))).toContain("name its encoding with --encoding");
  });

  test("a mark says more than the encoding that is named", async () => {
    const named = { encoding: "windows-1252" };
    for (const bytes of [utf16(csv, "be"), Buffer.from(`\ufeff${csv}`)]) {
      expect((await readWhole(bytes, named)).outcomes).toEqual(expected);
    }
  });

  test("text that is not in the encoding is refused", async () => {
    const encoding = "shift_jis";
    const half = Buffer.concat([Buffer.from("name,categoryId\na,1\n"), Buffer.from([0x83])]);
    expect(await refusal(readWhole(half, { encoding }))).toBe("the input is not shift_jis text");
    expect(await refusal(readWhole("%PDF-1.7\n", { encoding }))).toContain("of the kind PDF");
  });

  test("its name is one that TextDecoder knows", () => {
    expect(["windows-1252", "macintosh", "utf-7"].map(isEncoding)).toEqual([true, true, false]);
  });
});

describe("the size of an input", () => {
  const mebibyte = 1024 * 1024;
  const tooLarge = "the input has more than 64 MiB, unpacked: split it into several files";

  test("has a bound, and no more is read", async () => {
    let read = 0;
    async function* endless() {
      for (;;) {
        read += mebibyte;
        yield new Uint8Array(mebibyte);
      }
    }
    expect(await refusal(wholeInput(endless()))).toBe(tooLarge);
    expect(read).toBe(65 * mebibyte);
  });

  test("holds for what is packed", async () => {
    expect(await refusal(readWhole(gzipSync(new Uint8Array(65 * mebibyte))))).toBe(tooLarge);
  });

  test("has one layer of compression", async () => {
    const twice = gzipSync(gzipSync(csv));
    expect(await refusal(readWhole(twice))).toStartWith("the input is compressed with gzip");
  });

  test("holds for each part of a workbook", async () => {
    const cells = Array.from({ length: 40 }, () => "x".repeat(30_000));
    const rows = [["name", "categoryId"], ...Array.from({ length: 60 }, () => cells)];
    const bytes = await writeXlsx({ sheets: [{ name: "A", rows }], stringMode: "inline" });
    expect(bytes.length).toBeLessThan(2 * mebibyte);
    expect(await refusal(readWhole(bytes))).toBe(tooLarge);
  }, 120_000);
});

describe("a compressed input", () => {
  test("is unpacked, of several members too, whatever is in it", async () => {
    const halves = [csv.slice(0, 30), csv.slice(30)].map((text) => gzipSync(text));
    expect((await readWhole(Buffer.concat(halves))).outcomes).toEqual(expected);
    expect((await readWhole(gzipSync(utf16(csv, "le")))).outcomes).toEqual(expected);
  });

  test("that is cut off or damaged is refused", async () => {
    const whole = gzipSync(csv);
    expect(await refusal(readWhole(whole.subarray(0, -9)))).toStartWith(
      "the compressed input is damaged (",
    );
    const damaged = Buffer.from(whole);
    damaged[whole.length - 6]! ^= 0xff;
    expect(await refusal(readWhole(damaged))).toStartWith("the compressed input is damaged (");
  });
});

describe("JSON", () => {
  const recordsOf = (text: string) => {
    const found = jsonRecords(text, [], { isObject: () => false });
    return "parts" in found ? [] : found.records;
  };

  test("keeps whole numbers of any size, where a text has one", () => {
    const number = fc.oneof(
      fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
      fc.double({ min: -1e15, max: 1e15, noNaN: true }).map(String),
      fc.constantFrom("1.0", "1e3", "0.10000000000000000001", "-0", "1e-7"),
    );
    const text = fc.string({
      unit: fc.constantFrom("a", "\\", '"', "1", "e", ":", "9007199254740993"),
    });
    const value = fc.oneof(
      number,
      text.map((each) => JSON.stringify(each)),
      fc.constantFrom("null", "[]", "{}"),
    );
    const list = fc.array(fc.tuple(text, value), { maxLength: 5 });
    /** What the exact reader has; a whole number of 16 digits and more is a text here. */
    const exact = (each: unknown) => {
      const written = JSON.isRawJSON(each) ? each.rawJSON : String(each);
      return typeof each !== "string" && /^-?\d{16,}$/.test(written) ? written : each;
    };
    fc.assert(
      fc.property(list, (fields) => {
        const json = `{${fields.map(([name, each]) => `${JSON.stringify(name)}: ${each}`).join(", ")}}`;
        const pairs = Object.entries(parseJson(json) as object);
        const expectedFields = pairs.map(([name, each]) => [name, exact(each)]);
        expect(recordsOf(`[${json}]`)).toEqual([Object.fromEntries(expectedFields)]);
      }),
    );
  });

  test.each([
    ['[{"name":"a"},{"name":b},{"name":"c"}]', "not JSON: "],
    ['{"animals":[{"name":"a"},{"name":"b"', "the input is cut off: "],
    ['[{"name":"a"}', "the input is cut off: "],
    ['{"name":"a"}\n{"name":', "line 2: the input is cut off: "],
    ['[{"name":"a"}] x', "not JSON: "],
    ['{"animals":[]}\n{"animals":[]}', "not JSON: "],
    ['[{"name":"a","id":01234567890123456}]', "not JSON: "],
    ["[".repeat(200_000), "the input is cut off: "],
  ])("%j is refused", async (text, words) => {
    expect(await refusal(readWhole(text))).toStartWith(words);
  });

  test.each([
    ["{},", 3_000_001],
    ["[],", 3_000_001],
    ["0,", 8_000_001],
  ])(
    "of too many %s is refused before it is in memory",
    async (value, count) => {
      const text = `[${value.repeat(count)}0]`;
      expect(await refusal(readWhole(text))).toContain("more than 64 MiB, unpacked");
    },
    120_000,
  );

  test("has a bound for the fields of its objects", async () => {
    const object = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`field${at}`, 0]));
    for (const list of [[object], { animals: [object, object] }, object]) {
      expect(await refusal(readWhole(JSON.stringify(list)))).toContain("more than 1000 columns");
    }
  });

  test("of too many lines is refused at the first above the bound", async () => {
    const line = '{"name":"a","category":"b","status":"available"}\n';
    expect(await refusal(readWhole(line.repeat(100_002)))).toStartWith("line 100001: ");
    expect(await refusal(readWhole(line + "\n".repeat(8_000_000)))).toContain("more than 64 MiB");
  }, 120_000);

  test("takes time that grows with the text alone", async () => {
    const odd = ['"', '"\\', '"\\"', '{"a":', "[", '12345678901234567890"', "}{"];
    const before = process.cpuUsage();
    for (const each of odd) await readWhole(`[${each.repeat(300_000)}`).catch(() => undefined);
    expect(process.cpuUsage(before).user).toBeLessThan(15_000_000);
  }, 120_000);

  const animal = { name: "Rex", species: "Dog", status: "pending" };
  test.each([
    ["deep within", { a: { b: [animal] } }, "1 Rex / Dog / pending"],
    ["of a map", { features: [{ attributes: animal, geometry: {} }] }, "1 Rex / Dog / pending"],
    [
      "of GeoJSON",
      { type: "FeatureCollection", features: [{ type: "Feature", properties: animal }] },
      "1 Rex / Dog / pending",
    ],
    ["by their ids", { x1: animal, x2: { ...animal, name: "Bo" } }, "1 Rex / Dog / pending [x1]"],
    ["of one", animal, "1 Rex / Dog / pending"],
  ])("finds the list %s", async (_where, document, first) => {
    const { outcomes } = await readWhole(JSON.stringify(document));
    expect(outcomes.map(brief)[0]).toBe(first);
  });

  test("of two lists asks for one of them", async () => {
    const text = JSON.stringify({ strays: [animal], cats: [animal] });
    expect(await refusal(readWhole(text))).toStartWith(
      "the input has several lists: strays, cats;",
    );
    const { outcomes } = await readWhole(text, { records: ["cats"], category: "Cat" });
    expect(outcomes.map(brief)).toEqual(["1 Rex / Cat / pending"]);
  });

  test.each([
    ["says so", { has_more: true, animals: [animal] }, "has_more: true"],
    ["has more animals", { total_count: 7, animals: [animal] }, "total_count: 7"],
    ["counts more", { count: 9, next: null, results: [animal] }, "count: 9"],
    ["found more", { response: { numFound: 9 }, results: [animal] }, "numFound: 9"],
    ["has more pages", { pagination: { total_pages: 2 }, animals: [animal] }, "2 pages"],
    ["has another page", { next: "https://x.example/2", results: [animal] }, "next"],
    ["has an error", { animals: [animal], error: "over quota" }, "a part of it is an error"],
    ["has a cursor", { next_cursor: "abc", animals: [animal] }, "next_cursor"],
    ["has a link in an object", { links: { next: { href: "u" } }, data: [animal] }, "next"],
    ["is not the last page", { last: false, content: [animal] }, "last: false"],
    ["has Laravel's pages", { last_page: 2, data: [animal] }, "2 pages"],
    ["is whole", { has_more: false, total_count: 1, animals: [animal] }, undefined],
  ])("a list that %s", async (_what, page, partial) => {
    const read = await readWhole(JSON.stringify(page));
    expect(read.partial).toBe(partial as never);
    expect(read.notes.some(({ said }) => said.code === "listPartial")).toBe(partial !== undefined);
  });
});

describe("a workbook", () => {
  const rows = [
    ["Animal Inventory"],
    [],
    ["name", "categoryId", "status", "Since"],
    ["Zoé", 1, "available", new Date(Date.UTC(2026, 4, 1))],
    [],
    ["Jürgen, the\ncat", 2, "sold", null],
  ];
  const sheet = (name: string, more: object = {}) => ({ name, rows, ...more });
  const readMe = { name: "Read me", rows: [["How to use this list"], ["Ask Ann"]] };
  const old = {
    name: "Old",
    rows: [
      ["name", "categoryId"],
      ["Bo", 3],
    ],
  };
  const workbook = (...sheets: Parameters<typeof writeXlsx>[0]["sheets"]) => writeXlsx({ sheets });
  const first = "xl/worksheets/sheet1.xml";
  /** A workbook with another text in one of its parts. */
  const changed = async (part: string, change: (xml: string) => string, list = sheet("A")) => {
    const parts = new Map(unzipped(await workbook(list)));
    const xml = Buffer.from(parts.get(part) ?? "").toString();
    return Buffer.concat(zipped(parts.set(part, Buffer.from(change(xml)))));
  };

  test("gives the rows of its list, with the number of each", async () => {
    const { shape, outcomes, notes } = await readWhole(await workbook(readMe, sheet("Animals")));
    expect(shape).toBe("xlsx");
    const said = message("sheetsUnread", '"Read me"');
    expect(notes).toEqual([{ said, records: 1, firstLine: 0, example: "" }]);
    expect(outcomes.map(brief)).toEqual(["4 Zoé / 1 / available", "6 Jürgen, the\ncat / 2 / sold"]);
  });

  test("with two lists asks for one of them", async () => {
    const bytes = await workbook(sheet("Dogs"), sheet("Cats"));
    expect(await refusal(readWhole(bytes))).toStartWith(
      'the workbook has several lists: "Dogs", "Cats";',
    );
  });

  test("has no sheets that people do not see", async () => {
    for (const state of [{ hidden: true }, { veryHidden: true }]) {
      const { outcomes, notes } = await readWhole(
        await workbook({ ...old, ...state }, sheet("Animals")),
      );
      expect(outcomes.map(({ line }) => line)).toEqual([4, 6]);
      expect(notes).toEqual([]);
    }
  });

  test("gives those of the sheet that is named", async () => {
    const both = await workbook(sheet("Animals"), old);
    const { outcomes, notes } = await readWhole(both, { sheet: "Old" });
    expect(notes).toEqual([]);
    expect(outcomes.map(brief)).toEqual(["2 Bo / 3 / none"]);
    const empty = await workbook(sheet("Animals"), { name: "Empty", rows: [] });
    expect(await refusal(readWhole(empty, { sheet: "Empty" }))).toStartWith("the sheet is empty");
    expect(await refusal(readWhole(both, { sheet: "New" }))).toBe(
      'there is no sheet "New"; there are "Animals", "Old"',
    );
  });

  test("has the value of a merged cell in each row that it spans", async () => {
    const list = [
      ["Name", "Species", "Status"],
      ["Rex", "Dog", "available"],
      ["Bo", null, "sold"],
      ["Mia", "Cat", "sold"],
    ];
    const merges = [{ startRow: 1, startCol: 1, endRow: 2, endCol: 1 }];
    const { outcomes } = await readWhole(await workbook({ name: "A", rows: list, merges }));
    expect(outcomes.map(brief)).toEqual([
      "2 Rex / Dog / available",
      "3 Bo / Dog / sold",
      "4 Mia / Cat / sold",
    ]);
  });

  const isReadAlike = async (bytes: Uint8Array) => {
    const all = await readWhole(await workbook(sheet("A")));
    expect((await readWhole(bytes)).outcomes.map(brief)).toEqual(all.outcomes.map(brief));
  };

  test.each([
    ["in another case", "sharedStrings", "SharedStrings", ""],
    ["in capitals", /xl\/workbook.xml|_rels/, (name: string) => name.toUpperCase(), ""],
    ["with backslashes", /\//g, "\\", ""],
    ["where only the relations tell", /(?<=^xl\/(_rels\/)?)workbook(?=\.)/, "$&2", "workbook2.xml"],
  ] as const)("with parts %s is read", async (_how, from, to, target) => {
    const before = unzipped(await workbook(sheet("A")));
    const parts = new Map([...before].map(([name, part]) => [name.replace(from, to as ""), part]));
    if (target !== "") {
      const text = Buffer.from(before.get("_rels/.rels") ?? "").toString();
      parts.set("_rels/.rels", Buffer.from(text.replace("workbook.xml", target)));
    }
    await isReadAlike(Buffer.concat(zipped(parts)));
  });

  test("with a value far out costs nothing", async () => {
    const far = (xml: string) =>
      xml.replaceAll(
        /(<row r="(\d+)".*?)<\/row>/gs,
        (_, row: string, line: string) => `${row}<c r="XFD${line}"><v>1</v></c></row>`,
      );
    await isReadAlike(await changed(first, far));
  });

  test("of more than an import takes is refused before it is in memory", async () => {
    const long = Array.from({ length: 65 }, () => ["x".repeat(2 ** 20 - 1), "Dog"]);
    const all = [
      workbook({ name: "A", rows: [["Name", "Species"], ...long] }),
      changed("xl/sharedStrings.xml", () => `<sst>${"<si/>".repeat(800_001)}</sst>`),
      changed(first, () => '<row><c r="ALL1"><v>1</v></c></row>'.repeat(17_000)),
    ];
    for (const bytes of all) {
      expect(await refusal(readWhole(await bytes))).toContain("more than 64 MiB, unpacked");
    }
  });

  test("takes time that grows with its bytes, whatever is in it", async () => {
    const names = Array.from({ length: 9_998 }, () => ["Rex"]);
    const list = { name: "A", rows: [["Name", "Species", "Status"], ...names] };
    const merges = '<mergeCell ref="A2:A9999"/>'.repeat(30_000);
    const overlapping = await changed(first, (xml) => xml + merges, list);
    const open = await changed("xl/workbook.xml", () => "<sheet ".repeat(1_500_000));
    const openMerges = await changed(first, () => "<mergeCell ".repeat(1_500_000));
    const before = process.cpuUsage();
    expect(await refusal(readWhole(overlapping))).toContain("its cells overlap");
    for (const bytes of [open, openMerges]) expect(await refusal(readWhole(bytes))).not.toBe("");
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
  }, 120_000);

  test("has no columns of formatted cells alone, up to the last one", async () => {
    const wide: (string | number | Date | null)[][] = [...rows];
    const blank = Array.from({ length: 16_000 }, () => "");
    wide[2] = [...(rows[2] ?? []), ...blank];
    wide[3] = [...(rows[3] ?? []), ...blank];
    expect((await readWhole(await workbook({ name: "A", rows: wide }))).outcomes).toHaveLength(2);
    const full = [Array.from({ length: 1_001 }, (_, at) => `c${at}`)];
    expect(await refusal(readWhole(await workbook({ name: "A", rows: full })))).toContain(
      "more than 1000 columns",
    );
  });

  test("with a formula that no program has computed is refused, and one with a value read", async () => {
    const many = [...rows, ...Array.from({ length: 600 }, () => rows.at(-1) ?? [])];
    const withFormula = (formulaResult: string | null, row = 3) =>
      writeXlsx({
        sheets: [
          {
            name: "Animals",
            rows: many,
            cells: new Map([[`${row},2`, { formula: 'IF(1,"sold","")', formulaResult }]]),
          },
        ],
      });
    expect(await refusal(readWhole(await withFormula(null)))).toBe(
      "line 4: the formula in C4 has no value: open the workbook in a spreadsheet program and save it",
    );
    expect(await refusal(readWhole(await withFormula(null, 600)))).toStartWith("line 601: ");
    const { outcomes } = await readWhole(await withFormula("sold"));
    expect(outcomes[0]).toMatchObject({ name: "Zoé", status: "sold" });
  });

  test("that is cut off, or another archive, is refused", async () => {
    const whole = await workbook(sheet("Animals"));
    const cut = await refusal(readWhole(whole.slice(0, whole.length - 200)));
    expect(cut).toStartWith("the workbook cannot be read (");
  });
});

describe("what is no list of animals", () => {
  test.each([
    [
      "<!DOCTYPE html><html><head><title>Sign in &amp; more</title>",
      'a web page ("Sign in & more")',
    ],
    ["\ufeff  <HTML>", "a web page, not a file of animals"],
    ["<head><title>\n  Sign \n in</title>", 'a web page ("Sign in")'],
    [`<body><title>${"x".repeat(81)}</title>`, `a web page ("${"x".repeat(80)}")`],
    ['<?xml version="1.0"?><animals/>', "of the kind XML"],
    ["version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "Git LFS pointer"],
    ["%PDF-1.7\n", "of the kind PDF"],
    ["<table><tr><td>Name</td><td>Species</td></tr></table>", "a web page with a table"],
    [
      '{"error":{"code":403,"message":"API key is missing"}}',
      'of a service, not a list: "API key is missing"',
    ],
    ['{"code":"unauthorized","message":"no key","status":401}', 'not a list: "no key"'],
    ['{"errors":[{"title":"Forbidden"}]}', 'not a list: "Forbidden"'],
    ['{"statusCode":401,"message":"Unauthorized"}', 'not a list: "Unauthorized"'],
    ['{"title":"Too many requests","status":429}', 'not a list: "Too many requests"'],
    ["[1,2]", "the records are no JSON objects"],
    ['{"Pet":"Rex","Kind":"Dog","photos":[{"url":"x"}]}', "--map status=COLUMN"],
    ['{"Pet":"Rex","Kind":"Dog","of":{"tags":["x"]}}', "--map status=COLUMN"],
    ['{"type":"about:blank","title":"Too many requests","status":429,"detail":"wait"}', '"wait"'],
  ])("%j is named for what it is", async (text, words) => {
    expect(await refusal(readWhole(text))).toContain(words);
  });

  test.each([
    ["--map", { columns: parseFieldMap("name=a,categoryId=b,status=c") }],
    ["--map without a status", { columns: parseFieldMap("name=a,categoryId=b") }],
    ["--format asm", { format: "asm" }],
    ["--records", { records: ["animals"] }],
    ["--default-status", { defaultStatus: "available" }],
  ] as const)("a service's error is named with %s too", async (_, given: Given) => {
    for (const text of [
      '{"error":"Unauthorized","message":"no key"}',
      '{\n  "code": 401,\n  "message": "no key"\n}\n',
      '{"error":"Unauthorized","message":"no key","data":[]}',
      '{"success":0,"error_message":"no key"}',
    ]) {
      const said = 'the input is the error of a service, not a list: "no key"';
      expect(await refusal(readWhole(text, given))).toContain(said);
    }
  });

  test("an animal that has a field of the same name is none", async () => {
    const columns = parseFieldMap("name=title,categoryId=kind,status=status");
    const text = '{"title":"Rex","kind":"Dog","status":"available","message":"hi","error":null}';
    const { outcomes } = await readWhole(text, { columns });
    expect(outcomes.map(brief)).toEqual(["1 Rex / Dog / available"]);
    const unknown = '{"Pet":"Rex","Kind":"Dog","error":null,"errors":[]}';
    expect(await refusal(readWhole(unknown))).toContain("--map");
    const beside = '{"error":"3 are missing","animals":[{"name":"Rex","categoryId":1}]}';
    expect((await readWhole(beside)).outcomes.map(brief)).toEqual(["1 Rex / 1 / none"]);
    const empty = '{"status":200,"message":"OK","error":false,"errors":[],"animals":[]}';
    expect((await readWhole(empty)).outcomes).toEqual([]);
  });

  test.each([
    [[0xfd, ...Buffer.from("7zXZ\0")], "compressed with xz"],
    [[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1], "XLS"],
  ])("%j too", async (bytes, words) => {
    expect(await refusal(readWhole(Uint8Array.from(bytes)))).toContain(words);
  });
});

describe("--records", () => {
  const given = { records: ["result", "list"] };

  test.each(["dogs.small", '"dogs.small"', 'all."dogs.small"'])("%s names a list", async (path) => {
    const list = [{ name: "a", categoryId: 1 }];
    const text = JSON.stringify({ "dogs.small": list, all: { "dogs.small": list, cats: [] } });
    const { outcomes } = await readWhole(text, { records: stepsOf(path) });
    expect(outcomes.map(brief)).toEqual(["1 a / 1 / none"]);
  });

  test("is refused when it leads nowhere", async () => {
    for (const text of ['{"result":{"pets":[]}}', '{"a":1}', '[{"result":1}]']) {
      expect(await refusal(readWhole(text, given))).toBe(
        "there is no list of records at --records result.list",
      );
    }
  });
});

test("NDJSON is told by its first object, whatever lists later ones have", async () => {
  const text =
    '{"name":"a","categoryId":1}\n{"name":"b","categoryId":1,"animals":[{"name":"x"}]}\n';
  const { shape, outcomes } = await readWhole(text);
  expect([shape, ...outcomes.map(brief)]).toEqual(["ndjson", "1 a / 1 / none", "2 b / 1 / none"]);
  expect((await readWhole(text.slice(0, text.indexOf("\n")))).shape).toBe("ndjson");
});
