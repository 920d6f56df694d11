/**
 * The rules that hold the source together.
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
    ["src/domain/a.ts", 'import type { b } from "../storage/b.ts";'],
    ["src/service/a.ts", 'const b = await import("../cli/b.ts");'],
    ["src/service/a.ts", 'import { sql } from "drizzle-orm";'],
    ["src/http/a.ts", 'import type { b } from "../storage/b.ts";'],
    ["src/features/docs/a.ts", 'import { b } from "../import/b.ts";'],
  ])("%s: %s is refused", (path, text) =>
    expect(tried(importFindings, path, text)).toHaveLength(1),
  );

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
});

describe("tests", () => {
  test("do not sleep to cross a window", () => {
    const findings = tests.filter(({ path }) => !(path in longSleepsAllowed)).flatMap(longSleeps);
    expect(findings).toEqual([]);
  });
});
