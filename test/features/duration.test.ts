import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { durationText, parseDuration } from "../../src/features/duration.ts";
import { checked } from "../domain/checked.ts";

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const maxMs = 36_500 * unitsMs.d;

describe("parseDuration", () => {
  test.each([
    ["0", 0],
    ["0s", 0],
    ["10s", 10_000],
    ["30m", 1_800_000],
    ["24h", 86_400_000],
    ["90d", 7_776_000_000],
    ["36500d", maxMs],
  ])("%s", (text, ms) => expect(parseDuration(text)).toBe(ms));

  test.each([
    "",
    "1",
    "d",
    "-1d",
    "+1d",
    "1.5h",
    "1e3s",
    " 1d",
    "1d ",
    "1d\n",
    "1D",
    "1w",
    "1d12h",
  ])("refuses %j", (text) => expect(parseDuration(text)).toBeUndefined());

  test("is the number times its unit, up to a hundred years", () => {
    const unit = fc.constantFrom("s", "m", "h", "d");
    checked(fc.tuple(fc.nat(999_999_999), unit), ([count, name]) => {
      const ms = count * unitsMs[name];
      expect(parseDuration(`${count}${name}`)).toBe(ms <= maxMs ? ms : undefined);
    });
  });
});

test.each([
  [0, "0s"],
  [10_000, "10s"],
  [60_000, "1m"],
  [90_000, "90s"],
  [86_400_000, "1d"],
  [90_000_000, "25h"],
])("%d ms are %s", (ms, text) => expect(durationText(ms)).toBe(text));
