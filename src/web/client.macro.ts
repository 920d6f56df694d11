import { join } from "node:path";

/**
 * The script `entry`, a path within the features, with all that it imports, minified. As a Bun
 * macro it runs while the program is built (or its source is run), and the text is inlined.
 */
export function clientScript(entry: string): string {
  const flags = ["build", "--minify", "--format=esm", "--target=browser"];
  const path = join(import.meta.dir, "../features", entry);
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, ...flags, path]);
  if (exitCode !== 0) throw new Error(`${entry} cannot be bundled:\n${stderr.toString()}`);
  return stdout.toString().trim();
}
