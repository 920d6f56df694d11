/**
 * The rules that hold the source together.
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { entryPoints } from "../scripts/build.ts";
import {
  found,
  importFindings,
  impure,
  readSources,
  singlePlaces,
  sourceOf,
  unreachable,
} from "./helpers/rules.ts";

const root = join(import.meta.dir, "..");
const sources = readSources(root, "src");
const tests = readSources(root, "test");

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
    expect(importFindings(sourceOf(path, text))).toHaveLength(1),
  );

  test("every source file is reached from an entry", () => {
    expect(unreachable(sources, entryPoints)).toEqual([]);
    const dead = sourceOf("src/service/dead.ts", 'import "./services.ts";');
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
    expect(pure.flatMap((source) => found(source, impure))).toEqual([]);
  });
});

describe("one place only", () => {
  test.each(singlePlaces)("$what", ({ in: places, pattern }) => {
    const isPlace = (path: string) => places.some((place) => path.startsWith(place));
    const elsewhere = sources.filter(({ path }) => !isPlace(path));
    expect(elsewhere.flatMap((source) => found(source, pattern))).toEqual([]);
    for (const place of places.filter((each) => each.endsWith(".ts"))) {
      const source = sources.find(({ path }) => path === place);
      expect([place, source && found(source, pattern).length > 0]).toEqual([place, true]);
    }
  });
});

describe("tests", () => {
  test("do not sleep to cross a window", () => {
    expect(
      tests.flatMap((source) => found(source, /\bsleep(?:Sync)?\((?:[2-9]_?\d{3}|\d{2,}_?\d{3})/g)),
    ).toEqual([]);
  });
});
