import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { writeXlsx } from "hucre/xlsx";
import { formats } from "../../../../src/features/import/formats/index.ts";
import { mappedFormat, parseFieldMap } from "../../../../src/features/import/formats/field-map.ts";
import { Statuses } from "../../../../src/features/import/formats/statuses.ts";
import type { ReadOptions } from "../../../../src/features/import/reading.ts";
import { isEncoding } from "../../../../src/features/import/read/open.ts";
import { until } from "../../../helpers/until.ts";
import { message } from "../../../../src/features/import/messages.ts";
import { brief, fixture, inPieces, readWhole, refusal } from "../helpers.ts";

const csv = "name,categoryId,status\r\nZoé,1,available\r\nJürgen,2,sold\r\n";
const expected = (await readWhole(csv)).outcomes;

function utf16(text: string, order: "le" | "be", mark = true): Uint8Array {
  const bytes = Buffer.from((mark ? "\ufeff" : "") + text, "utf16le");
  return order === "le" ? bytes : bytes.swap16();
}

describe("an input in another encoding", () => {
  test.each(["le", "be"] as const)("UTF-16%s with its mark is read as it is", async (order) => {
    for (const size of [1, 3, 1000]) {
      expect((await readWhole(utf16(csv, order), undefined, size)).outcomes).toEqual(expected);
    }
  });

  test("windows-1252 is read when it is named, and named when it is not", async () => {
    const bytes = Buffer.from(csv, "latin1");
    const { outcomes } = await readWhole(bytes, undefined, 5, { encoding: "windows-1252" });
    expect(outcomes).toEqual(expected);
    expect(await refusal(readWhole(bytes))).toBe(
      "line 2: expected UTF-8 text, found bytes that are not (if it was saved on Windows: --encoding windows-1252)",
    );
  });

  test("a mark says more than the encoding that is named", async () => {
    const named = { encoding: "windows-1252" };
    for (const bytes of [utf16(csv, "be"), Buffer.from(`\ufeff${csv}`)]) {
      expect((await readWhole(bytes, undefined, 2, named)).outcomes).toEqual(expected);
    }
  });

  test("UTF-16 without a mark is told how to be read", async () => {
    for (const order of ["le", "be"] as const) {
      const bytes = utf16(csv, order, false);
      const problem = `the input looks like UTF-16 without a byte order mark: add --encoding utf-16${order}`;
      expect(await refusal(readWhole(bytes))).toBe(problem);
      const told = { encoding: `utf-16${order}` };
      expect((await readWhole(bytes, undefined, 100, told)).outcomes).toEqual(expected);
    }
  });

  test("a NUL in other text makes no UTF-16 of it, but its record bad", async () => {
    const { outcomes } = await readWhole(csv.replace("Z", "\0"), undefined, 100);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["reject", "pet"]);
  });

  test("text that is not in the encoding is refused with a line", async () => {
    const bytes = Buffer.concat([Buffer.from("a\nb\n"), Buffer.from([0xff, 0xff, 0xff])]);
    const encoding = "shift_jis";
    const work = readWhole(bytes, undefined, 2, { encoding });
    expect(await refusal(work)).toStartWith("line 3: expected shift_jis text");
    const half = Buffer.concat([Buffer.from("name,categoryId\na,1\n"), Buffer.from([0x83])]);
    expect(await refusal(readWhole(half, undefined, 2, { encoding }))).toStartWith("line 3: ");
    const pdf = readWhole("%PDF-1.7\n", undefined, 7, { encoding });
    expect(await refusal(pdf)).toContain("a PDF document");
  });

  test("its name is one that TextDecoder knows", () => {
    expect(["windows-1252", "macintosh", "utf-7"].map(isEncoding)).toEqual([true, true, false]);
  });
});

