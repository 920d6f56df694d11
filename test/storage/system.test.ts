import { expect, test } from "bun:test";
import { openFiles } from "../helpers/open-files.ts";
import { descriptorsAreFree } from "../../src/storage/system.ts";

test("to ask for free descriptors takes none", () => {
  const taken = () => openFiles().filter((path) => path === "/dev/null").length;
  const before = taken();
  expect(descriptorsAreFree(16)).toBe(true);
  expect(taken()).toBe(before);
});
