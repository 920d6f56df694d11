/**
 * The rules that hold the source together, as patterns over its code without comments and texts.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { entryPoints } from "../scripts/build.ts";

const root = join(import.meta.dir, "..");

/** A source file: its path from the project's root, its code, and every module that it names. */
interface Source {
  readonly path: string;
  readonly code: string;
  /** Files by their paths from the root behind `/`, packages by their names. */
  readonly imports: readonly string[];
}

const named = /(?:\bfrom |\bimport |\bimport\(|new URL\()\s*"([^"]+)"(?:,?\s*import\.meta\.url)?/g;

function sourceOf(path: string, text: string): Source {
  // The lines keep their numbers.
  const code = text
    .replaceAll(/\/\*[^]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ""))
    .replaceAll(/^\s*\/\/.*$/gm, "");
  const names = [...code.matchAll(named)].map(([, name = ""]) => name);
  const imports = names.map((name) =>
    name.startsWith(".") ? `/${join(dirname(path), name)}` : name,
  );
  return { path, code: code.replaceAll(/(?<!from )"(?:[^"\\\n]|\\.)*"/g, '""'), imports };
}

const sources = [...new Bun.Glob("src/**/*.ts").scanSync(root)]
  .toSorted()
  .map((path) => sourceOf(path, readFileSync(join(root, path), "utf8")));

/** Where `pattern` stands in the code of files, as `path:line what`. */
const found = (among: readonly Source[], pattern: RegExp) =>
  among.flatMap(({ path, code }) =>
    [...code.matchAll(pattern)].map(
      ({ 0: text, index }) => `${path}:${code.slice(0, index).split("\n").length} ${text}`,
    ),
  );

const top = "version|config|feature";
/** What each layer may import of the others, beside itself. The core imports no feature. */
const layers: Readonly<Record<string, RegExp>> = {
  domain: /^$/,
  storage: /^src\/(domain\/|version)/,
  service: /^src\/((domain|storage)\/|version)/,
  http: /^src\/((domain|service)\/|version)/,
  // The command line touches the web edge to serve.
  cli: new RegExp(`^src/((domain|storage|service)/|http/(server|app)\\.ts|(${top})\\.ts)`),
  web: /^src\/((domain|storage|service|http|cli)\/|version)/,
  features: new RegExp(`^src/((domain|storage|service|http|cli|web)/|(${top})\\.ts)`),
};
/** Features that use others. */
const pairs: Readonly<Record<string, readonly string[]>> = {
  // An undo pauses the list that would do it again.
  animals: ["schedule"],
  // The same work as the commands', by a browser.
  console: ["animals", "import", "keys", "operate", "public", "schedule", "sources"],
  // An import is a change, which an undo takes back.
  import: ["animals"],
  // The doctor looks into a database, a backup's keys are counted, and backups are jobs.
  operate: ["keys", "postgres", "schedule"],
  // One way to hold a data folder, and jobs that are due after a copy.
  postgres: ["operate", "schedule"],
  // A followed list is imported by a job.
  sources: ["animals", "import", "schedule"],
};
/** Packages that belong to one layer; a feature may have them too. */
const packages = [
  [/^(?:elysia|@elysiajs\/.*)(?:\/|$)/, "http"],
  [/^(?:drizzle-orm(?:\/|$)|bun:sqlite$)/, "storage"],
] as const;

const layerOf = (path: string) => /^src\/(\w+)\//.exec(path)?.[1];
const featureOf = (path: string) => /^src\/features\/([^/]+)\//.exec(path)?.[1];

function mayUse(path: string, name: string): boolean {
  const layer = layerOf(path);
  // The global process is what rules look at.
  if (/^(?:node:)?process$/.test(name) || layer === "domain") return false;
  const [, home = layer] = packages.find(([pattern]) => pattern.test(name)) ?? [];
  return home === layer || layer === "features";
}

function mayImport(path: string, target: string): boolean {
  if (/^(?:package\.json|scripts\/(?:licenses|migrations)\.ts)$/.test(target)) return true;
  if (!target.startsWith("src/")) return false;
  const [layer, other] = [layerOf(path), layerOf(target)];
  if (layer === undefined) {
    const composes = ["src/main.ts", "src/feature.ts"].includes(path);
    return composes || other === undefined || other === "domain";
  }
  if (layer !== other) return layers[layer]?.test(target) === true;
  const [own, entered] = [featureOf(path), featureOf(target)];
  // What is beside the features' folders may enter them all, and all but their list may be used.
  if (own === undefined || own === entered) return true;
  if (entered === undefined) return target !== "src/features/index.ts";
  return pairs[own]?.includes(entered) === true;
}