describe("a compressed input", () => {
  test("is unpacked, of several members too, whatever is in it", async () => {
    const halves = [csv.slice(0, 30), csv.slice(30)].map((text) => gzipSync(text));
    expect((await readWhole(Buffer.concat(halves), undefined, 3)).outcomes).toEqual(expected);
    expect((await readWhole(gzipSync(utf16(csv, "le")))).outcomes).toEqual(expected);
  });

  test("that is cut off or damaged is refused", async () => {
    const whole = gzipSync(csv);
    expect(await refusal(readWhole(whole.subarray(0, -9)))).toBe("the compressed input is cut off");
    const damaged = Buffer.from(whole);
    damaged[whole.length - 6]! ^= 0xff;
    expect(await refusal(readWhole(damaged))).toStartWith("the compressed input is damaged (");
  });

  test("whose source fails is not said to be damaged", async () => {
    async function* failing() {
      yield gzipSync(csv.repeat(200), { level: 0 }).subarray(0, 6_000);
      throw new Error("the stick was pulled out");
    }
    const { beginReading } = await import("../../../../src/features/import/reading.ts");
    const error = await beginReading(failing()).catch((failure: Error) => failure);
    expect(error).toMatchObject({ message: "the stick was pulled out" });
  });

  test("lets its source go when reading stops early", async () => {
    const watch = { closed: false };
    async function* source() {
      try {
        yield* inPieces(gzipSync('{"name":"a","categoryId":1}\n'.repeat(100_000)), 500);
      } finally {
        watch.closed = true;
      }
    }
    const { beginReading } = await import("../../../../src/features/import/reading.ts");
    const reading = await beginReading(source());
    await reading.batches.next();
    await reading.close();
    await until(() => watch.closed);
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
  const workbook = () =>
    writeXlsx({
      sheets: [
        { name: "Animals", rows },
        {
          name: "Old",
          rows: [
            ["name", "categoryId"],
            ["Bo", 3],
          ],
        },
      ],
    });

  test("gives the rows of its first sheet, with the number of each", async () => {
    const { shape, outcomes, notes } = await readWhole(await workbook(), undefined, 100);
    expect(shape).toBe("xlsx");
    const said = message("sheetsUnread", '"Old"');
    expect(notes).toEqual([{ said, records: 1, firstLine: 0, example: "" }]);
    expect(outcomes.map(brief)).toEqual([
      "4 Zoé / id,1 / available",
      "6 Jürgen, the\ncat / id,2 / sold",
    ]);
  });

  test("gives the first sheet that people see", async () => {
    const old = {
      name: "Old",
      rows: [
        ["name", "categoryId"],
        ["Bo", 3],
      ],
    };
    for (const state of [{ hidden: true }, { veryHidden: true }]) {
      const bytes = await writeXlsx({
        sheets: [
          { ...old, ...state },
          { name: "Animals", rows },
        ],
      });
      const { outcomes, notes } = await readWhole(bytes, undefined, 100);
      expect(outcomes.map(({ line }) => line)).toEqual([4, 6]);
      expect(notes).toEqual([]);
    }
  });

  test("gives those of the sheet that is named", async () => {
    const options = { sheet: "Old" };
    const { outcomes, notes } = await readWhole(await workbook(), undefined, 100, options);
    expect(notes).toEqual([]);
    expect(outcomes.map(brief)).toEqual(["2 Bo / id,3 / none"]);
    const named = ["Animals", "Empty"].map((name) => ({
      name,
      rows: name === "Empty" ? [] : rows,
    }));
    const empty = readWhole(await writeXlsx({ sheets: named }), undefined, 100, { sheet: "Empty" });
    expect(await refusal(empty)).toStartWith("the sheet is empty");
    const work = readWhole(await workbook(), undefined, 100, { sheet: "New" });
    expect(await refusal(work)).toBe('there is no sheet "New"; there are "Animals", "Old"');
  });

  test("with data descriptors is read, as programs write it that stream", async () => {
    const { outcomes } = await readWhole(await fixture("streamed.xlsx"), undefined, 64);
    expect(outcomes.map(brief)).toEqual([
      "3 Biscuit / name,Dog / available [petpoint:A50000001]",
      "4 Unnamed / name,Cat / pending [petpoint:A50000002]",
      '5 gone: Stage "Bite Quarantine" [petpoint:A50000003]',
    ]);
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
    expect(await refusal(readWhole(await withFormula(null), undefined, 100))).toBe(
      "line 4: the formula in C4 has no value: open the workbook in a spreadsheet program and save it",
    );
    expect(await refusal(readWhole(await withFormula(null, 600)))).toStartWith("line 601: ");
    const { outcomes } = await readWhole(await withFormula("sold"), undefined, 100);
    expect(outcomes[0]).toMatchObject({ name: "Zoé", status: "sold" });
  });

  test("gives truths as words", async () => {
    const animal = ["Rex", 1, true];
    const sheets = [{ name: "Animals", rows: [["name", "categoryId", "status"], animal] }];
    const { outcomes } = await readWhole(await writeXlsx({ sheets }), undefined, 100);
    expect(outcomes.map(brief)).toEqual(['2 rejected: status: unknown status "true"']);
  });

  test("that is cut off, or another archive, is refused", async () => {
    const whole = await workbook();
    const cut = readWhole(whole.slice(0, whole.length - 200));
    expect(await refusal(cut)).toStartWith("the workbook cannot be read (");
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
    ['<?xml version="1.0"?><animals/>', "the input is XML"],
    [
      "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n",
      "a Git LFS pointer, not the file itself",
    ],
    ["%PDF-1.7\n", "a PDF document"],
    [
      '{"error":{"code":403,"message":"API key is missing"}}',
      'of a service, not a list: "API key is missing"',
    ],
    ['{"code":"unauthorized","message":"no key","status":401}', 'not a list: "no key"'],
    ['{"errors":[{"title":"Forbidden"}]}', 'not a list: "Forbidden"'],
    ['{"statusCode":401,"message":"Unauthorized"}', 'not a list: "Unauthorized"'],
    ['{"title":"Too many requests","status":429}', 'not a list: "Too many requests"'],
    ["[1,2]", "the records are no JSON objects"],
    ["Pet,Kind\n", "--map categoryId=Kind,name=COLUMN"],
    ['{"Pet":"Rex","Kind":"Dog","photos":[{"url":"x"}]}', "--map name=Pet,categoryId=Kind"],
    ['{"Pet":"Rex","Kind":"Dog","of":{"tags":["x"]}}', "--map name=Pet,categoryId=Kind"],
    ['{"type":"about:blank","title":"Too many requests","status":429,"detail":"wait"}', '"wait"'],
  ])("%j is named for what it is", async (text, words) => {
    expect(await refusal(readWhole(text))).toContain(words);
  });

  test.each([
    ["--map", { format: mappedFormat(parseFieldMap("name=a,categoryId=b,status=c")) }],
    ["--map without a status", { format: mappedFormat(parseFieldMap("name=a,categoryId=b")) }],
    ...formats.map((format) => [`--format ${format.name}`, { format }] as const),
    ["--records", { records: ["animals"] }],
    ["--default-status", { statuses: new Statuses(new Map(), "available") }],
  ] as const)("a service's error is named with %s too", async (_, options: ReadOptions) => {
    for (const text of [
      '{"error":"Unauthorized","message":"no key"}',
      '{\n  "code": 401,\n  "message": "no key"\n}\n',
      '{"error":"Unauthorized","message":"no key","data":[]}',
    ]) {
      const said = 'the input is the error of a service, not a list: "no key"';
      expect(await refusal(readWhole(text, options.format, 7, options))).toContain(said);
    }
  });

  test("an animal that has a field of the same name is none", async () => {
    const format = mappedFormat(parseFieldMap("name=title,categoryId=kind,status=status"));
    const text = '{"title":"Rex","kind":"Dog","status":"available","message":"hi","error":null}';
    expect((await readWhole(text, format)).outcomes.map(brief)).toEqual([
      "1 Rex / name,Dog / available",
    ]);
    const unknown = '{"Pet":"Rex","Kind":"Dog","error":null,"errors":[]}';
    expect(await refusal(readWhole(unknown))).toContain("--map");
    const beside = '{"error":"3 are missing","animals":[{"name":"Rex","categoryId":1}]}';
    expect((await readWhole(beside)).outcomes.map(brief)).toEqual(["1 Rex / id,1 / none"]);
    const empty = '{"status":200,"message":"OK","error":false,"errors":[],"animals":[]}';
    expect((await readWhole(empty)).outcomes).toEqual([]);
  });

  test.each([
    [[0x28, 0xb5, 0x2f, 0xfd], "zstd"],
    [[0xfd, ...Buffer.from("7zXZ\0")], "compressed with xz"],
    [[...Buffer.from("BZh91AY")], "compressed with bzip2"],
    [[...Buffer.from("\0\0\0\x18ftypmif1\0\0\0\0")], "a picture"],
    [[...Buffer.from("\0\0\0\x18ftyphevc\0\0\0\0")], "a picture"],
    [[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1], "old Excel workbook"],
    [[0xff, 0xd8, 0xff, 0xe0, 0, 16], "a picture"],
    [[0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10], "a picture"],
    [[...Buffer.from("GIF89a")], "a picture"],
    [[...Buffer.from("\0\0\0\x18ftypheic\0\0\0\0")], "a picture"],
    [[...Buffer.from("RIFF\n\n\n\nWEBPVP8 ")], "a picture"],
  ])("%j too", async (bytes, words) => {
    expect(await refusal(readWhole(Uint8Array.from(bytes), undefined, 1))).toContain(words);
  });
});

describe("--records", () => {
  const options = { records: ["result", "list"] };

  test("leads to a list that has no usual name", async () => {
    const text =
      '{"total":1,"result":{"page":1,"list":[{"name":"a","categoryId":1},\n{"name":"b","categoryId":1}]}}';
    expect((await readWhole(text, undefined, 7, options)).outcomes.map(brief)).toEqual([
      "1 a / id,1 / none",
      "2 b / id,1 / none",
    ]);
  });

  test("is refused when it leads nowhere", async () => {
    for (const text of ['{"result":{"pets":[]}}', '{"result":{"list":{"pets":[]}}}']) {
      expect(await refusal(readWhole(text, undefined, 7, options))).toBe(
        "there is no list of records at --records result.list",
      );
    }
  });
});

describe("NDJSON that is cut off", () => {
  test("is refused at the record that is not whole", async () => {
    const whole = '{"name":"a","categoryId":1}\n{"name":"b","categoryId":1}';
    expect((await readWhole(whole)).outcomes).toHaveLength(2);
    expect(await refusal(readWhole(whole.slice(0, -5)))).toStartWith(
      "line 2: the input is cut off in the record that begins here",
    );
    const { outcomes } = await readWhole(whole.replace('"b"', "b"));
    expect(outcomes.map(({ kind }) => kind)).toEqual(["pet", "reject"]);
  });
});

test("NDJSON is told by its first object, whatever lists later ones have", async () => {
  const first = '{"name":"a","categoryId":1}';
  const { shape, outcomes } = await readWhole(
    `${first}\n{"name":"b","categoryId":2,"items":[1]}\n`,
  );
  expect([shape, outcomes.map(brief)]).toEqual([
    "ndjson",
    ["1 a / id,1 / none", "2 b / id,2 / none"],
  ]);
});
