/**
 * `bun scripts/mutation.ts [PART]`: changes one operator, condition or number of the source at a
 * time, in a copy, and runs the tests that hold it. Prints what no test noticed, and of each part
 * the share that was noticed; ends with 1 where it is too low.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor, type Expression } from "oxc-parser";
import { treeCopy } from "./tree-copy.ts";

/** Files of the source, and the tests that hold them. */
const parts: Readonly<Record<string, readonly [source: string, tests: string]>> = {
  domain: ["src/domain/*.ts", "test/domain"],
  limiter: ["src/service/{limiter,admission,access}.ts", "test/service"],
  words: ["src/features/import/understand/*.ts", "test/features/import"],
};
const leastPercent = 70;
const timeoutMs = 120_000;

/** What an operator becomes. */
const others: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "&&": "||",
  "||": "&&",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
};

interface Mutant {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The changes of a file. Texts of messages and types are left alone. */
function mutantsOf(path: string, text: string): Mutant[] {
  const found: Mutant[] = [];
  const turned = (operator: string, left: Expression, right: Expression) => {
    const start = text.indexOf(operator, left.end);
    const isText = operator === "+" && text.slice(left.start, right.end).includes('"');
    const other = others[operator];
    if (other === undefined || isText || start >= right.start) return;
    found.push({ start, end: start + operator.length, text: other });
  };
  new Visitor({
    BinaryExpression: ({ operator, left, right }) => turned(operator, left, right),
    LogicalExpression: ({ operator, left, right }) => turned(operator, left, right),
    Literal({ value, start, end }) {
      if (typeof value === "boolean") found.push({ start, end, text: String(!value) });
      if (typeof value === "number") found.push({ start, end, text: `(${value} + 1)` });
    },
    UnaryExpression({ operator, start }) {
      if (operator === "!") found.push({ start, end: start + 1, text: "" });
    },
    IfStatement: ({ test: { start, end } }) => void found.push({ start, end, text: "false" }),
  }).visit(parseSync(path, text).program);
  return found;
}

/** True if a test notices what stands in the copy. */
async function isNoticed(copy: string, tests: string): Promise<boolean> {
  const child = Bun.spawn([process.execPath, "test", "--timeout", "60000", "--bail", tests], {
    cwd: copy,
    stdio: ["ignore", "ignore", "ignore"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  return (await child.exited) !== 0;
}

const say = (text: string) => void process.stdout.write(`${text}\n`);

async function score(copy: string, name: string, source: string, tests: string): Promise<number> {
  if (await isNoticed(copy, tests)) throw new Error(`the tests of ${name} fail as they are`);
  let [tried, noticed] = [0, 0];
  for (const path of [...new Bun.Glob(source).scanSync(copy)].toSorted()) {
    const text = readFileSync(join(copy, path), "utf8");
    for (const { start, end, text: other } of mutantsOf(path, text)) {
      tried += 1;
      const before = text.slice(0, start);
      writeFileSync(join(copy, path), before + other + text.slice(end));
      if (await isNoticed(copy, tests)) {
        noticed += 1;
        continue;
      }
      const line = before.split("\n").length;
      say(`${path}:${line}: ${text.slice(start, end)} -> ${other || "nothing"}`);
    }
    writeFileSync(join(copy, path), text);
  }
  const percent = Math.round((100 * noticed) / Math.max(1, tried));
  say(`${name}: ${noticed} of ${tried} noticed, ${percent} %`);
  return percent;
}

using copy = treeCopy();
const [only] = process.argv.slice(2);
const scores = [];
for (const [name, [source, tests]] of Object.entries(parts)) {
  if (only === undefined || only === name) scores.push(await score(copy.path, name, source, tests));
}
process.exitCode = scores.every((percent) => percent >= leastPercent) ? 0 : 1;
