import { expect, test } from "bun:test";
import { petJson } from "../../src/http/json.ts";

test("an animal is written with every digit, and without a status where it has none", () => {
  const id = 9_223_372_036_854_775_807n;
  expect(petJson({ id, name: 'a "b"\n', categoryId: -id })).toBe(
    `{"id":${id},"name":"a \\"b\\"\\n","categoryId":-${id}}`,
  );
  expect(petJson({ id: 1n, name: "", categoryId: 2n, status: "sold" })).toBe(
    '{"id":1,"name":"","categoryId":2,"status":"sold"}',
  );
});
