/**
 * The core stands alone: a copy of the tree without the features, with an empty list in their
 * place, type-checks, builds and passes the core's own tests.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./helpers/binary.ts";
import { finished } from "./helpers/finished.ts";

const root = join(import.meta.dir, "..");
const coreTests = ["domain", "storage", "service", "http", "cli"].map((room) => `test/${room}`);
const copied = [
  "src",
  "drizzle",
  "scripts",
  "test/helpers",
  "test/fixtures",
  "text-imports.d.ts",
  "package.json",
  "bunfig.toml",
  ...coreTests,
];
const list = `import type { Feature } from "../feature.ts";
export const features: readonly Feature[] = [];
`;

const folder = temporaryFolder();
const tree = join(folder.path, "core");

/**
 * True for a test or helper of a feature, or of what is made of the whole program: it names a file
 * of those.
 */
const isBeyondCore = (path: string) =>
  path.endsWith(".ts") &&
  /src\/features\/(?!index\.ts)|scripts\/(?!build\b)/.test(readFileSync(path, "utf8"));

beforeAll(() => {
  const isCore = (path: string) => !path.startsWith(join(root, "test")) || !isBeyondCore(path);
  for (const path of copied) {
    cpSync(join(root, path), join(tree, path), { recursive: true, filter: isCore });
  }
  rmSync(join(tree, "src/features"), { recursive: true });
  mkdirSync(join(tree, "src/features"), { recursive: true });
  writeFileSync(join(tree, "src/features/index.ts"), list);
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  const include = ["src", "test", "scripts/build.ts", "*.d.ts"];
  const config = { extends: join(root, "tsconfig.json"), include };
  writeFileSync(join(tree, "tsconfig.json"), JSON.stringify(config));
});

afterAll(() => folder[Symbol.dispose]());

/** Runs Bun in the copy. Throws with what it said when it fails. */
async function bun(...args: readonly string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: tree,
    // Its counts are read from what it prints.
    env: { ...process.env, FORCE_COLOR: "0" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const { exitCode, stdout, stderr } = await finished(child);
  if (exitCode !== 0) {
    const lines = `${stdout}${stderr}`.split("\n");
    throw new Error(lines.filter((line) => !line.startsWith("(pass)")).join("\n"));
  }
  return `${stdout}${stderr}`;
}

test("no feature is in the copy", () => {
  const files = [...new Bun.Glob("src/features/**/*").scanSync(tree)];
  expect(files).toEqual(["src/features/index.ts"]);
});

test("the core type-checks", async () => void (await bun("check", "--no-script")), 120_000);

test("the core builds, and its executable has the core's commands only", async () => {
  await bun("scripts/build.ts");
  const child = Bun.spawn([join(tree, "dist/rehome"), "--help"], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const { stdout } = await finished(child);
  const [, commands = ""] = stdout.split("Commands:\n");
  const names = [...commands.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining(["serve", "keys", "config"]));
  expect(names).not.toContain("doctor");
}, 600_000);

test("the core passes its own tests", async () => {
  const said = await bun("test", "--timeout", "120000", ...coreTests);
  expect(Number(/^ *(\d+) pass$/m.exec(said)?.[1])).toBeGreaterThan(500);
}, 1_800_000);
