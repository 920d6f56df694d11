import { describe, expect, test } from "bun:test";
import { Dates } from "../../../../src/annexes/import/formats/dates.ts";
import { sourceId } from "../../../../src/annexes/import/formats/ids.ts";
import { shelterName } from "../../../../src/annexes/import/formats/values.ts";

describe("shelterName", () => {
  test.each([
    [" Rex ", "Rex"],
    ["*Luna", "Luna"],
    ["** Luna", "Luna"],
    ["*", "Unnamed"],
    ["", "Unnamed"],
    ["   ", "Unnamed"],
    [null, "Unnamed"],
    [undefined, "Unnamed"],
    ["Name Not Known", "Unnamed"],
    ["N/A", "Unnamed"],
    ["Star*", "Star*"],
    ["A023613", "A023613"],
    ["Nana", "Nana"],
  ])("%j is %j", (given, name) => {
    expect(shelterName("name", given)).toBe(name);
  });

  test("a name that is no text is a fault", () => {
    expect(() => shelterName("name", 5)).toThrow("expected a text, found 5");
    expect(() => shelterName("name", "a\0b")).toThrow("well-formed Unicode");
  });
});

describe("Dates", () => {
  test.each([
    ["2026-05-01T10:02:03+0000", 20260501100203],
    ["2026-05-01", 20260501000000],
    ["5/1/2026", 20260501000000],
    ["05/01/2026 12:00:00 AM", 20260501000000],
    ["05/01/2026 12:30:00 PM", 20260501123000],
    ["05/01/2026 11:59:59 pm", 20260501235959],
    ["05/01/2026 23:15", 20260501231500],
    ["May 2026", undefined],
    [null, undefined],
    [Date.UTC(9999, 11, 31, 23, 59, 59), 99991231235959],
    [Date.UTC(10_000, 0), undefined],
    [1e21, undefined],
    [Number.MAX_SAFE_INTEGER, undefined],
  ])("%j is %j", (given, version) => {
    expect(new Dates().sortable(given)).toBe(version as number);
  });
});

describe("sourceId", () => {
  test("texts, numbers and exact large numbers become text", () => {
    expect(
      [" A1 ", 7, 9223372036854775807n, "", null].map((value) => sourceId("id", value)),
    ).toEqual(["A1", "7", "9223372036854775807", undefined, undefined]);
  });

  test("what cannot identify is a fault", () => {
    expect(() => sourceId("id", 1e30)).toThrow("expected an id, found 1e+30");
    expect(() => sourceId("id", true)).toThrow("expected an id, found true");
    expect(() => sourceId("id", "x".repeat(201))).toThrow("at most 200 characters, found 201");
  });
});
