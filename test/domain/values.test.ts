/** The small rules: what each takes, refuses and writes. */
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { httpDate, isoEnd, isoSeconds } from "../../src/domain/clock.ts";
import { idempotencyKeyOf } from "../../src/domain/idempotency.ts";
import { int64Max } from "../../src/domain/int64.ts";
import {
  nextPageQuery,
  parsePageLimit,
  isPetName,
  isPetStatus,
  petJson,
  petsJson,
  petStatuses,
} from "../../src/domain/pet.ts";
import { limitsOf, planNames, publishedLimits } from "../../src/domain/plan.ts";
import { fold } from "../../src/features/visible.ts";
import { checked } from "./checked.ts";

test("a status is one of the specification's three and no other value", () => {
  expect(petStatuses).toEqual(["available", "pending", "sold"]);
  const others = ["", "Sold", "sold ", "adopted", "0", "toString", undefined, null, 0, ["sold"]];
  expect([...petStatuses, ...others].filter(isPetStatus)).toEqual([...petStatuses]);
});

test("a name is exactly what UTF-8 carries unchanged, without NUL, of at most 1,000 characters", () => {
  const unit = fc.oneof(
    fc.nat(0xffff),
    fc.integer({ min: 0xd800, max: 0xdfff }),
    fc.nat(2),
    fc.constantFrom(0x41, 0xd83d, 0xdc08, 0xfeff),
  );
  const seen = new Set<boolean>();
  checked(fc.array(unit, { maxLength: 6 }), (units) => {
    const name = String.fromCharCode(...units);
    const bytes = new TextEncoder().encode(name);
    const kept = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    const expected = kept === name && !units.includes(0);
    seen.add(expected);
    expect(isPetName(name)).toBe(expected);
  });
  expect(seen.size).toBe(2);
  for (const letter of ["x", "🐈"]) {
    expect([1_000, 1_001].map((count) => isPetName(letter.repeat(count)))).toEqual([true, false]);
  }
});

test("an animal is written with every digit, and no status where there is none", () => {
  checked(fc.bigInt({ min: -int64Max, max: int64Max }), (id) => {
    const animal = { id, name: 'a "b"\n', categoryId: -id };
    const text = `{"id":${id},"name":"a \\"b\\"\\n","categoryId":${-id}}`;
    expect([petJson(animal), petsJson([animal])]).toEqual([text, `[${text}]`]);
  });
  expect(petJson({ id: 2n ** 53n, name: "", categoryId: 2n, status: "sold" })).toBe(
    '{"id":9007199254740992,"name":"","categoryId":2,"status":"sold"}',
  );
});

test("a page has from 1 to 100 animals, in plain decimals", () => {
  for (let number = -10; number < 200; number += 1) {
    const expected = number >= 1 && number <= 100 ? number : undefined;
    expect(parsePageLimit(`${number}`)).toBe(expected);
  }
  for (const text of ["", "-0", "+1", "01", "1.0", "1e1", "0x10", " 1", "1\n", "１"]) {
    expect(parsePageLimit(text)).toBeUndefined();
  }
});

test("the next page keeps the limit and the status and goes on behind the last id", () => {
  expect(nextPageQuery({ limit: 1, status: "sold", after: 3n }, 4n)).toBe(
    "limit=1&status=sold&after=4",
  );
  expect(nextPageQuery({ limit: 100 }, int64Max)).toBe("limit=100&after=9223372036854775807");
});

test("the plans have the specification's limits, and enterprise the numbers agreed on", () => {
  const custom = { perMinute: 7, perDay: 70 };
  expect(publishedLimits).toEqual({
    free: { perMinute: 60, perDay: 1_000 },
    pro: { perMinute: 300, perDay: 10_000 },
    business: { perMinute: 1_000, perDay: 100_000 },
  });
  expect(planNames).toEqual(["free", "pro", "business", "enterprise"]);
  const limits = planNames.map((plan) => [limitsOf(plan, undefined), limitsOf(plan, custom)]);
  const published = Object.values(publishedLimits).map((each) => [each, undefined]);
  expect(limits).toEqual([...published, [undefined, custom]]);
});

test.each([
  ["a", "a"],
  ['"a"', "a"],
  ['"', '"'],
  ['"a', '"a'],
  ['""a""', '"a"'],
  ["!~", "!~"],
  ["x".repeat(255), "x".repeat(255)],
  [`"${"x".repeat(255)}"`, "x".repeat(255)],
  ...["", '""', "a b", "é", "a\t", "\u007f", "x".repeat(256)].map((text) => [text, undefined]),
])("the Idempotency-Key %.9j is %.9j", (header = "", value) =>
  expect(idempotencyKeyOf(header)).toBe(value),
);

test.each([
  [0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"],
  [-1, "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z"],
  [999, "1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z"],
  [951_782_400_000, "2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z"],
])("%d ms is %s, cut to the second; what ends then is over at %s", (ms, text, end) =>
  expect([isoSeconds(ms), isoEnd(ms)]).toEqual([text, end]),
);

test("the date of a header field has two digits of the day and GMT", () => {
  expect(httpDate(0)).toBe("Thu, 01 Jan 1970 00:00:00 GMT");
});

const folds = `Ñandú=nandu|ＲＥＸ=rex|Ørsted=orsted|Ǿ ǽ=o ae|STRAẞE=strasse|Łukasz=lukasz
|Guðrún Þóra=gudrun thora|İpek=ipek|ΟΔΟΣ=οδοσ|日本=日本`.split(/\n?\|/);

test.each(folds)("a search takes %s, folded again and joined to others too", (each) => {
  const [text = "", folded = ""] = each.split("=");
  expect(fold(text)).toBe(folded);
  expect(fold(`${folded}\0${text}\0${text}`)).toBe([folded, folded, folded].join("\0"));
});
