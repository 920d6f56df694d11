import { expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  int64Max,
  int64Min,
  int64OfJsonNumber,
  isInt64,
  parseInt64,
} from "../../src/domain/int64.ts";
import { checked } from "./checked.ts";
import { inRange, jsonNumbers } from "./json-number.ts";

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
