/**
 * `bun scripts/rebuild.ts TAG DIST [--only x64] [--preset 6]`: builds the tag anew in a clone of
 * its own, and compares the checksums with those of DIST. Ends with 1 where a byte differs.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { argumentsOf, misused } from "./arguments.ts";

const { values, positionals } = argumentsOf({
  allowPositionals: true,
  options: { only: { type: "string" }, preset: { type: "string", default: "6" } },
});
const [tag, dist] = positionals;
if (tag === undefined || dist === undefined) misused("name a tag and the folder of its files");

const root = join(import.meta.dir, "..");
const folder = mkdtempSync(join(tmpdir(), "rehome-rebuild-"));
const clone = join(folder, "clone");

function run(...command: string[]): void {
  const cwd = command[0] === "git" ? root : clone;
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd, stdout: "ignore", stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
}

const sums = (path: string): string[] =>
  readFileSync(join(path, "SHA256SUMS"), "utf8").trimEnd().split("\n");

try {
  run("git", "clone", "--quiet", "--branch", tag, root, clone);
  run(process.execPath, "install", "--frozen-lockfile");
  const only = values.only === undefined ? [] : ["--only", values.only];
  const again = join(folder, "again");
  const options = ["--out", again, "--preset", values.preset, ...only];
  run(process.execPath, "scripts/build-all.ts", ...options);
  const published = sums(resolve(dist));
  const different = sums(again).filter((line) => !published.includes(line));
  for (const line of different) process.stdout.write(`differs: ${line.split("  ")[1]}\n`);
  if (different.length === 0) process.stdout.write(`${sums(again).length} files are the same\n`);
  process.exitCode = different.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
