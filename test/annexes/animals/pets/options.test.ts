import { describe, expect, test } from "bun:test";
import { InvalidArgumentError } from "commander";
import { parseStatusWord } from "../../../../src/annexes/animals/pets/options.ts";

describe("a status that is typed", () => {
  test.each([
    ["available", "available"],
    [" Sold ", "sold"],
    ["On Hold", "pending"],
    ["adopted", "sold"],
    ["NONE", "none"],
  ] as const)("%j is %s", (typed, status) => expect(parseStatusWord(typed)).toBe(status));

  test.each(["", "free", "constructor", "__proto__"])("%j is no status", (typed) =>
    expect(() => parseStatusWord(typed)).toThrow(InvalidArgumentError),
  );
});
