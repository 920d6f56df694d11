import { expect, test } from "bun:test";
import { assert, bigInt, property } from "fast-check";
import { cut } from "../../../src/features/table.ts";
import { grouped, printable } from "../../../src/cli/terminal/text.ts";

test("a whole number is grouped as English has it, whatever its size and sign", () => {
  expect([0, 999, 1000, -1000, 1_234_567].map(grouped)).toEqual([
    "0",
    "999",
    "1,000",
    "-1,000",
    "1,234,567",
  ]);
  assert(property(bigInt(), (count) => grouped(count) === count.toLocaleString("en")));
});

test.each([
  ["Rex", 3, "Rex"],
  ["Rexie", 3, "Re…"],
  ["👩‍👩‍👧 and dog", 5, "👩‍👩‍👧 a…"],
])("%p in %i cells is %p", (text, width, shown) => {
  expect(cut(text, width)).toBe(shown);
});

test("nothing that a terminal obeys is left: C0, DEL, C1, separators and marks of direction", () => {
  const ranges = [
    [0, 0x1f],
    [0x7f, 0x9f],
    [0x61c, 0x61c],
    [0x200e, 0x200f],
    [0x2028, 0x202e],
    [0x2066, 0x2069],
  ];
  for (const [from = 0, to = 0] of ranges) {
    for (let code = from; code <= to; code += 1) {
      expect(printable(String.fromCodePoint(code))).toMatch(/^\\[\w]+$/);
    }
  }
});
