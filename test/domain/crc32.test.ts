import { expect, test } from "bun:test";
import { crc32 as crc32OfZlib } from "node:zlib";
import { assert, property, string } from "fast-check";
import { crc32 } from "../../src/domain/api-key.ts";

test("is the check value of the catalogue of CRCs, and 0 for nothing", () => {
  expect(crc32("123456789")).toBe(0xcbf43926);
  expect(crc32("")).toBe(0);
});

test("is what zlib makes of any ASCII text", () => {
  assert(
    property(string({ unit: "binary-ascii", maxLength: 100 }), (text) => {
      expect(crc32(text)).toBe(crc32OfZlib(text));
    }),
  );
});
