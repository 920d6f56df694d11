import { expect, test } from "bun:test";
import { percent } from "../../../src/features/table.ts";
import { bar } from "../../../src/features/keys/fields.ts";

test.each([
  [0, "░░░░"],
  [0.0001, "▏░░░"],
  [0.25, "█░░░"],
  [0.5, "██░░"],
  [0.54, "██▏░"],
  [0.999, "███▉"],
  [1, "████"],
  [7, "████"],
  [-1, "░░░░"],
])("%p of four cells is %s", (share, text) => expect(bar(share, 4)).toBe(text));

test.each([
  [0, "0%"],
  [0.999, "99%"],
  [1, "100%"],
  [1.5, "150%"],
])("%p is %s", (share, text) => expect(percent(share)).toBe(text));
