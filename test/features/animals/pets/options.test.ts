import { describe, expect, test } from "bun:test";
import { InvalidArgumentError } from "commander";
import { nameOption, parseStatusWord } from "../../../../src/features/animals/pets/options.ts";

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

test("a name that is typed is one that can be kept", () => {
  const parse = nameOption("its name").parseArg;
  expect(parse?.("é".repeat(1_000), undefined)).toHaveLength(1_000);
  for (const name of ["é".repeat(1_001), "a\0b", "\ud800"]) {
    expect(() => parse?.(name, undefined)).toThrow(InvalidArgumentError);
  }
});
