import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { isDeeperThan, isJsonObject, jsonText, parseJson } from "../../src/domain/exact-json.ts";
import { checked } from "./checked.ts";
import { jsonNumbers } from "./json-number.ts";

const rawJson = (source: string) => ({ raw: source });
type Expected = number | bigint | ReturnType<typeof rawJson>;

/**
 * The same value in plain objects: a raw number shows as `{ raw: source }`, and JSON's two zeros
 * are one.
 */
function plain(value: unknown): unknown {
  if (value === 0) return 0;
  if (JSON.isRawJSON(value)) return rawJson((value as { rawJSON: string }).rawJSON);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return new Map(Object.entries(value).map(([name, field]) => [name, plain(field)]));
}

const numbers: [source: string, expected: Expected][] = [
  ["-1.0", -1],
  ["1E+3", 1000],
  ["0e999999999", 0],
  ["9007199254740991", 9007199254740991],
  ["9007199254740992", 9007199254740992n],
  ["9223372036854775807.000", 9223372036854775807n],
  // No int64, and a double would be: nothing may take them for one.
  ["9223372036854775808", rawJson("9223372036854775808")],
  ["1e400", rawJson("1e400")],
  ["0.99999999999999999", rawJson("0.99999999999999999")],
  // Fractions, the nearest to whole numbers that are written in fifteen characters among them.
  ["1.5e-1", 0.15],
  ["0.9999999999999", 0.9999999999999],
  ["12345678901234.5", 12345678901234.5],
];

describe("parseJson", () => {
  test.each(numbers)("%s, wherever it stands", (source, expected) => {
    expect(plain(parseJson(source))).toEqual(expected);
    expect(plain(parseJson(` [\n${source} ] `))).toEqual([expected]);
    expect(plain(parseJson(`{"a":"x" , "b":\t${source}}`))).toEqual(
      new Map<string, unknown>([
        ["a", "x"],
        ["b", expected],
      ]),
    );
    expect(plain(parseJson(`[[1,[2],1e0],\r\n${source},"1e400"]`))).toEqual([
      [1, [2], 1],
      expected,
      "1e400",
    ]);
  });

  test("the last of two fields of one name holds, and every name is a field like any other", () => {
    const text = '{"1":9007199254740993,"0":1,"a":1.5,"a":1e18,"__proto__":1e400,"length":1e0}';
    expect(plain(parseJson(text))).toEqual(
      new Map<string, unknown>([
        ["0", 1],
        ["1", 9007199254740993n],
        ["a", 10n ** 18n],
        ["__proto__", rawJson("1e400")],
        ["length", 1],
      ]),
    );
  });

  test.each(["", "01", "1.", "+1", "NaN", "1e", "[1e400", '{"a":1e9,}'])("refuses %j", (text) =>
    expect(() => parseJson(text)).toThrow(SyntaxError),
  );

  test("is refused with a RangeError when it is nested too deeply to be walked", () => {
    const text = `${"[".repeat(100_000)}1e400${"]".repeat(100_000)}`;
    expect(() => parseJson(text)).toThrow(RangeError);
  });

  interface Written {
    readonly text: string;
    readonly expected: unknown;
  }
  const blank = fc.constantFrom("", " ", "\n", "\t ", "\r\n");
  // What looks like an inexact number within a text is none.
  const string = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(":1e400", ",1234567890123456", "[0.99999999999999999", "1e5", '"'),
  );
  const json = fc.letrec<{ value: Written; list: Written; object: Written; scalar: Written }>(
    (tie) => ({
      value: fc.oneof({ depthSize: "small" }, tie("scalar"), tie("list"), tie("object")),
      scalar: fc.oneof(
        jsonNumbers.map(({ source, int64 }) => ({
          text: source,
          expected: decided(source, int64),
        })),
        fc.integer().map((value) => ({ text: `${value}`, expected: value })),
        string.map((value) => ({ text: JSON.stringify(value), expected: value })),
        fc.constantFrom(true, false, null).map((value) => ({ text: `${value}`, expected: value })),
      ),
      list: fc.tuple(fc.array(tie("value")), blank).map(([items, gap]) => ({
        text: `[${gap}${items.map(({ text }) => text).join(`${gap},${gap}`)}${gap}]`,
        expected: items.map(({ expected }) => expected),
      })),
      object: fc.tuple(fc.array(fc.tuple(string, tie("value"))), blank).map(([fields, gap]) => ({
        text: `{${fields.map(([name, { text }]) => `${gap}${JSON.stringify(name)}${gap}:${gap}${text}`).join(",")}}`,
        expected: new Map(fields.map(([name, { expected }]) => [name, expected])),
      })),
    }),
  );

  const decisions = { number: 0, bigint: 0, object: 0 };
  /** What a number has to come as, by its exact value. */
  function decided(source: string, int64: bigint | undefined): Expected {
    const expected = exactly(source, int64);
    decisions[typeof expected as keyof typeof decisions] += 1;
    return expected;
  }

  function exactly(source: string, int64: bigint | undefined): Expected {
    if (int64 !== undefined) return int64 ** 2n < 2n ** 106n ? Number(int64) : int64;
    const nearest = Number(source);
    return nearest % 1 === 0 || Math.abs(nearest) === Infinity ? rawJson(source) : nearest;
  }

  test("any JSON comes as exact arithmetic has it, and is written back the same", () => {
    const runs = 500;
    checked(
      json.value,
      ({ text, expected }) => {
        const value = parseJson(text);
        expect(plain(value)).toEqual(expected);
        expect(plain(parseJson(jsonText(value)))).toEqual(expected);
      },
      runs,
    );
    for (const count of Object.values(decisions)) expect(count).toBeGreaterThan(100);
  });

  test("a number that is no int64 is written back as it was", () => {
    const text = '{"a":[1e400,0.99999999999999999],"b":-9223372036854775809}';
    expect(jsonText(parseJson(text))).toBe(text);
  });
});

test("jsonText writes bigints as the numbers that they are", () => {
  expect(jsonText({ id: 9223372036854775807n, ids: [1n], name: "n" })).toBe(
    '{"id":9223372036854775807,"ids":[1],"name":"n"}',
  );
  expect(jsonText({ id: 1n }, 2)).toBe('{\n  "id": 1\n}');
});

test("isJsonObject tells objects from lists, null and numbers that only look like objects", () => {
  expect(["{}", '{"rawJSON":"1"}'].map((text) => isJsonObject(parseJson(text)))).toEqual([
    true,
    true,
  ]);
  for (const text of ["[]", "null", "1", "1e18", "1e400", '"a"', "true"]) {
    expect(isJsonObject(parseJson(text))).toBe(false);
  }
});

test("isDeeperThan counts lists and objects that stand in one another, not beside", () => {
  const depths = ["1", '"[[["', "[]", "[1,[],{}]", '[[],{"a":[1]}]', "1e400"];
  const levels = depths.map((text) =>
    [0, 1, 2, 3].find((level) => !isDeeperThan(level, parseJson(text))),
  );
  expect(levels).toEqual([0, 0, 1, 2, 3, 0]);
});
