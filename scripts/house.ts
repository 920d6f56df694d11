/**
 * Prints the figures of the house: lines and files of the core and of all source, and the files
 * that a request executes. `bun run house` counts; `--list` names the executed files. A file counts
 * as executed when one of its functions runs between a request's arrival and its answer, in
 * whichever thread.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { child, parseSource } from "../test/helpers/source.ts";
import { argumentsOf } from "./arguments.ts";

const root = join(import.meta.dir, "..");
const functionTypes = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
]);
/** What happens once a second must not count: only what all these processes execute does. */
const processes = 3;
/** A start is over, and its timers have run, after this time. */
const settledMs = 1_500;

/** Files below src with their text. Styles and the page's script are source too. */
function sourceFiles(): { path: string; text: string }[] {
  const paths = [...new Bun.Glob("src/**/*.{ts,js,css}").scanSync(root)].toSorted();
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

const linesOf = (files: readonly { text: string }[]) =>
  files.reduce((sum, { text }) => sum + text.trimEnd().split("\n").length, 0);

/** The text of a module in which every function first tells that the module is executed. */
function traced(path: string, text: string): string {
  const call = `__seen(${JSON.stringify(path)})`;
  const inserts: [at: number, text: string][] = [];
  for (const node of parseSource(path, text).nodes) {
    const body = functionTypes.has(node.type) ? child(node, "body") : undefined;
    if (body === undefined) continue;
    if (body.type === "BlockStatement") inserts.push([body.start + 1, `${call};`]);
    else inserts.push([body.start, `(${call},(`], [body.end, "))"]);
  }
  let out = text;
  for (const [at, insert] of inserts.toSorted(([a], [b]) => b - a)) {
    out = out.slice(0, at) + insert + out.slice(at);
  }
  return `import { seen as __seen } from "${join(root, "scripts/house-trace.ts")}";${out}`;
}

/** Writes the tree below `tree` with every module traced, but for macros, which run before. */
function writeTraced(tree: string): void {
  cpSync(join(root, "src"), join(tree, "src"), { recursive: true });
  for (const { path, text } of sourceFiles()) {
    const isModule = path.endsWith(".ts") && !path.endsWith(".macro.ts");
    if (isModule) writeFileSync(join(tree, path), traced(path, text));
  }
  for (const path of ["node_modules", "drizzle", "package.json"]) {
    symlinkSync(join(root, path), join(tree, path));
  }
}

/**
 * The first request of a key reads the key and begins its windows. The second reads the animals
 * from the store. The fourth finds the page in the cache.
 */
const kinds = ["first", "second", "fourth"] as const;
/** The files that each of these requests executes. */
type Executed = Record<(typeof kinds)[number], ReadonlySet<string>>;

/** The files that requests to a fresh server execute. */
async function executedBy(tree: string, init: RequestInit): Promise<Executed> {
  const folder = mkdtempSync(join(tmpdir(), "rehome-house-"));
  const trace = join(folder, "trace");
  writeFileSync(trace, "");
  const flags = ["--port", "0", "--first-key", "--data", join(folder, "data")];
  const log = ["--log-file", join(folder, "log")];
  const server = Bun.spawn(
    [process.execPath, join(tree, "src/main.ts"), "serve", ...flags, ...log],
    {
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, HOUSE_TRACE: trace },
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  try {
    let banner = "";
    for await (const bytes of server.stdout) {
      banner += new TextDecoder().decode(bytes);
      if (banner.includes("Try it")) break;
    }
    const [origin] = /http:\/\/[\d.:]+/.exec(banner) ?? [];
    const [secret] = /rehome_live_\w+/.exec(banner) ?? [];
    if (origin === undefined || secret === undefined) throw new Error(`no server:\n${banner}`);
    await Bun.sleep(settledMs);
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const request = async () => {
      const before = readFileSync(trace, "utf8").length;
      const answer = await fetch(`${origin}/v1/pets`, { headers, ...init });
      await answer.text();
      if (!answer.ok) throw new Error(`the request was answered with ${answer.status}`);
      return new Set(readFileSync(trace, "utf8").slice(before).trim().split("\n"));
    };
    const first = await request();
    const second = await request();
    await request();
    return { first, second, fourth: await request() };
  } finally {
    server.kill();
    await server.exited;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The files that a request executes in every one of several servers. */
async function executedByAll(tree: string, init: RequestInit) {
  const runs = await Promise.all(Array.from({ length: processes }, () => executedBy(tree, init)));
  const inAll = (which: keyof Executed) =>
    [...(runs[0]?.[which] ?? [])]
      .filter((path) => runs.every((run) => run[which].has(path)))
      .toSorted();
  return { first: inAll("first"), second: inAll("second"), fourth: inAll("fourth") };
}

const { values } = argumentsOf({ options: { list: { type: "boolean" } } });
const files = sourceFiles();
const core = files.filter(({ path }) => !path.startsWith("src/features/"));
const print = (text: string) => void process.stdout.write(`${text}\n`);
print(`core           ${linesOf(core)} lines in ${core.length} files`);
print(`src            ${linesOf(files)} lines in ${files.length} files`);
const tree = mkdtempSync(join(tmpdir(), "rehome-traced-"));
try {
  writeTraced(tree);
  const create = { method: "POST", body: '{"name":"Rex","categoryId":1,"status":"available"}' };
  for (const [name, init] of Object.entries({ "GET /v1/pets": {}, "POST /v1/pets": create })) {
    const executed = await executedByAll(tree, init);
    const counts = kinds.map((kind) => `${executed[kind].length} (${kind})`);
    print(`${name.padEnd(14)} executes ${counts.join(", ")} files`);
    if (values.list !== true) continue;
    for (const path of executed.first) {
      const missing = kinds.filter((kind) => !executed[kind].includes(path));
      print(`  ${path}${missing.length === 0 ? "" : ` (not the ${missing.join(" and ")})`}`);
    }
  }
} finally {
  rmSync(tree, { recursive: true, force: true });
}
