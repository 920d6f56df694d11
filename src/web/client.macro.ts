/**
 * Bundles a script for the browser while the program is built (or its source is run), so that the
 * executable carries one text. Runs as a Bun macro: what it returns is inlined.
 */
import { join } from "node:path";

/**
 * The script `entry`, a path within the features, with all that it imports, minified. Throws if it
 * cannot be bundled.
 */
export function clientScript(entry: string): string {
  const flags = ["build", "--minify", "--format=esm", "--target=browser"];
  const { exitCode, stdout, stderr } = Bun.spawnSync([
    process.execPath,
    ...flags,
    join(import.meta.dir, "../features", entry),
  ]);
  if (exitCode !== 0) throw new Error(`${entry} cannot be bundled:\n${stderr.toString()}`);
  return stdout.toString().trim();
}
