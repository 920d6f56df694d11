import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../helpers/binary.ts";

test.each([
  [["--only", "x86"], "there is no target x86; there are x64, arm64, x64-musl, arm64-musl"],
  [["--preset", "best"], '--preset must be a digit, not "best"'],
  [["--preset", "10"], '--preset must be a digit, not "10"'],
  [["--onyl", "x64"], "Unknown option '--onyl'"],
  [["x64"], "Unexpected argument 'x64'"],
])("build:all %j is refused before anything is built", (args, why) => {
  using folder = temporaryFolder();
  const script = join(import.meta.dir, "../../scripts/build-all.ts");
  const command = [process.execPath, script, ...args, "--out", "here"];
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd: folder.path });
  expect([stderr.toString(), exitCode]).toEqual([`Error: ${why}\n`, 2]);
  expect(readdirSync(folder.path)).toEqual([]);
});
