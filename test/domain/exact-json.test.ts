import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { isDeeperThan, isJsonObject, jsonText, parseJson } from "../../src/domain/exact-json.ts";
import * as int64s from "../../src/domain/int64.ts";
import { checked } from "./checked.ts";

const { int64Max, int64Min, int64OfJsonNumber, isInt64, parseInt64 } = int64s;

/** `value` if it lies within 64 bits. */
function inRange(value: bigint): bigint | undefined {
  return value >= -(1n << 63n) && value < 1n << 63n ? value : undefined;
}

/** The int64 of these parts, by rational arithmetic. */
function exactValue(whole: string, fraction: string, exponent: number) {
  const power = exponent - fraction.length;
  const scale = 10n ** BigInt(Math.abs(power));
  const unscaled = BigInt(whole + fraction);
  if (power >= 0) return inRange(unscaled * scale);
  return unscaled % scale === 0n ? inRange(unscaled / scale) : undefined;
}

const digits = fc.oneof(
  fc.constant(""),
  fc.stringMatching(/^\d{1,22}$/),
  fc.stringMatching(/^0+$/),
);

/** JSON numbers of all forms, of which about one in ten is an int64, and which one it is. */
const jsonNumbers = fc
  .tuple(
    fc.stringMatching(/^-?(0|[1-9]\d{0,21})$/),
    digits,
    fc.option(fc.integer({ min: -40, max: 40 }), { nil: undefined }),
  )
  .map(([whole, fraction, exponent]) => ({
    source: whole + (fraction && `.${fraction}`) + (exponent === undefined ? "" : `e${exponent}`),
    int64: exactValue(whole, fraction, exponent ?? 0),
  }));

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

const near = fc.oneof(
  fc.bigInt({ min: int64Min - 1_000n, max: int64Max + 1_000n }),
  fc.constantFrom(int64Min, int64Min - 1n, int64Max, int64Max + 1n, 2n ** 53n + 1n, 2n ** 64n, 0n),
);

test("every int64 is read as it is written in any form, and no neighbour outside", () => {
  checked(fc.tuple(near, fc.nat(30), fc.nat(18)), ([value, zeros, shift]) => {
    const [, sign = "", digits = ""] = /^(-?)(.*)$/.exec(`${value}`) ?? [];
    const point = Math.max(1, digits.length - shift);
    const scientific = `${sign}${digits.slice(0, point)}.${digits.slice(point)}0e${digits.length - point}`;
    const int64 = inRange(value);
    expect([isInt64(value), parseInt64(`${value}`)]).toEqual([int64 !== undefined, int64]);
    for (const text of [
      `${value}`,
      `${value}.${"0".repeat(zeros + 1)}`,
      `${value}${"0".repeat(zeros)}e-${zeros}`,
      scientific,
    ]) {
      expect([text, int64OfJsonNumber(text)]).toEqual([text, int64]);
    }
  });
});

test("a JSON number is worth what exact rational arithmetic says", () => {
  let integers = 0;
  checked(jsonNumbers, ({ source, int64 }) => {
    if (int64 !== undefined && int64 !== 0n) integers += 1;
    expect([source, int64OfJsonNumber(source)]).toEqual([source, int64]);
  });
  expect(integers).toBeGreaterThan(100);
});

test.each([
  ["-0", 0n],
  ["1E+3", 1000n],
  ["-0.000e-999999999", 0n],
  ["1e999999999", undefined],
  ["1e99999999999999999999999", undefined],
  ["1.00000000000000000001", undefined],
  ...["", "-", "+1", ".5", "1.", "1e", "1e1.0", "NaN", " 1"].map(
    (text) => [text, undefined] as const,
  ),
])("the JSON number %j is the int64 %p", (text, value) =>
  expect(int64OfJsonNumber(text)).toBe(value),
);

test.each(["", "-", "+1", "01", "1.0", "1e3", " 1", "1\n", "0x7", "１", "9".repeat(60_000)])(
  "%.20j is no int64 in plain decimals",
  (text) => expect(parseInt64(text)).toBeUndefined(),
);

// A body may be 64 KiB of one number. With a backtracking pattern this one took 2.4 s, and nobody
// else was served.
test("a number as long as a body is answered at once", () => {
  const zeros = "0".repeat(65_000);
  const before = process.cpuUsage();
  const values = [`1${zeros}1`, `0.${zeros}1`, `1.${zeros}`, `1${zeros}e-65000`];
  expect(values.map(int64OfJsonNumber)).toEqual([undefined, undefined, 1n, 1n]);
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
});
