/** Numbers in JSON are what was written, in and out; a double is not asked for them where it might be wrong. */
import { describe, expect, test } from "bun:test";
import { parseJson, petJson } from "../../src/http/json.ts";

describe("a number comes as", () => {
  test.each<[string, number | bigint]>([
    ["0", 0],
    ["-1", -1],
    ["1.0", 1],
    ["1e3", 1_000],
    ["1E3", 1_000],
    ["9007199254740991", 9_007_199_254_740_991],
    ["9007199254740992", 9_007_199_254_740_992n],
    ["9007199254740993", 9_007_199_254_740_993n],
    ["-9007199254740993", -9_007_199_254_740_993n],
    ["9223372036854775807", 9_223_372_036_854_775_807n],
    ["9223372036854775807.000", 9_223_372_036_854_775_807n],
    ["1e18", 1_000_000_000_000_000_000n],
    ["1E18", 1_000_000_000_000_000_000n],
    ["9.007199254740993e15", 9_007_199_254_740_993n],
    ["0.5", 0.5],
    ["123456789012.25", 123_456_789_012.25],
  ])("%s exactly", (text, value) => {
    expect(parseJson(text)).toBe(value);
    expect(parseJson(`{"a":[${text},"${text}"]}`)).toEqual({ a: [value, text] });
  });

  // All of these a double would round to an integer, or to one of 64 bits.
  test.each([
    "1e-400",
    "1E-400",
    "1.00000000000000001",
    "900719925474099.99999",
    "0.9999999999999999999",
    "1e19",
    "1e400",
    "-1e400",
    "9223372036854775808",
    "-9223372036854775809",
  ])("NaN where it is no integer of 64 bits: %s", (text) => {
    expect(parseJson(text)).toBeNaN();
    expect(parseJson(`[${text}]`)).toEqual([Number.NaN]);
  });
});

test("an animal is written with every digit, and without a status where it has none", () => {
  const id = 9_223_372_036_854_775_807n;
  expect(petJson({ id, name: 'a "b"\n', categoryId: -id })).toBe(
    `{"id":${id},"name":"a \\"b\\"\\n","categoryId":-${id}}`,
  );
  expect(petJson({ id: 1n, name: "", categoryId: 2n, status: "sold" })).toBe(
    '{"id":1,"name":"","categoryId":2,"status":"sold"}',
  );
});

test("JSON.stringify writes a bigint with every digit, and does not throw", () => {
  expect(JSON.stringify({ id: 9_223_372_036_854_775_807n })).toBe('{"id":9223372036854775807}');
});
