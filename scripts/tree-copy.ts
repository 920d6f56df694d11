/** A copy of this tree, to build or test with something else in them. */
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..");

/** Makes it, with the packages of this tree. It goes with what uses it. */
export function treeCopy() {
  const path = mkdtempSync(join(tmpdir(), "rehome-copy-"));
  const tracked = Bun.spawnSync(["git", "ls-files", "-co", "--exclude-standard"], { cwd: root })
    .stdout.toString()
    .trim();
  for (const file of tracked.split("\n").filter((each) => existsSync(join(root, each))))
    cpSync(join(root, file), join(path, file));
  symlinkSync(join(root, "node_modules"), join(path, "node_modules"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
