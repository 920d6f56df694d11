import { dirname, join } from "node:path";
import { child, children, lineOf, nameOf, type Node, numberOf, type Source } from "./source.ts";

/** What a rule found wrong: `path:line what`. */
type Finding = string;

const layers = ["domain", "storage", "service", "http", "cli", "web", "features"] as const;
type Layer = (typeof layers)[number];

/** What each layer may import of the others, beside itself. The core imports no feature. */
const allowedLayers: Readonly<Record<Layer, readonly Layer[]>> = {
  domain: [],
  storage: ["domain"],
  service: ["domain", "storage"],
  http: ["domain", "service"],
  cli: ["domain", "storage", "service", "http"],
  web: ["domain", "storage", "service", "http", "cli"],
  features: ["domain", "storage", "service", "http", "cli", "web"],
};
/** The command line touches the web edge to serve. */
const httpForCli = ["src/http/server.ts", "src/http/app.ts"];
/** Files beside the layers that a layer may import. */
const sharedFiles: Readonly<Record<Layer, readonly string[]>> = {
  domain: [],
  storage: ["src/version.ts"],
  service: ["src/version.ts"],
  http: ["src/version.ts"],
  cli: ["src/version.ts", "src/config.ts", "src/feature.ts"],
  web: ["src/version.ts"],
  features: ["src/version.ts", "src/config.ts", "src/feature.ts"],
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

function layerOf(path: string): Layer | undefined {
  return layers.find((layer) => path.startsWith(`src/${layer}/`));
}

/** The feature that a file belongs to, or undefined for what is beside them and for the core. */
function featureOf(path: string): string | undefined {
  return /^src\/features\/([^/]+)\//.exec(path)?.[1];
}

/** The project's path of what `source` imports as `name`, or undefined for a package. */
function targetOf(source: Source, name: string): string | undefined {
  return name.startsWith(".") ? join(dirname(source.path), name) : undefined;
}

/** Imports that go against domain <- storage <- service <- http, cli <- web <- features. */
export function importFindings(source: Source): Finding[] {
  const layer = layerOf(source.path);
  return source.imports.flatMap((name) => {
    const target = targetOf(source, name);
    const why =
      target === undefined ? packageProblem(layer, name) : fileProblem(source, layer, target);
    return why === undefined ? [] : [`${source.path} imports ${name}: ${why}`];
  });
}

function packageProblem(layer: Layer | undefined, name: string): string | undefined {
  if (name === "node:process" || name === "process")
    return "the global process is what rules look at";
  if (layer === "domain") return "the domain is pure";
  const home = packageHomes.find(([pattern]) => pattern.test(name))?.[1];
  const isAtHome = home === undefined || home === layer || layer === "features";
  return isAtHome ? undefined : `only src/${home} may`;
}

function fileProblem(source: Source, layer: Layer | undefined, target: string): string | undefined {
  if (/^(?:package\.json|drizzle\/.*\.sql|scripts\/licenses\.ts)$/.test(target)) return undefined;
  if (!target.startsWith("src/")) return "it is not in src";
  const other = layerOf(target);
  if (layer === undefined) {
    const composes = ["src/main.ts", "src/feature.ts"].includes(source.path);
    return composes || other === undefined || other === "domain" ? undefined : "it stands below";
  }
  if (other === undefined) {
    return sharedFiles[layer].includes(target) ? undefined : `src/${layer} must not`;
  }
  if (layer === "cli" && other === "http") {
    return httpForCli.includes(target) ? undefined : "the command line only serves";
  }
  if (layer === "features" && other === "features") return featureProblem(source.path, target);
  return other === layer || allowedLayers[layer].includes(other)
    ? undefined
    : `src/${layer} must not`;
}

/**
 * What is beside the features' folders may enter them all, and all but the list of features may be
 * used by any. A feature enters another one only where `featurePairs` says why.
 */
function featureProblem(from: string, target: string): string | undefined {
  const [own, other] = [featureOf(from), featureOf(target)];
  const isShared = other === undefined && target !== "src/features/index.ts";
  const isAllowed =
    own === undefined || own === other || isShared || `${own} -> ${other}` in featurePairs;
  return isAllowed ? undefined : `${own} must not use ${other ?? "the list of features"}`;
}

/** Uses of a name such as `process.env` by expressions, alone or before a member. */
function uses(source: Source, isMeant: (name: string, node: Node) => boolean): Finding[] {
  const found = source.nodes.flatMap((node) => {
    const name = nameOf(node);
    return name !== undefined && isMeant(name, node)
      ? [`${source.path}:${lineOf(source, node.start)} ${name}`]
      : [];
  });
  return [...new Set(found)];
}

/** What depends on the machine, the time or chance. A rule may use the name `crypto`. */
const impureNames =
  /^(?:globalThis|Bun|process|fetch|performance|set(?:Timeout|Interval|Immediate)|queueMicrotask|Worker|require|Math\.random|crypto\.\w+)$/;

/** A function of Bun's that depends on its arguments alone. */
const pureCall = "Bun.hash.crc32(";

/** Uses of anything impure. */
export function impureFindings(source: Source): Finding[] {
  const isPure = ({ start }: Node) => source.text.startsWith(pureCall, start);
  return uses(source, (name, node) => impureNames.test(name) && !isPure(node));
}

/** Things that stand in one place only: what to look for, and where it may be. */
export const singlePlaces: readonly {
  readonly what: string;
  readonly in: readonly string[];
  readonly find: (source: Source) => Finding[];
}[] = [
  {
    what: "the environment",
    in: ["src/config.ts", "src/environment.ts"],
    find: (source) => [
      ...uses(source, (name) => /^(?:globalThis\.)?(?:process|Bun|import\.meta)\.env$/.test(name)),
      ...destructured(source, "process", "env"),
      ...destructured(source, "Bun", "env"),
    ],
  },
  {
    what: "the end of the process",
    in: ["src/main.ts"],
    find: (source) => [
      ...uses(source, (name) => /^process\.(?:exit|exitCode|reallyExit|abort)$/.test(name)),
      ...destructured(source, "process", "exit"),
    ],
  },
  {
    what: "the clock",
    in: ["src/domain/clock.ts"],
    find: (source) => [
      ...uses(source, (name) => name === "Date.now"),
      ...source.nodes
        .filter(({ type }) => type === "NewExpression" || type === "CallExpression")
        .filter((node) => nameOf(child(node, "callee")) === "Date")
        .map((node) => `${source.path}:${lineOf(source, node.start)} Date()`),
    ],
  },
  {
    what: "Bun.SQL",
    in: ["src/features/postgres/"],
    find: (source) => [
      ...uses(source, (name) => /^Bun\.(?:SQL|sql)$/.test(name)),
      ...source.nodes
        .filter(({ type }) => type === "ImportSpecifier")
        .filter((node) => /^(?:SQL|sql)$/.test(nameOf(child(node, "imported")) ?? ""))
        .filter(() => source.imports.includes("bun"))
        .map((node) => `${source.path}:${lineOf(source, node.start)} SQL of bun`),
    ],
  },
  {
    what: "HTTP status numbers",
    // The last are those of other servers.
    in: [
      "src/http/errors.ts",
      "src/http/routes/",
      "src/features/docs/",
      "src/features/sources/fetch.ts",
    ],
    find: (source) =>
      source.nodes
        .filter((node) => node.type === "Literal" && statuses.has(Number(node["raw"])))
        .filter((node) => !measures(source).has(node))
        .map((node) => `${source.path}:${lineOf(source, node.start)} ${String(node["raw"])}`),
  },
];
/** The statuses of refusals and failures that the service answers with. */
const statuses = new Set([400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 500, 501, 502, 503]);

/** Numbers that a constant with a unit at its end holds, such as `keptDays = 400`. */
function measures(source: Source): ReadonlySet<Node | undefined> {
  const named = source.nodes.filter(
    (node) =>
      node.type === "VariableDeclarator" &&
      /(?:Ms|Seconds|Days|Bytes|Length|Size|Max|Min)$/.test(nameOf(child(node, "id")) ?? ""),
  );
  return new Set(named.map((node) => child(node, "init")));
}

/** `const { env } = process`. */
function destructured(source: Source, object: string, property: string): Finding[] {
  return source.nodes
    .filter((node) => node.type === "VariableDeclarator" && nameOf(child(node, "init")) === object)
    .filter((node) =>
      children(child(node, "id") ?? node, "properties").some(
        (each) => nameOf(child(each, "key")) === property,
      ),
    )
    .map((node) => `${source.path}:${lineOf(source, node.start)} ${property} of ${object}`);
}

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

const sleepMaxMs = 1_000;

/** Waits of more than a second, as `path:line`. A timer as a deadline is none. */
export function longSleeps(source: Source): Finding[] {
  return source.nodes.flatMap((node) => {
    const waitMs = numberOf(waitOf(node));
    return waitMs !== undefined && waitMs > sleepMaxMs
      ? [`${source.path}:${lineOf(source, node.start)} sleeps ${waitMs} ms`]
      : [];
  });
}

/** How long `node` waits, where it is a wait. */
function waitOf(node: Node): Node | undefined {
  const callee = nameOf(child(node, "callee"));
  const [first] = children(node, "arguments");
  if (node.type === "CallExpression" && /^(?:Bun\.)?sleep(?:Sync)?$/.test(callee ?? ""))
    return first;
  if (node.type !== "NewExpression" || callee !== "Promise" || first === undefined)
    return undefined;
  const body = child(first, "body");
  const [statement, ...more] = body?.type === "BlockStatement" ? children(body, "body") : [];
  const only = more.length > 0 ? undefined : (child(statement, "expression") ?? body);
  if (nameOf(child(only, "callee")) !== "setTimeout" || only === undefined) return undefined;
  return children(only, "arguments")[1];
}

/** What belongs to no feature, and to nothing that only features use. */
const isCore = ({ path }: Source) => !/^src\/(?:features|web)\//.test(path);

/** The core's exports that a feature imports and nothing of the core uses, as `path name`. */
export function exportsForFeaturesAlone(sources: readonly Source[]): Finding[] {
  const named = new Map(sources.map((source) => [source, identifiersOf(source)] as const));
  const count = (source: Source, name: string) => named.get(source)?.get(name) ?? 0;
  return sources.filter(isCore).flatMap((source) => {
    const users = sources.filter(
      (other) =>
        other !== source && other.imports.some((name) => targetOf(other, name) === source.path),
    );
    return exportedBy(source)
      .filter((name) => count(source, name) === 1)
      .filter((name) => {
        const using = users.filter((other) => count(other, name) > 0);
        return using.length > 0 && !using.some(isCore);
      })
      .map((name) => `${source.path} ${name}`);
  });
}

/** How often each identifier stands in a file. */
function identifiersOf({ nodes }: Source): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const node of nodes) {
    if (node.type !== "Identifier") continue;
    const name = String(node["name"]);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function exportedBy({ nodes }: Source): string[] {
  return nodes
    .filter(({ type }) => type === "ExportNamedDeclaration")
    .flatMap((node) => {
      const declaration = child(node, "declaration");
      if (declaration === undefined) return [];
      const ids =
        declaration.type === "VariableDeclaration"
          ? children(declaration, "declarations").map((each) => child(each, "id"))
          : [child(declaration, "id")];
      return ids.flatMap((id) => nameOf(id) ?? []);
    });
}
