/**
 * `bun run release VERSION`: from a clean main to files that can be published. Checks the tree,
 * writes the version (package.json is its only place) and the changelog's section, tests, builds
 * everything with checksums, commits and tags. Nothing is pushed or uploaded. `--dry-run` stops
 * before the first change; `--preset 0` packs quickly, to try it all.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argumentsOf, presetOf } from "./arguments.ts";

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
  const changed = packageJson.replace(/^( {2}"version": ")[^"]*"/m, `$1${version}"`);
  if ((JSON.parse(changed) as { version: string }).version !== version) {
    throw new Error("package.json has no version of its own to change.");
  }
  return changed;
}

/** The environment without what names another repository, as in a hook of git. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^GIT_(DIR|WORK_TREE|INDEX_FILE)$/.test(name)),
);

function run(root: string, command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: root, env });
  if (exitCode === 0) return stdout.toString().trim();
  throw new Error(`${command.join(" ")} failed:\n${stdout.toString()}${stderr.toString()}`);
}

/** Refuses a tree that is not what would be released. */
function checkTree(root: string, version: string): void {
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Error(`A version is three numbers such as 1.2.0; "${version}" is none.`);
  }
  const changes = run(root, ["git", "status", "--porcelain"]);
  if (changes !== "") throw new Error(`The tree is not clean:\n${changes}`);
  const branch = run(root, ["git", "rev-parse", "--abbrev-ref", "HEAD"]);
  if (branch !== "main") throw new Error(`Releases are made from main; this is ${branch}.`);
  if (run(root, ["git", "tag", "--list", `v${version}`]) !== "") {
    throw new Error(`There is a tag v${version} already.`);
  }
  const released = run(root, ["git", "tag", "--list", "v*"]).split("\n").filter(Boolean);
  const newer = released.find((tag) => Bun.semver.order(tag.slice(1), version) > 0);
  if (newer !== undefined) throw new Error(`${newer} is newer than ${version}.`);
}

interface ReleaseOptions {
  readonly version: string;
  readonly isDryRun: boolean;
  /** How hard xz tries, from 0 to 9. */
  readonly preset: number;
}

function release(root: string, { version, isDryRun, preset }: ReleaseOptions): void {
  const say = (text: string) => void process.stdout.write(`${text}\n`);
  const file = (name: string) => join(root, name);
  checkTree(root, version);
  const day = new Date().toISOString().slice(0, 10);
  const packageJson = withVersion(readFileSync(file("package.json"), "utf8"), version);
  const changelog = releaseChangelog(readFileSync(file("CHANGELOG.md"), "utf8"), version, day);
  if (isDryRun) return say(`v${version} could be released from here.`);
  writeFileSync(file("package.json"), packageJson);
  writeFileSync(file("CHANGELOG.md"), changelog);
  let undo = "git checkout .";
  try {
    say("Testing ...");
    run(root, [process.execPath, "run", "test"]);
    run(root, ["git", "commit", "--quiet", "--all", "--message", `chore(release): ${version}`]);
    undo = "git reset --hard HEAD~1";
    // Before the build: only at its tag does a build print the version alone.
    run(root, ["git", "tag", "--annotate", `v${version}`, "--message", `rehome ${version}`]);
    undo = `git tag --delete v${version} && ${undo}`;
    say("Building ...");
    // In a process of its own: this one has read the version from package.json before it was
    // changed.
    run(root, [process.execPath, "scripts/build-all.ts", "--preset", `${preset}`]);
  } catch (error) {
    say(`Not released. What was written is in the tree: \`${undo}\` takes it back.`);
    throw error;
  }
  say(`Released ${version}: commit, tag v${version} and dist/. Publish: git push --follow-tags`);
}

if (import.meta.main) {
  const { values, positionals } = argumentsOf({
    allowPositionals: true,
    options: {
      "dry-run": { type: "boolean", default: false },
      preset: { type: "string", default: "9" },
    },
  });
  try {
    release(join(import.meta.dir, ".."), {
      version: positionals[0] ?? "",
      isDryRun: values["dry-run"],
      preset: presetOf(values.preset),
    });
  } catch (error) {
    process.stderr.write(`Error: ${(error as Error).message}\n`);
    process.exit(1);
  }
}
