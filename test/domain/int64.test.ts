import { describe, expect, test } from "bun:test";
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

const edges: [text: string, value: bigint | undefined][] = [
  ["0", 0n],
  ["-0", 0n],
  ["1", 1n],
  ["-1", -1n],
  ["9007199254740993", 9007199254740993n],
  ["9223372036854775807", int64Max],
  ["9223372036854775808", undefined],
  ["-9223372036854775808", int64Min],
  ["-9223372036854775809", undefined],
  ["18446744073709551616", undefined],
];

test("the range is that of two's complement over 64 bits", () => {
  expect(int64Max).toBe(9223372036854775807n);
  expect(int64Min).toBe(-9223372036854775808n);
  for (const value of [int64Min, -1n, 0n, int64Max]) expect(isInt64(value)).toBe(true);
  for (const value of [int64Min - 1n, int64Max + 1n]) expect(isInt64(value)).toBe(false);
});

describe("parseInt64", () => {
  test.each(edges)("%s", (text, value) => expect(parseInt64(text)).toBe(value));

  test.each(["", "-", "+1", "01", "1.0", "1e3", " 1", "1\n", "0x7", "１", "9".repeat(60_000)])(
    "refuses %.20j",
    (text) => expect(parseInt64(text)).toBeUndefined(),
  );

  test("reads back every int64 and no neighbour outside", () => {
    checked(fc.bigInt({ min: int64Min - 1000n, max: int64Max + 1000n }), (value) => {
      expect(parseInt64(`${value}`)).toBe(inRange(value));
    });
  });
});

describe("int64OfJsonNumber", () => {
  test.each(edges)("%s", (text, value) => expect(int64OfJsonNumber(text)).toBe(value));

  test.each<[string, bigint | undefined]>([
    ["1.0", 1n],
    ["1e3", 1000n],
    ["1E+3", 1000n],
    ["1.5", undefined],
    ["-0.000e-999999999", 0n],
    ["1e999999999", undefined],
    ["1e99999999999999999999999", undefined],
    ["1.00000000000000000001", undefined],
    ["9223372036854775807.0", int64Max],
    ["9.223372036854775808e18", undefined],
  ])("%s", (text, value) => expect(int64OfJsonNumber(text)).toBe(value));

  test.each(["", "-", "+1", ".5", "1.", "1e", "1e1.0", "NaN", " 1"])("refuses %j", (text) =>
    expect(int64OfJsonNumber(text)).toBeUndefined(),
  );

  test("agrees with exact rational arithmetic", () => {
    let integers = 0;
    checked(jsonNumbers, ({ source, int64 }) => {
      if (int64 !== undefined && int64 !== 0n) integers += 1;
      expect([source, int64OfJsonNumber(source)]).toEqual([source, int64]);
    });
    expect(integers).toBeGreaterThan(100);
  });

  test("writes an int64 in any form and reads the same", () => {
    const value = fc.oneof(
      fc.bigInt({ min: int64Min, max: int64Max }),
      fc.constantFrom(int64Min, int64Max),
    );
    checked(fc.tuple(value, fc.nat(30), fc.nat(18)), ([number, zeros, shift]) => {
      const sign = number < 0n ? "-" : "";
      const text = `${number < 0n ? -number : number}`;
      const point = Math.max(1, text.length - shift);
      const scientific = `${sign}${text.slice(0, point)}.${text.slice(point)}0e${text.length - point}`;
      expect(int64OfJsonNumber(`${number}.${"0".repeat(zeros + 1)}`)).toBe(number);
      expect(int64OfJsonNumber(`${number}${"0".repeat(zeros)}e-${zeros}`)).toBe(number);
      expect(int64OfJsonNumber(scientific)).toBe(number);
    });
  });

  // A body may be 64 KiB of one number. With a backtracking pattern this one took 2.4 s, and nobody
  // else was served.
  test("answers at once for a number as long as a body", () => {
    const before = process.cpuUsage();
    expect(int64OfJsonNumber(`1${"0".repeat(65_000)}1`)).toBeUndefined();
    expect(int64OfJsonNumber(`0.${"0".repeat(65_000)}1`)).toBeUndefined();
    expect(int64OfJsonNumber(`1.${"0".repeat(65_000)}`)).toBe(1n);
    expect(int64OfJsonNumber(`1${"0".repeat(60_000)}e-60000`)).toBe(1n);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
  });
});
