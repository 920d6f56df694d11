/** The rules that hold the source together: patterns over its code without comments and texts. */
import { dirname, join } from "node:path";
import { readFileSync } from "node:fs";

/** A source file: its path from the project's root, its code, and every module that it names. */
export interface Source {
  readonly path: string;
  readonly code: string;
  readonly imports: readonly string[];
}

const named = /(?:\bfrom |\bimport |\bimport\(|new URL\()\s*"([^"]+)"(?:,?\s*import\.meta\.url)?/g;

export function sourceOf(path: string, text: string): Source {
  // The lines keep their numbers.
  const code = text
    .replaceAll(/\/\*[^]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ""))
    .replaceAll(/^\s*\/\/.*$/gm, "");
  const imports = [...code.matchAll(named)].map(([, name = ""]) => name);
  return { path, code: code.replaceAll(/(?<!from )"(?:[^"\\\n]|\\.)*"/g, '""'), imports };
}

/** All TypeScript files below `folder` of the project at `root`. */
export function readSources(root: string, folder: string): Source[] {
  const files = [...new Bun.Glob(`${folder}/**/*.ts`).scanSync({ cwd: root })].toSorted();
  return files.map((path) => sourceOf(path, readFileSync(join(root, path), "utf8")));
}

const layers = ["domain", "storage", "service", "http", "cli", "web", "features"] as const;
type Layer = (typeof layers)[number];

/** Files beside the layers. */
const top = ["version.ts", "config.ts", "feature.ts"];
/** What each layer may import of the others, beside itself. The core imports no feature. */
const allowed: Readonly<Record<Layer, readonly string[]>> = {
  domain: [],
  storage: ["domain", "version.ts"],
  service: ["domain", "storage", "version.ts"],
  http: ["domain", "service", "version.ts"],
  // The command line touches the web edge to serve.
  cli: ["domain", "storage", "service", "http/server.ts", "http/app.ts", ...top],
  web: ["domain", "storage", "service", "http", "cli", "version.ts"],
  features: ["domain", "storage", "service", "http", "cli", "web", ...top],
};
/** Features that use another one, and for what. */
const featurePairs: Readonly<Record<string, string>> = {
  "operate -> postgres": "the doctor looks into a database",
  "operate -> keys": "verify counts the keys of a backup by their states",
  "console -> keys": "what an event of a key changed",
  "import -> animals": "an import is a change, which an undo takes back",
  "sources -> animals": "a withdrawal that a person confirmed is a change",
  "sources -> import": "a followed list is imported",
  "console -> animals": "changes of animals and categories, as the commands make them",
  "console -> import": "files in and out, by a browser",
  "console -> sources": "lists that are followed, as the commands have them",
  "console -> public": "a link to the page that everybody sees",
  "console -> operate": "findings, as the commands have them",
  "animals -> schedule": "an undo pauses the list that would do it again",
  "console -> schedule": "jobs, and child processes of the program",
  "operate -> schedule": "backups are jobs, and processes are children of the program",
  "postgres -> schedule": "the doctor reads the jobs, and a copy leaves them due",
  "sources -> schedule": "pulls are jobs",
  "postgres -> operate": "one way to hold a data folder, and to look at its newest record",
};

/** Packages that belong to one layer; a feature may have them too. */
const packageHomes: readonly (readonly [pattern: RegExp, layer: Layer])[] = [
  [/^(?:elysia|@elysiajs\/.*)(?:\/|$)/, "http"],
  [/^(?:drizzle-orm(?:\/|$)|bun:sqlite$)/, "storage"],
];

const layerOf = (path: string) => layers.find((layer) => path.startsWith(`src/${layer}/`));

/** The feature that a file belongs to, or undefined for what is beside them and for the core. */
const featureOf = (path: string) => /^src\/features\/([^/]+)\//.exec(path)?.[1];

/** The project's path of what `source` imports as `name`, or undefined for a package. */
const targetOf = ({ path }: Source, name: string) =>
  name.startsWith(".") ? join(dirname(path), name) : undefined;

/** Imports that go against domain <- storage <- service <- http, cli <- web <- features. */
export function importFindings(source: Source): string[] {
  return source.imports
    .filter((name) => {
      const target = targetOf(source, name);
      return target === undefined ? !mayUse(source, name) : !mayImport(source, target);
    })
    .map((name) => `${source.path} must not import ${name}`);
}

function mayUse({ path }: Source, name: string): boolean {
  const layer = layerOf(path);
  // The global process is what rules look at.
  if (/^(?:node:)?process$/.test(name) || layer === "domain") return false;
  const home = packageHomes.find(([pattern]) => pattern.test(name))?.[1];
  return home === undefined || home === layer || layer === "features";
}

