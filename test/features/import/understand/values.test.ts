import { describe, expect, test } from "bun:test";
import { Notes } from "../../../../src/features/import/messages.ts";
import {
  categoryName,
  idInSource,
  shelterName,
  sourceId,
} from "../../../../src/features/import/understand/record.ts";
import { isPlaceholderId } from "../../../../src/features/import/understand/words.ts";

describe("shelterName", () => {
  test.each([
    [" Rex ", "Rex"],
    ["** Luna", "Luna"],
    ["*", ""],
    ["   ", ""],
    [null, ""],
    ["Name Not Known", ""],
    ["N/A", ""],
    ["Star*", "Star*"],
    ["Nana", "Nana"],
  ])("%j is %j", (given, name) => {
    expect(shelterName("name", given)).toBe(name);
  });

  test("a name that is no text is a fault", () => {
    expect(() => shelterName("name", true)).toThrow("expected a text, found true");
    expect(shelterName("name", 5)).toBe("5");
    expect(() => shelterName("name", "a\0b")).toThrow("well-formed Unicode");
    expect(() => shelterName("name", "é".repeat(1_001))).toThrow(
      "expected at most 1000 characters, found 1001",
    );
  });
});

describe("categoryName", () => {
  test("is without the blanks around it, and text that can be kept", () => {
    expect(categoryName("kind", " Guinea Pig ")).toEqual({ name: "Guinea Pig" });
    expect(() => categoryName("kind", " ")).toThrow("found nothing");
    expect(() => categoryName("kind", "a\0b")).toThrow("well-formed Unicode");
  });
});

describe("sourceId", () => {
  test("texts, numbers and exact large numbers become text", () => {
    expect(
      [" A1 ", 7, 9223372036854775807n, "", null].map((value) => sourceId("id", value)),
    ).toEqual(["A1", "7", "9223372036854775807", undefined, undefined]);
  });

  test("an id has at most 200 characters", () => {
    expect(sourceId("id", "x".repeat(200))).toHaveLength(200);
  });

  test("what cannot identify is a fault", () => {
    expect(() => sourceId("id", "a\0b")).toThrow("well-formed Unicode");
    expect(() => sourceId("id", 1e30)).toThrow("expected a text, found 1e+30");
    expect(() => sourceId("id", true)).toThrow("expected a text, found true");
    expect(() => sourceId("id", "x".repeat(201))).toThrow("at most 200 characters, found 201");
  });
});

describe("externalId", () => {
  const idOf = (value: string) => {
    const notes = new Notes();
    const context = { source: "clinic", notes, isWorkbook: false };
    return [idInSource(context, "Tag", value, 2), notes.list().length];
  };

  test.each(
    "N/A #N/A n/a NA #NAME? #NULL! #NUM! #REF! #VALUE! #DIV/0! null nil None NaN undefined Unknown TBD 0 000 - -- \u2013 ? ... \u00a0N/A".split(
      " ",
    ),
  )("%j stands where there is none", (value) => {
    expect(idOf(value)).toEqual([undefined, 0]);
    expect(isPlaceholderId(` ${value}`)).toBe(true);
  });

  test.each("9.8102E+14 9,81E+14 1e+5 01-Mar 1-sep Mar-01 dec-1".split(" "))(
    "%j is what a spreadsheet left of one",
    (value) => expect(idOf(value)).toEqual([undefined, 1]),
  );

  test.each("A0 0A 1-2 E+14 A9E+14 Marley-1 123-Mar May-2026 2026-03-01 nan1 no".split(" "))(
    "%j is one",
    (value) => expect(idOf(value)).toEqual([`clinic:${value}`, 0]),
  );
});
