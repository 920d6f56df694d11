/** The checks of a store's files and of their disk. */
import { expect, test } from "bun:test";
import { freeBytes } from "../../../src/storage/sqlite/checks.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

test("what is free on a disk is counted in bytes", () => {
  using folder = temporaryFolder();
  const df = Bun.spawnSync(["df", "--output=avail", "-B1", folder.path]).stdout.toString();
  const bytes = Number(df.trim().split("\n").at(-1));
  expect(freeBytes(folder.path) / bytes).toBeCloseTo(1, 1);
});
