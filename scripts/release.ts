/**
 * `bun run release VERSION`: from a clean main to a tag. Writes the version (package.json is its
 * only place) and the changelog's section, tests, commits and tags. The workflow of the tag builds
 * and publishes.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { misused } from "./arguments.ts";

const unreleased = "## Unreleased";

/**
 * The changelog with its unreleased part as the section of `version`, dated `day`, and an empty
 * part above it. What a section without a date says, written in advance, comes first there. Throws
 * when there is nothing to release, or the version has a date already.
 */
export function releaseChangelog(changelog: string, version: string, day: string): string {
  const heading = `## ${version}`;
  const parts = changelog.split(/^(?=## )/m);
  const partOf = (title: string) => parts.find((part) => part.startsWith(`${title}\n`));
  const bodyOf = (part = "") => part.replace(/^## .*\n/, "").trim();
  if (parts.some((part) => part.startsWith(`${heading} - `))) {
    throw new Error(`CHANGELOG.md has a section ${version} with a date.`);
  }
  const [next, ahead] = [partOf(unreleased), partOf(heading)];
  if (next === undefined) throw new Error(`CHANGELOG.md has no "${unreleased}".`);
  const bodies = [bodyOf(ahead), bodyOf(next)].filter((body) => /^- /m.test(body));
  if (bodies.length === 0) throw new Error(`CHANGELOG.md says nothing under "${unreleased}".`);
  const section = `${unreleased}\n\n${heading} - ${day}\n\n${bodies.join("\n\n")}\n\n`;
  const all = parts.filter((part) => part !== ahead);
  return `${all
    .map((part) => (part === next ? section : part))
    .join("")
    .trimEnd()}\n`;
}

/** package.json with another version, and nothing else of it changed. */
export function withVersion(packageJson: string, version: string): string {
  return packageJson.replace(/^( {2}"version": ")[^"]*"/m, `$1${version}"`);
}

function run(...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
  if (exitCode === 0) return stdout.toString().trim();
  throw new Error(`${command.join(" ")} failed:\n${stdout.toString()}${stderr.toString()}`);
}

function release(version: string): void {
  const changes = run("git", "status", "--porcelain");
  if (changes !== "") throw new Error(`The tree is not clean:\n${changes}`);
  const branch = run("git", "rev-parse", "--abbrev-ref", "HEAD");
  if (branch !== "main") throw new Error(`Releases are made from main; this is ${branch}.`);
  const day = new Date().toISOString().slice(0, 10);
  const changelog = releaseChangelog(readFileSync("CHANGELOG.md", "utf8"), version, day);
  writeFileSync("CHANGELOG.md", changelog);
  writeFileSync("package.json", withVersion(readFileSync("package.json", "utf8"), version));
  process.stdout.write("Testing. If it fails, `git checkout .` takes back what was written.\n");
  run(process.execPath, "run", "test");
  run("git", "commit", "--quiet", "--all", "--message", `chore(release): ${version}`);
  run("git", "tag", "--annotate", `v${version}`, "--message", `rehome ${version}`);
  process.stdout.write(`Tagged v${version}. Publish: git push --follow-tags\n`);
}

if (import.meta.main) {
  const version = process.argv[2] ?? "";
  if (!/^\d+\.\d+\.\d+$/.test(version)) misused("name a version of three numbers, such as 1.2.0");
  process.chdir(join(import.meta.dir, ".."));
  release(version);
}
