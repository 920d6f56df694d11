import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { build } from "../../scripts/build.ts";
import { temporaryFolder } from "../helpers/binary.ts";

test("an executable is built where an absolute path says, and nowhere else", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "deeper/rehome");
  await build(file);
  expect(existsSync(file)).toBe(true);
  expect(existsSync(join(import.meta.dir, "../..", folder.path))).toBe(false);
}, 120_000);
