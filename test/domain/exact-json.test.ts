import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { isDeeperThan, isJsonObject, jsonText, parseJson } from "../../src/domain/exact-json.ts";
import { checked } from "./checked.ts";
import { jsonNumbers } from "./json-number.ts";

/**
 * The same value in plain objects: a raw number shows as `{ raw: source }`, an object as a Map, and
 * JSON's two zeros are one.
 */
function plain(value: unknown): unknown {
  if (value === 0) return 0;
  if (JSON.isRawJSON(value)) return { raw: (value as { rawJSON: string }).rawJSON };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return new Map(Object.entries(value).map(([name, field]) => [name, plain(field)]));
}

const decisions = { number: 0, bigint: 0, object: 0 };

/** What a number has to come as, by its exact value. */
function decided(source: string, int64: bigint | undefined): unknown {
  const nearest = Number(source);
  const isInexact = nearest % 1 === 0 || Math.abs(nearest) === Infinity;
  const isSafe = int64 !== undefined && int64 ** 2n < 2n ** 106n;
  const whole = isSafe ? Number(int64) : int64;
  const expected = whole ?? (isInexact ? { raw: source } : nearest);
  decisions[typeof expected as keyof typeof decisions] += 1;
  return expected;
}

interface Written {
  readonly text: string;
  readonly expected: unknown;
}

const blank = fc.constantFrom("", " ", "\n", "\t ", "\r\n");
// What looks like an inexact number within a text is none; every name is a field like any other.
const string = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    ":1e400",
    ",1234567890123456",
    "[0.99999999999999999",
    '"',
    "__proto__",
    "length",
  ),
);
const json = fc.letrec<{ value: Written; list: Written; object: Written; scalar: Written }>(
  (tie) => ({
    value: fc.oneof({ depthSize: "small" }, tie("scalar"), tie("list"), tie("object")),
    scalar: fc.oneof(
      jsonNumbers.map(({ source, int64 }) => ({ text: source, expected: decided(source, int64) })),
      fc.integer().map((value) => ({ text: `${value}`, expected: value })),
      string.map((value) => ({ text: JSON.stringify(value), expected: value })),
      fc.constantFrom(true, false, null).map((value) => ({ text: `${value}`, expected: value })),
    ),
    list: fc.tuple(fc.array(tie("value")), blank).map(([items, gap]) => ({
      text: `[${gap}${items.map(({ text }) => text).join(`${gap},${gap}`)}${gap}]`,
      expected: items.map(({ expected }) => expected),
    })),
    // The last of two fields of one name holds.
    object: fc.tuple(fc.array(fc.tuple(string, tie("value"))), blank).map(([fields, gap]) => ({
      text: `{${fields.map(([name, { text }]) => `${gap}${JSON.stringify(name)}${gap}:${gap}${text}`).join(",")}}`,
      expected: new Map(fields.map(([name, { expected }]) => [name, expected])),
    })),
  }),
);

test("any JSON comes as exact arithmetic has it, and is written back the same", () => {
  checked(
    json.value,
    ({ text, expected }) => {
      const value = parseJson(text);
      expect(plain(value)).toEqual(expected);
      expect(plain(parseJson(jsonText(value)))).toEqual(expected);
    },
    500,
  );
  for (const count of Object.values(decisions)) expect(count).toBeGreaterThan(100);
});

test.each<[string, unknown]>([
  ["-1.0", -1],
  ["1E+3", 1000],
  ["0e999999999", 0],
  ["9007199254740991", 9007199254740991],
  ["9007199254740992", 9007199254740992n],
  ["9223372036854775807.000", 9223372036854775807n],
  // No int64, and a double would be: nothing may take them for one.
  ["9223372036854775808", { raw: "9223372036854775808" }],
  ["1e400", { raw: "1e400" }],
  ["0.99999999999999999", { raw: "0.99999999999999999" }],
  // The nearest to whole numbers that are written in fifteen characters.
  ["0.9999999999999", 0.9999999999999],
  ["12345678901234.5", 12345678901234.5],
  [
    '{"1":9007199254740993,"0":1}',
    new Map<string, unknown>([
      ["0", 1],
      ["1", 9007199254740993n],
    ]),
  ],
])("%s", (source, expected) => {
  expect(plain(parseJson(source))).toEqual(expected);
  expect(plain(parseJson(`[[1,[2],1e0],\r\n${source} ,"1e400"]`))).toEqual([
    [1, [2], 1],
    expected,
    "1e400",
  ]);
});

test.each(["", "01", "1.", "+1", "NaN", "1e", "[1e400", '{"a":1e9,}'])("refuses %j", (text) =>
  expect(() => parseJson(text)).toThrow(SyntaxError),
);

test("is refused with a RangeError when it is nested too deeply to be walked", () => {
  const text = `${"[".repeat(100_000)}1e400${"]".repeat(100_000)}`;
  expect(() => parseJson(text)).toThrow(RangeError);
});

test("what is no int64 is written back as it was, and bigints as the numbers that they are", () => {
  const text = '{"a":[1e400,0.99999999999999999],"b":-9223372036854775809}';
  expect(jsonText(parseJson(text))).toBe(text);
  expect(jsonText({ ids: [9223372036854775807n, 1n] })).toBe('{"ids":[9223372036854775807,1]}');
  expect(jsonText({ id: 1n }, 2)).toBe('{\n  "id": 1\n}');
});

test.each([
  ["{}", true, 1],
  ['{"rawJSON":"1"}', true, 1],
  ["[]", false, 1],
  ["null", false, 0],
  ["1e18", false, 0],
  ["1e400", false, 0],
  ['"[[["', false, 0],
  ["true", false, 0],
  ["[1,[],{}]", false, 2],
  ['[[],{"a":[1]}]', false, 3],
])("%s is an object: %p, of %d levels", (text, isObject, levels) => {
  const value = parseJson(text);
  expect(isJsonObject(value)).toBe(isObject);
  expect([0, 1, 2, 3].find((level) => !isDeeperThan(level, value))).toBe(levels);
});
