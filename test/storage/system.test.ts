import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { descriptorsAreFree, descriptorsMax } from "../../src/storage/system.ts";

test("to ask for free descriptors takes none", () => {
  const open = () => readdirSync("/proc/self/fd").length;
  const before = open();
  expect(descriptorsAreFree(16)).toBe(true);
  expect(descriptorsAreFree(descriptorsMax())).toBe(false);
  expect(open()).toBe(before);
});
