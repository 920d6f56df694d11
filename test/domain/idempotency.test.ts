import { expect, test } from "bun:test";
import { idempotencyKeyOf } from "../../src/domain/idempotency.ts";

test.each([
  ["a", "a"],
  ['"a"', "a"],
  ['"', '"'],
  ['"a', '"a'],
  ['""a""', '"a"'],
  ["8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"],
  ["!~", "!~"],
  ["x".repeat(255), "x".repeat(255)],
  [`"${"x".repeat(255)}"`, "x".repeat(255)],
  ["", undefined],
  ['""', undefined],
  ["a b", undefined],
  ["a, b", undefined],
  ["é", undefined],
  ["a\t", undefined],
  ["\u007f", undefined],
  ["x".repeat(256), undefined],
  [`"${"x".repeat(256)}"`, undefined],
])("%j is %j", (header, value) => expect(idempotencyKeyOf(header)).toBe(value));
