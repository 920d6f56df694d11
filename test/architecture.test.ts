/**
 * The rules that hold the source together. Each one is shown to refuse a file that breaks it,
 * beside the files of src.
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { entryPoints } from "../scripts/build.ts";
import {
  fileLines,
  functionLines,
  impureFindings,
  importFindings,
  longSleeps,
  singlePlaces,
  unreachable,
} from "./helpers/rules.ts";
import { parseSource, readSources } from "./helpers/source.ts";

const root = join(import.meta.dir, "..");
const sources = readSources(root, "src");
const tests = readSources(root, "test");

const fileLinesMax = 500;
/** Files above it, and why. */
const longFiles: Readonly<Record<string, string>> = {
  "src/features/console/words/en.ts": "all words in one place, for who translates them",
  "src/features/console/words/es.ts": "all words in one place, for who translates them",
};

const functionLinesMax = { argued: 50, ever: 70 };
/** Functions above the first bound, and why. */
const longFunctions: Readonly<Record<string, string>> = {
  "src/http/routes/pets.ts#petRoutes": "the types of a chain of routes flow along it",
};

/** Tests that must sleep for more than a second, and why. */
const longSleepsAllowed: Readonly<Record<string, string>> = {};

/** The findings of `find` in a made-up file. */
function tried<T>(
  find: (source: ReturnType<typeof parseSource>) => T,
  path: string,
  text: string,
): T {
  return find(parseSource(path, text));
}

describe("imports", () => {
  test("go from the edges to the domain", () => {
    expect(sources.length).toBeGreaterThan(50);
    expect(sources.flatMap(importFindings)).toEqual([]);
  });

  test.each([
    ["src/domain/a.ts", 'import { b } from "../storage/b.ts";'],
    ["src/domain/a.ts", 'import type { b } from "../storage/b.ts";'],
    ["src/domain/a.ts", 'import { b } from "../config.ts";'],
    ["src/domain/a.ts", 'import { b } from "node:fs";'],
    ["src/domain/a.ts", 'import { crc32 } from "node:zlib";'],
    ["src/domain/a.ts", 'import { b } from "bun";'],
    ["src/storage/a.ts", 'export { b } from "../service/b.ts";'],
    ["src/storage/a.ts", 'export * from "../http/b.ts";'],
    ["src/service/a.ts", 'type B = import("../http/b.ts").B;'],
    ["src/service/a.ts", 'const b = await import("../cli/b.ts");'],
    ["src/service/a.ts", 'import { sql } from "drizzle-orm";'],
    ["src/service/a.ts", 'import { Database } from "bun:sqlite";'],
    ["src/service/a.ts", 'import { readConfig } from "../config.ts";'],
    ["src/service/deep/a.ts", 'import type { Elysia } from "elysia";'],
    ["src/http/a.ts", 'import type { b } from "../storage/b.ts";'],
    ["src/http/routes/a.ts", 'import { b } from "../../storage/b.ts";'],
    ["src/http/a.ts", 'import { b } from "../cli/b.ts";'],
    ["src/http/a.ts", 'import { b } from "drizzle-orm/bun-sqlite";'],
    ["src/cli/a.ts", 'import { b } from "../http/errors.ts";'],
    ["src/cli/a.ts", 'import { b } from "../http/routes/pets.ts";'],
    ["src/cli/a.ts", 'import { bearer } from "@elysiajs/bearer";'],
    ["src/cli/a.ts", 'import { b } from "../../test/helpers/app.ts";'],
    ["src/cli/a.ts", 'import { env } from "node:process";'],
    ["src/config.ts", 'import { b } from "./service/b.ts";'],
    ["src/http/a.ts", 'import { b } from "../features/docs/b.ts";'],
    ["src/cli/a.ts", 'const b = await import("../features/index.ts");'],
    ["src/features/docs/a.ts", 'import { b } from "../import/b.ts";'],
    ["src/features/docs/a.ts", 'import { features } from "../index.ts";'],
    ["src/cli/a.ts", 'import { b } from "../features/visible.ts";'],
  ])("%s: %s is refused", (path, text) =>
    expect(tried(importFindings, path, text)).toHaveLength(1),
  );

  test.each([
    ["src/domain/a.ts", 'import { b } from "./b.ts";'],
    ["src/cli/terminal/a.ts", 'import { serve } from "../../http/server.ts";'],
    ["src/http/a.ts", 'import { Elysia } from "elysia"; import { b } from "../service/b.ts";'],
    ["src/main.ts", 'import { run } from "./cli/program.ts";'],
    ["src/main.ts", 'import { features } from "./features/index.ts";'],
    ["src/features/index.ts", 'import { b } from "./docs/index.ts";'],
    ["src/features/operate/a.ts", 'import { b } from "../postgres/b.ts";'],
    ["src/features/import/a.ts", 'import { b } from "../visible.ts";'],
    [
      "src/features/docs/a.ts",
      'import { Elysia } from "elysia"; import { b } from "../../http/b.ts";',
    ],
  ])("%s: %s is not", (path, text) => expect(tried(importFindings, path, text)).toEqual([]));

  test("every source file is reached from an entry", () => {
    expect(unreachable(sources, entryPoints)).toEqual([]);
    const dead = parseSource("src/service/dead.ts", 'import "./services.ts";');
    expect(unreachable([...sources, dead], entryPoints)).toEqual(["src/service/dead.ts"]);
  });

  test("the build knows every thread", () => {
    const workers = sources.map(({ path }) => path).filter((path) => path.endsWith(".worker.ts"));
    expect(entryPoints).toEqual(["src/main.ts", ...workers]);
  });
});