/** Imports that go against domain <- storage <- service <- http, cli <- web <- features. */
const wrongImports = ({ path, imports }: Source) =>
  imports
    .filter((name) => !(name.startsWith("/") ? mayImport(path, name.slice(1)) : mayUse(path, name)))
    .map((name) => `${path} must not import ${name}`);

test("imports go from the edges to the domain", () => {
  expect(sources.length).toBeGreaterThan(50);
  expect(sources.flatMap(wrongImports)).toEqual([]);
});

test("every source file is reached from an entry, and the build knows every thread", () => {
  const workers = sources.map(({ path }) => path).filter((path) => path.endsWith(".worker.ts"));
  expect(entryPoints).toEqual(["src/main.ts", ...workers]);
  const byPath = new Map(sources.map((source) => [`/${source.path}`, source]));
  const waiting = entryPoints.map((path) => `/${path}`);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    waiting.push(...(byPath.get(path)?.imports ?? []));
    byPath.delete(path);
  }
  expect([...byPath.keys()]).toEqual([]);
});

test("the core exports nothing that only features import", () => {
  const isCore = ({ path }: Source) => !/^src\/(?:features|web)\//.test(path);
  const count = ({ code }: Source, name: string) =>
    code.match(new RegExp(`(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`, "g"))?.length ?? 0;
  const declared =
    /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type) (\w+)/gm;
  // Drizzle wants all tables in one place.
  const core = sources.filter((each) => isCore(each) && !each.path.includes("storage/schema."));
  const alone = core.flatMap((source) => {
    const users = sources.filter(({ imports }) => imports.includes(`/${source.path}`));
    const names = [...source.code.matchAll(declared)].map(([, name = ""]) => name);
    return names
      .filter((name) => {
        const using = users.filter((other) => count(other, name) > 0);
        return count(source, name) === 1 && using.length > 0 && !using.some(isCore);
      })
      .map((name) => `${source.path} ${name}`);
  });
  expect(alone).toEqual([]);
});

test("tests of this folder start no program", () => {
  const files = [...new Bun.Glob("test/**/*.test.ts").scanSync(root)];
  const tests = files.map((path) => sourceOf(path, readFileSync(join(root, path), "utf8")));
  const starts = /\bBun\.(?:spawn|\$)|(?<![.\w])(?:spawn\w*|rehome|serve|finished|startS3)\(/g;
  expect(found(tests, starts)).toEqual([]);
});

test("the domain does not know the machine, the time or chance", () => {
  // A rule may use `Bun.hash.crc32`.
  const impure =
    /(?<![.\w"'`-])(?:globalThis|Bun(?!\.hash\.crc32\()|process\.|fetch\(|performance|set(?:Timeout|Interval|Immediate)\(|queueMicrotask|new Worker|require\(|Math\.random|crypto\.\w+|new Date\(\))/g;
  const domain = sources.filter(({ path }) => path.startsWith("src/domain/"));
  expect(found(domain, impure)).toEqual([]);
});

describe("in one place only stands", () => {
  test.each<[string, readonly string[], RegExp]>([
    [
      "the environment",
      ["src/config.ts", "src/environment.ts"],
      /\b(?:process|Bun|import\.meta)\.env\b|\benv\b[^\n]*\} = (?:process|Bun);/g,
    ],
    [
      "the end of the process",
      ["src/main.ts"],
      /\bprocess\.(?:exit|exitCode|reallyExit|abort)\b|\bexit\b[^\n]*\} = process;/g,
    ],
    ["the clock", ["src/domain/clock.ts"], /\bDate\.now\b|\bnew Date\(\)|(?<!new )\bDate\(/g],
    [
      "Bun.SQL",
      ["src/features/postgres/"],
      /\bBun\.(?:SQL|sql)\b|\{[^}]*\b(?:SQL|sql)\b[^}]*\} from "bun"/g,
    ],
    [
      // Those of the console are its own, and the last are those of other servers.
      "HTTP status numbers",
      [
        "src/http/errors.ts",
        "src/http/pets.ts",
        "src/features/docs/",
        "src/features/console/",
        "src/features/sources/fetch.ts",
      ],
      // Not a measure, such as `keptDays = 400`.
      /(?<![\w.-]|(?:Ms|Seconds|Days|Bytes|Length|Size|Max|Min) = )(?:40[013459]|41[35]|422|429|50[0123])(?![\w.`]|_|\)`| [a-z])/g,
    ],
  ])("%s", (_what, places, pattern) => {
    const isAt = (place: string) => (source: Source) => source.path.startsWith(place);
    const elsewhere = sources.filter((source) => !places.some((place) => isAt(place)(source)));
    expect(found(elsewhere, pattern)).toEqual([]);
    for (const place of places.filter((each) => each.endsWith(".ts"))) {
      const isThere = found(sources.filter(isAt(place)), pattern).length > 0;
      expect([place, isThere]).toEqual([place, true]);
    }
  });
});
