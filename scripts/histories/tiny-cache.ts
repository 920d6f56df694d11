/** The executable with a cache that is full after three responses, so that histories cross it. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const copied = [
  "src",
  "drizzle",
  "scripts",
  "packaging",
  "LICENSE",
  "bun.lock",
  "bunfig.toml",
  "package.json",
  "text-imports.d.ts",
];
const file = "src/http/response-cache.ts";
const bounds = /(const serviceBounds: CacheBounds = )\{[^}]*\}/;

/** Builds it in a copy of the tree, which goes with it. */
export function tinyCache(): { readonly path: string; [Symbol.dispose](): void } {
  const folder = mkdtempSync(join(tmpdir(), "rehome-tiny-cache-"));
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const text = readFileSync(join(root, file), "utf8");
  if (!bounds.test(text)) throw new Error(`${file} has no bounds of the cache`);
  writeFileSync(join(folder, file), text.replace(bounds, "$1{ entries: 3, bytes: 2_000 }"));
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, "scripts/build.ts"], {
    cwd: folder,
  });
  if (exitCode !== 0) throw new Error(`the build failed:\n${stderr.toString()}`);
  return {
    path: join(folder, "dist/rehome"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
