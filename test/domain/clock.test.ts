import { expect, test } from "bun:test";
import { getPetRemovedAtMs } from "../../src/http/routes/operations.ts";
import { httpDate, isoEnd, isoSeconds } from "../../src/domain/clock.ts";

test.each([
  [0, "1970-01-01T00:00:00Z"],
  [-1, "1969-12-31T23:59:59Z"],
  [999, "1970-01-01T00:00:00Z"],
  [1_000, "1970-01-01T00:00:01Z"],
  [951_782_400_000, "2000-02-29T00:00:00Z"],
  [1_774_746_000_000, "2026-03-29T01:00:00Z"],
  [1_922_745_599_999, "2030-12-05T23:59:59Z"],
])("%d ms is %s, cut to the second, in UTC", (ms, text) => expect(isoSeconds(ms)).toBe(text));

test.each([
  [0, "1970-01-01T00:00:00Z"],
  [1, "1970-01-01T00:00:01Z"],
  [1_000, "1970-01-01T00:00:01Z"],
])("what ends at %d ms is over at %s", (ms, text) => expect(isoEnd(ms)).toBe(text));

test("the date of a header field has two digits of the day and GMT", () => {
  expect(httpDate(getPetRemovedAtMs)).toBe("Thu, 05 Dec 2030 00:00:00 GMT");
  expect(httpDate(0)).toBe("Thu, 01 Jan 1970 00:00:00 GMT");
});
