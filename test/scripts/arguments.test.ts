import { expect, test } from "bun:test";
import { join } from "node:path";

test.each([
  ["release.ts", ["9.9.9", "--preset", "best"], '--preset must be a digit, not "best"'],
  [
    "test-debian.ts",
    ["page.test.ts", "metrics.test.ts"],
    "There is no page.test.ts in test/debian.",
  ],
])("%s %j is refused before anything is done", (script, args, why) => {
  const path = join(import.meta.dir, "../../scripts", script);
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, path, ...args]);
  expect([stderr.toString(), exitCode]).toEqual([`Error: ${why}\n`, 2]);
});
