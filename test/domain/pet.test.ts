import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { isPetName, isPetStatus, petJson, petsJson, petStatuses } from "../../src/domain/pet.ts";
import { checked } from "./checked.ts";

describe("isPetStatus", () => {
  test("takes the three statuses of the specification and no other value", () => {
    expect(petStatuses).toEqual(["available", "pending", "sold"]);
    for (const status of ["available", "pending", "sold"]) expect(isPetStatus(status)).toBe(true);
    const others = ["", "Sold", "SOLD", "sold ", "adopted", "0", "length", "toString"];
    for (const other of others) expect(isPetStatus(other)).toBe(false);
    for (const other of [undefined, null, 0, 1, true, ["sold"], {}]) {
      expect(isPetStatus(other)).toBe(false);
    }
  });
});

describe("isPetName", () => {
  test.each(["", "Zoe\u0308", "\uFEFF", "a\nb\t\u0001", "🐈".repeat(1_000)])(
    "takes %.20j",
    (name) => expect(isPetName(name)).toBe(true),
  );

  test.each(["\0", "Mia\0", "\uD83D", "\uDC08", "\uDC08\uD83D", "a\uD83Db", "🐈\uD83D"])(
    "refuses %j",
    (name) => expect(isPetName(name)).toBe(false),
  );

  test.each(["x".repeat(1_001), "🐈".repeat(1_001), "x".repeat(60_000)])(
    "refuses more than 1,000 characters",
    (name) => expect(isPetName(name)).toBe(false),
  );

  test("takes exactly what UTF-8 carries unchanged, without NUL", () => {
    const unit = fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.integer({ min: 0xd800, max: 0xdfff }),
      fc.integer({ min: 0, max: 2 }),
      fc.constantFrom(0x41, 0xd83d, 0xdc08),
    );
    const seen = new Set<boolean>();
    checked(fc.array(unit, { maxLength: 6 }), (units) => {
      const name = String.fromCharCode(...units);
      const kept = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
        new TextEncoder().encode(name),
      );
      const expected = kept === name && !units.includes(0);
      seen.add(expected);
      expect(isPetName(name)).toBe(expected);
    });
    expect(seen.size).toBe(2);
  });
});

describe("petJson", () => {
  test.each([2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 0n])(
    "writes %d as it is",
    (id) => {
      expect(petsJson([{ id, name: "a", categoryId: id }])).toBe(
        `[{"id":${id},"name":"a","categoryId":${id}}]`,
      );
    },
  );

  test("writes every digit, and no status where there is none", () => {
    const id = 9_223_372_036_854_775_807n;
    expect(petJson({ id, name: 'a "b"\n', categoryId: -id })).toBe(
      `{"id":${id},"name":"a \\"b\\"\\n","categoryId":-${id}}`,
    );
    expect(petJson({ id: 1n, name: "", categoryId: 2n, status: "sold" })).toBe(
      '{"id":1,"name":"","categoryId":2,"status":"sold"}',
    );
  });
});