function mayImport({ path }: Source, target: string): boolean {
  if (/^(?:package\.json|scripts\/(?:licenses|migrations)\.ts)$/.test(target)) return true;
  const [layer, other] = [layerOf(path), layerOf(target)];
  if (!target.startsWith("src/")) return false;
  if (layer === undefined) {
    const composes = ["src/main.ts", "src/feature.ts"].includes(path);
    return composes || other === undefined || other === "domain";
  }
  if (layer === "features" && other === "features") return mayEnter(featureOf(path), target);
  return layer === other || allowed[layer].some((each) => `${target}/`.startsWith(`src/${each}/`));
}

/**
 * What is beside the features' folders may enter them all, and all but the list of features may be
 * used by any. A feature enters another one only where `featurePairs` says why.
 */
function mayEnter(own: string | undefined, target: string): boolean {
  const other = featureOf(target);
  const isShared = other === undefined && target !== "src/features/index.ts";
  return own === undefined || own === other || isShared || `${own} -> ${other}` in featurePairs;
}

/** Where `pattern` stands in the code of a file, as `path:line what`. */
export const found = ({ path, code }: Source, pattern: RegExp) =>
  [...code.matchAll(pattern)].map(
    ({ 0: text, index }) => `${path}:${code.slice(0, index).split("\n").length} ${text}`,
  );

/** What depends on the machine, the time or chance. A rule may use `Bun.hash.crc32`. */
export const impure =
  /(?<![.\w"'`-])(?:globalThis|Bun(?!\.hash\.crc32\()|process\.|fetch\(|performance|set(?:Timeout|Interval|Immediate)\(|queueMicrotask|new Worker|require\(|Math\.random|crypto\.\w+|new Date\(\))/g;

/** Things that stand in one place only: what to look for, and where it may be. */
export const singlePlaces: readonly {
  readonly what: string;
  readonly in: readonly string[];
  readonly pattern: RegExp;
}[] = [
  {
    what: "the environment",
    in: ["src/config.ts", "src/environment.ts"],
    pattern: /\b(?:process|Bun|import\.meta)\.env\b|\benv\b[^\n]*\} = (?:process|Bun);/g,
  },
  {
    what: "the end of the process",
    in: ["src/main.ts"],
    pattern: /\bprocess\.(?:exit|exitCode|reallyExit|abort)\b|\bexit\b[^\n]*\} = process;/g,
  },
  {
    what: "the clock",
    in: ["src/domain/clock.ts"],
    pattern: /\bDate\.now\b|\bnew Date\(\)|(?<!new )\bDate\(/g,
  },
  {
    what: "Bun.SQL",
    in: ["src/features/postgres/"],
    pattern: /\bBun\.(?:SQL|sql)\b|\{[^}]*\b(?:SQL|sql)\b[^}]*\} from "bun"/g,
  },
  {
    what: "HTTP status numbers",
    // Those of the console are its own, and the last are those of other servers.
    in: [
      "src/http/errors.ts",
      "src/http/routes/",
      "src/features/docs/",
      "src/features/console/",
      "src/features/sources/fetch.ts",
    ],
    // Not a measure, such as `keptDays = 400`.
    pattern:
      /(?<![\w.-]|(?:Ms|Seconds|Days|Bytes|Length|Size|Max|Min) = )(?:40[013459]|41[35]|422|429|50[0123])(?![\w.`]|_|\)`| [a-z])/g,
  },
];

/** The files of `sources` that no chain of imports reaches from `entries`. */
export function unreachable(sources: readonly Source[], entries: readonly string[]): string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const reached = new Set<string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const source = byPath.get(path);
    if (source === undefined || reached.has(path)) continue;
    reached.add(path);
    for (const name of source.imports) waiting.push(targetOf(source, name) ?? "");
  }
  return sources.map(({ path }) => path).filter((path) => !reached.has(path));
}

/** What belongs to no feature, and to nothing that only features use. */
const isCore = ({ path }: Source) => !/^src\/(?:features|web)\//.test(path);

const count = ({ code }: Source, name: string) =>
  code.match(new RegExp(`(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`, "g"))?.length ?? 0;

/** The core's exports that a feature imports and nothing of the core uses, as `path name`. */
export function exportsForFeaturesAlone(sources: readonly Source[]): string[] {
  return sources.filter(isCore).flatMap((source) => {
    const users = sources.filter(
      (other) =>
        other !== source && other.imports.some((name) => targetOf(other, name) === source.path),
    );
    const declared =
      /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type) (\w+)/gm;
    return [...source.code.matchAll(declared)]
      .map(([, name = ""]) => name)
      .filter((name) => {
        const using = users.filter((other) => count(other, name) > 0);
        return count(source, name) === 1 && using.length > 0 && !using.some(isCore);
      })
      .map((name) => `${source.path} ${name}`);
  });
}
