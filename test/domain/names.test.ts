import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { editDistance, nearest } from "../../src/domain/names.ts";
import { fold } from "../../src/features/visible.ts";
import { checked } from "./checked.ts";

test.each([
  ["", "", 0],
  ["", "abc", 3],
  ["port", "prot", 1],
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

describe("a text as a search compares it", () => {
  test.each([
    ["Ñandú", "nandu"],
    ["ＲＥＸ", "rex"],
    ["Ørsted", "orsted"],
    ["Ǿ ǽ", "o ae"],
    ["STRAẞE", "strasse"],
    ["Łukasz", "lukasz"],
    ["Guðrún Þóra", "gudrun thora"],
    ["İpek", "ipek"],
    ["ΟΔΟΣ", "οδοσ"],
    ["日本", "日本"],
  ])("of %s it is %s", (text, folded) => expect(fold(text)).toBe(folded));

  test("is the same folded again, and joined to others", () => {
    const letters = ["a", "I", "ß", "ø", "Ł", "þ", "ı", "İ", "ς", "Σ", "é", "\u0301", " ", "z"];
    const texts = fc.array(fc.string({ unit: fc.constantFrom(...letters) }));
    checked(texts, (all) => {
      const joined = fold(all.join("\0"));
      expect(joined).toBe(all.map(fold).join("\0"));
      expect(fold(joined)).toBe(joined);
    });
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
