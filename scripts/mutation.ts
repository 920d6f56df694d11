/**
 * `bun scripts/mutation.ts [--least PERCENT] [--only PART] [--every N]`: changes one operator,
 * condition or number of the source at a time, in a copy, and runs the tests that hold it. Prints
 * what no test noticed, and of each part the share that was noticed; ends with 1 below the least.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lineOf, type Node, parseSource, type Source } from "../test/helpers/source.ts";
import { argumentsOf } from "./arguments.ts";
import { treeCopy } from "./tree-copy.ts";

/** Files of the source, and the tests that hold them. */
const parts: Readonly<Record<string, readonly [source: string, tests: string]>> = {
  domain: ["src/domain/*.ts", "test/domain"],
  limiter: ["src/service/{limiter,admission,anonymous,access}.ts", "test/service"],
  "words of lists": ["src/features/import/understand/*.ts", "test/features/import"],
};

const { values } = argumentsOf({
  options: {
    least: { type: "string", default: "70" },
    only: { type: "string" },
    every: { type: "string", default: "1" },
  },
});

const root = join(import.meta.dir, "..");
const timeoutMs = 120_000;

/** What an operator becomes. */
const others = new Map(
  [
    "< <=",
    "<= <",
    "> >=",
    ">= >",
    "=== !==",
    "!== ===",
    "&& ||",
    "|| &&",
    "+ -",
    "- +",
    "* /",
    "/ *",
  ].map((pair) => pair.split(" ") as [string, string]),
);

interface Mutant {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The changes of one node, if any. Texts of messages and types are left alone. */
function mutantsOf({ text }: Source, node: Node): Mutant[] {
  const { type, start, end } = node;
  if (type === "BinaryExpression" || type === "LogicalExpression") {
    const operator = String(node["operator"]);
    const other = others.get(operator);
    const [left, right] = [node["left"], node["right"]] as [Node, Node];
    const at = text.indexOf(operator, left.end);
    const isText = text.slice(left.start, right.end).includes('"') && operator === "+";
    if (other === undefined || at === -1 || at >= right.start || isText) return [];
    return [{ start: at, end: at + operator.length, text: other }];
  }
  if (type === "Literal" && typeof node["value"] === "boolean") {
    return [{ start, end, text: String(!node["value"]) }];
  }
  if (type === "Literal" && typeof node["value"] === "number") {
    return [{ start, end, text: `(${text.slice(start, end)} + 1)` }];
  }
  if (type === "UnaryExpression" && node["operator"] === "!") {
    return [{ start, end: start + 1, text: "" }];
  }
  if (type === "IfStatement") {
    const condition = node["test"] as Node;
    return [{ start: condition.start, end: condition.end, text: "false" }];
  }
  return [];
}

/** True if a test notices what stands in the copy. */
async function isNoticed(copy: string, tests: string): Promise<boolean> {
  const child = Bun.spawn([process.execPath, "test", "--timeout", "60000", "--bail", tests], {
    cwd: copy,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  await Promise.all([child.stdout.text(), child.stderr.text()]);
  const exitCode = await child.exited;
  clearTimeout(timer);
  return exitCode !== 0;
}

const say = (text: string) => void process.stdout.write(`${text}\n`);

async function score(copy: string, name: string): Promise<number> {
  const [source, tests] = parts[name] ?? ["", ""];
  const every = Number(values.every);
  if (await isNoticed(copy, tests)) throw new Error(`the tests of ${name} fail as they are`);
  let [seen, noticed] = [0, 0];
  for (const path of [...new Bun.Glob(source).scanSync(root)].toSorted()) {
    const text = readFileSync(join(root, path), "utf8");
    const parsed = parseSource(path, text);
    for (const { start, end, text: other } of parsed.nodes.flatMap((node) =>
      mutantsOf(parsed, node),
    )) {
      seen += 1;
      if (seen % every !== 0) continue;
      writeFileSync(join(copy, path), text.slice(0, start) + other + text.slice(end));
      if (await isNoticed(copy, tests)) noticed += 1;
      else
        say(`${path}:${lineOf(parsed, start)}: ${text.slice(start, end)} -> ${other || "nothing"}`);
    }
    writeFileSync(join(copy, path), text);
  }
  const tried = Math.floor(seen / every);
  const percent = tried === 0 ? 100 : Math.round((100 * noticed) / tried);
  say(`${name}: ${noticed} of ${tried} noticed, ${percent} %`);
  return percent;
}

using copy = treeCopy();
const names = Object.keys(parts).filter((name) => [name, undefined].includes(values.only));
const scores = [];
for (const name of names) scores.push(await score(copy.path, name));
process.exitCode = scores.every((percent) => percent >= Number(values.least)) ? 0 : 1;
