import { describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  checkTree,
  compareVersions,
  releaseChangelog,
  withVersion,
} from "../../scripts/release.ts";
import { version } from "../../src/version.ts";
import { cleanEnvironment, rehome, temporaryFolder } from "../../test/helpers/binary.ts";

describe("the changelog", () => {
  const text =
    "# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n\n## 1.0.0 - 2026-01-01\n\n- Old.\n";
  test("gets a section of the version below an empty one", () => {
    expect(releaseChangelog(text, "1.1.0", "2026-11-21")).toBe(
      text.replace("## Unreleased\n", "## Unreleased\n\n## 1.1.0 - 2026-11-21\n"),
    );
  });
  const ahead = "## Unreleased\n\n## 1.1.0\n\n- A thing.\n\n## 1.0.0 - 2026-01-01\n\n- Old.\n";
  test("gets the date in a section that was written in advance", () => {
    expect(releaseChangelog(ahead, "1.1.0", "2026-11-21")).toBe(
      ahead.replace("## 1.1.0\n", "## 1.1.0 - 2026-11-21\n"),
    );
  });
  test("joins what came later to a section that was written in advance", () => {
    const both = ahead.replace("Unreleased\n", "Unreleased\n\n### Added\n\n- Late.\n");
    expect(releaseChangelog(both, "1.1.0", "2026-11-21")).toBe(
      "## Unreleased\n\n## 1.1.0 - 2026-11-21\n\n- A thing.\n\n### Added\n\n- Late.\n\n" +
        "## 1.0.0 - 2026-01-01\n\n- Old.\n",
    );
  });
  test("of today can be released, with every line of it", async () => {
    const now = await Bun.file(join(import.meta.dir, "../../CHANGELOG.md")).text();
    const released = releaseChangelog(now, version, "2026-11-21");
    expect(released).toContain(`## Unreleased\n\n## ${version} - 2026-11-21\n`);
    const lines = (of: string) => of.split("\n").filter((line) => !/^(?:## .*)?$/.test(line));
    expect(lines(released).toSorted()).toEqual(lines(now).toSorted());
  });
  test.each([
    ["# Changelog\n", "has no"],
    ["## Unreleased\n\n## 1.0.0\n\n- Old.\n", "says nothing"],
    [text.replace("1.0.0", "1.1.0"), "with a date"],
  ])("%j is refused", (wrong, why) => {
    expect(() => releaseChangelog(wrong, "1.1.0", "2026-11-21")).toThrow(why);
  });
});

test("only the version of package.json changes, and the executable shows it", async () => {
  const text = await Bun.file(join(import.meta.dir, "../../package.json")).text();
  const changed = withVersion(text, "9.8.7");
  expect(changed).not.toBe(text);
  expect(withVersion(changed, version)).toBe(text);
  expect((await rehome(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+(?:-dev|\+[0-9a-f]{10})?\n$/);
});

test.each([
  ["1.9.0", "1.10.0", -1],
  ["2.0.0", "1.99.99", 1],
  ["1.2.3", "1.2.3", 0],
])("%s against %s", (a, b, sign) => expect(Math.sign(compareVersions(a, b))).toBe(sign));

/** Without the signatures and hooks of an account, or the repository whose hook runs this. */
const env = {
  ...cleanEnvironment,
  HOME: homedir(),
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
};

function git(folder: string, ...args: string[]): string {
  const { exitCode, stdout } = Bun.spawnSync(["git", "-C", folder, ...args], { env });
  expect(exitCode).toBe(0);
  return stdout.toString();
}

/** A repository with one commit of all that is in the folder. */
function tree(folder: string, branch = "main"): void {
  git(folder, "init", "--quiet", "--initial-branch", branch);
  git(folder, "config", "user.email", "a@example.org");
  git(folder, "config", "user.name", "a");
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "--allow-empty", "--message", "first");
}

describe("a release that fails", () => {
  interface Project {
    readonly changes: string;
    readonly tests: string;
    readonly build: string;
  }

  /** Tries to release 1.1.0 of a project that is nothing but what a release touches. */
  function fail(folder: string, { changes, tests, build }: Project) {
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    mkdirSync(join(folder, "scripts"));
    for (const name of ["release.ts", "arguments.ts"]) {
      cpSync(join(import.meta.dir, "../../scripts", name), join(folder, "scripts", name));
    }
    write("scripts/build-all.ts", build);
    write("CHANGELOG.md", `## Unreleased\n\n${changes}`);
    write("package.json", `{\n  "version": "1.0.0",\n  "scripts": { "test": "${tests}" }\n}\n`);
    tree(folder);
    const before = git(folder, "rev-parse", "HEAD");
    const command = [process.execPath, "scripts/release.ts", "1.1.0"];
    const { exitCode, stdout } = Bun.spawnSync(command, { cwd: folder, env });
    expect(exitCode).toBe(1);
    return { before, said: stdout.toString() };
  }

  test.each([
    ["in its tests", { tests: "false", build: "" }],
    ["in its build", { tests: "true", build: "process.exit(1)" }],
  ])("%s says how the tree is as it was before", (_, project) => {
    using folder = temporaryFolder();
    const { before, said } = fail(folder.path, { changes: "- A thing.\n", ...project });
    expect(readFileSync(join(folder.path, "package.json"), "utf8")).toContain("1.1.0");
    const undo = /^Not released\..* `(git .*)` takes it back/m.exec(said)?.[1] ?? "";
    expect(Bun.spawnSync(["sh", "-c", undo], { cwd: folder.path, env }).exitCode).toBe(0);
    expect(git(folder.path, "rev-parse", "HEAD")).toBe(before);
    expect(git(folder.path, "status", "--porcelain")).toBe("");
  });
});

describe("a tree is refused that", () => {
  test("is not clean", () => {
    using folder = temporaryFolder();
    tree(folder.path);
    expect(() => checkTree(folder.path, "1.0.1")).not.toThrow();
    writeFileSync(join(folder.path, "new"), "");
    expect(() => checkTree(folder.path, "1.0.1")).toThrow("not clean");
  });
  test("is not main", () => {
    using folder = temporaryFolder();
    tree(folder.path, "other");
    expect(() => checkTree(folder.path, "1.0.1")).toThrow("this is other");
  });
  test("has the version, or a newer one", () => {
    using folder = temporaryFolder();
    tree(folder.path);
    git(folder.path, "tag", "v1.2.0");
    expect(() => checkTree(folder.path, "1.2.0")).toThrow("a tag v1.2.0 already");
    expect(() => checkTree(folder.path, "1.1.9")).toThrow("v1.2.0 is newer");
    expect(() => checkTree(folder.path, "1.2.1")).not.toThrow();
    expect(() => checkTree(folder.path, "v1.2.1")).toThrow("three numbers");
  });
});
