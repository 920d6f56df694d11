import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { editDistance, nearest } from "../../src/domain/names.ts";
import { checked } from "./checked.ts";

test.each([
  ["", "", 0],
  ["", "abc", 3],
  ["abc", "abc", 0],
  ["port", "prot", 1],
  ["port", "part", 1],
  ["port", "ports", 1],
  ["port", "ort", 1],
  ["ca", "abc", 3],
])("from %j to %j it is %d", (a, b, distance) => expect(editDistance(a, b)).toBe(distance));

test("is the same both ways, and nothing only for the same", () => {
  const words = fc.string({ maxLength: 8 });
  checked(fc.tuple(words, words), ([a, b]) => {
    const distance = editDistance(a, b);
    expect(editDistance(b, a)).toBe(distance);
    expect(distance === 0).toBe(a === b);
    expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
  });
});

describe("the nearest name", () => {
  const names = ["PORT", "HOST", "DATA", "BASE_URL", "STAGING_BASE_URL"];
  test.each([
    ["PROT", "PORT"],
    ["port", "PORT"],
    ["HOTS", "HOST"],
    ["HOXY", undefined],
    ["DATABASE", "DATA"],
    ["BASE", "BASE_URL"],
    ["STAGING_URL", "STAGING_BASE_URL"],
    ["ANYTHING", undefined],
    ["", undefined],
  ])("%j is %s", (name, expected) => expect(nearest(name, names)).toBe(expected));
});
