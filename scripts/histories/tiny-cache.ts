/** The executable with a cache that is full after three responses, so that histories cross it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { treeCopy } from "../tree-copy.ts";

const bounds = /(const serviceBounds: CacheBounds = )\{[^}]*\}/;

/** Builds it in a copy of the tree, which goes with it. */
export function tinyCache() {
  const copy = treeCopy();
  const file = join(copy.path, "src/http/response-cache.ts");
  const text = readFileSync(file, "utf8");
  if (!bounds.test(text)) throw new Error(`${file} has no bounds of the cache`);
  writeFileSync(file, text.replace(bounds, "$1{ entries: 3, bytes: 2_000 }"));
  const build = Bun.spawnSync([process.execPath, "scripts/build.ts"], { cwd: copy.path });
  if (!build.success) throw new Error(`the build failed:\n${build.stderr.toString()}`);
  return { ...copy, path: join(copy.path, "dist/rehome") };
}
