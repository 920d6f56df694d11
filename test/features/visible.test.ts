import { expect, test } from "bun:test";
import { isVisible } from "../../src/features/visible.ts";

test.each([
  "Ana",
  "\u00e9",
  "e\u0301",
  "\u732b",
  "7",
  "?",
  "\u{1f415}",
  "\u{1f468}\u200d\u{1f469}",
  "\u0645\u06cc\u200c\u062e",
])("%j can be seen", (text) => expect(isVisible(text)).toBe(true));
test.each([
  "",
  " ",
  "\u00a0\t",
  "\u200b",
  "\u00ad",
  "\u0301",
  "\u3164",
  "\u2800",
  "\ufeff",
  "\u{e0020}",
  "\ud800",
])("%j cannot be seen", (text) => expect(isVisible(text)).toBe(false));
