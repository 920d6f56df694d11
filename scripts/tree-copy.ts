/** A copy of this tree, to build or test with something else in it. */
import { cpSync, existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../test/helpers/binary.ts";

const root = join(import.meta.dir, "..");

/** Makes it, with the packages of this tree. It goes with what uses it. */
export function treeCopy() {
  const folder = temporaryFolder();
  const command = ["git", "ls-files", "-co", "--exclude-standard"];
  const tracked = Bun.spawnSync(command, { cwd: root }).stdout.toString().trim().split("\n");
  for (const file of tracked.filter((each) => existsSync(join(root, each))))
    cpSync(join(root, file), join(folder.path, file));
  symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
  return folder;
}