describe("the domain", () => {
  test("does not know the machine, the time or chance", () => {
    const pure = sources.filter(({ path }) => path.startsWith("src/domain/"));
    const findings = pure.flatMap(impureFindings);
    expect(findings).toEqual([]);
  });

  test.each([
    "const a = Math.random();",
    "const a = Bun.file('a');",
    "await fetch('a');",
    "const a = process.argv;",
    "const a = performance.now();",
    "const a = crypto.randomUUID();",
    "setTimeout(a, 1);",
  ])("%s is refused", (text) =>
    expect(tried(impureFindings, "src/domain/a.ts", text)).not.toEqual([]),
  );
});

describe("one place only", () => {
  test.each(singlePlaces)("$what", ({ in: places, find }) => {
    const isPlace = (path: string) => places.some((place) => path.startsWith(place));
    const elsewhere = sources.filter(({ path }) => !isPlace(path));
    expect(elsewhere.flatMap(find)).toEqual([]);
    for (const place of places.filter((each) => each.endsWith(".ts"))) {
      const source = sources.find(({ path }) => path === place);
      expect([place, source && find(source).length > 0]).toEqual([place, true]);
    }
  });

  test.each([
    ["the environment", 'const a = process.env["A"];'],
    ["the environment", "const a = process['env'].A;"],
    ["the environment", "const a = Bun.env.A;"],
    ["the environment", "const a = import.meta.env.A;"],
    ["the environment", "const { env } = process;"],
    ["the end of the process", "process.exit(1);"],
    ["the end of the process", "process.exitCode = 1;"],
    ["the end of the process", "const { exit } = process;"],
    ["the clock", "const a = Date.now();"],
    ["the clock", "const clock = Date.now;"],
    ["the clock", "const a = new Date();"],
    ["the clock", "const a = new Date(0);"],
    ["the clock", "const a = Date();"],
    ["console", "console.error('a');"],
    ["console", "console['log']('a');"],
    ["Bun.SQL", "const a = new Bun.SQL('a');"],
    ["Bun.SQL", 'import { SQL } from "bun";'],
    ["HTTP status numbers", "const a = { status: 404 };"],
    ["HTTP status numbers", "if (a === 429) b();"],
  ])("%s: %s is found", (what, text) => {
    const place = singlePlaces.find((each) => each.what === what);
    expect(place && tried(place.find, "src/service/a.ts", text)).toHaveLength(1);
  });

  test("names in comments, strings and other objects are not", () => {
    const text =
      '// process.exit(404), Date.now()\nconst a = "console.log"; b.env; b.exit(); Date.UTC(1); const keptDays = 400;';
    for (const { find } of singlePlaces) expect(tried(find, "src/service/a.ts", text)).toEqual([]);
  });
});

describe("sizes", () => {
  test(`a file above ${fileLinesMax} lines has a reason`, () => {
    const long = sources.filter((source) => fileLines(source) > fileLinesMax);
    expect(long.map(({ path }) => path).filter((path) => !(path in longFiles))).toEqual([]);
    expect(tried(fileLines, "src/a.ts", "a();\n".repeat(501))).toBe(501);
  });

  const functions = sources.flatMap(functionLines);

  test(`a function above ${functionLinesMax.argued} lines has a reason`, () => {
    expect(functions.length).toBeGreaterThan(200);
    const long = functions.filter(({ lines }) => lines > functionLinesMax.argued);
    expect(long.filter(({ name }) => !(name in longFunctions))).toEqual([]);
  });

  test(`no function is above ${functionLinesMax.ever} lines`, () => {
    expect(functions.filter(({ lines }) => lines > functionLinesMax.ever)).toEqual([]);
  });

  test.each([
    ["function a() {BODY}", "a"],
    ["const a = () => {BODY};", "a"],
    ["const b = { a() {BODY} };", "a"],
    ["class B { a() {BODY} }", "a"],
    ["class B { a = async () => {BODY}; }", "a"],
    ["b(function () {BODY});", "line 1"],
  ])("%s is measured", (text, name) => {
    const body = `\n${"b();\n".repeat(69)}`;
    expect(tried(functionLines, "src/a.ts", text.replace("BODY", body))).toEqual([
      { name: `src/a.ts#${name}`, lines: 71 },
    ]);
  });
});

describe("tests", () => {
  test("do not sleep to cross a window", () => {
    const findings = tests.filter(({ path }) => !(path in longSleepsAllowed)).flatMap(longSleeps);
    expect(findings).toEqual([]);
  });

  test.each([
    "await Bun.sleep(1_001);",
    "await Bun.sleep(61 * 1000);",
    "Bun.sleepSync(60_000);",
    "await sleep(2e3);",
    "await new Promise((done) => setTimeout(done, 5000));",
    "await new Promise((done) => { setTimeout(done, 5000); });",
  ])("%s is refused", (text) => expect(tried(longSleeps, "test/a.test.ts", text)).toHaveLength(1));

  test.each([
    "await Bun.sleep(1000);",
    "b.sleep(5000);",
    "const deadline = setTimeout(fail, 5000);",
  ])("%s is not", (text) => expect(tried(longSleeps, "test/a.test.ts", text)).toEqual([]));
});
