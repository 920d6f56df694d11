import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { nextPageQuery, parsePageLimit } from "../../src/domain/page.ts";
import { int64Max } from "../../src/domain/int64.ts";
import { checked } from "./checked.ts";

describe("parsePageLimit", () => {
  test.each(["", "-0", "+1", "01", "1.0", "1e1", "0x10", " 1", "1\n", "１", "9".repeat(5_000)])(
    "refuses %.20j",
    (text) => expect(parsePageLimit(text)).toBeUndefined(),
  );

  test("takes a whole number exactly when it is within the bounds", () => {
    checked(fc.integer({ min: -200, max: 400 }), (number) => {
      const expected = number >= 1 && number <= 100 ? number : undefined;
      expect(parsePageLimit(`${number}`)).toBe(expected);
    });
  });
});

describe("nextPageQuery", () => {
  test("keeps the limit and the status and goes on behind the last id", () => {
    expect(nextPageQuery({ limit: 20 }, 20n)).toBe("limit=20&after=20");
    expect(nextPageQuery({ limit: 1, status: "sold", after: 3n }, 4n)).toBe(
      "limit=1&status=sold&after=4",
    );
    expect(nextPageQuery({ limit: 100 }, int64Max)).toBe("limit=100&after=9223372036854775807");
  });
});
