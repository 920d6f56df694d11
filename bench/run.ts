// `bun run bench`: what a request costs beside Hono, in one run; and the other measurements, each as
// a command of it.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { memory, startTimes } from "./endurance.ts";
import { type Plan, measure } from "./measure.ts";
import { DidNotRun, moveToLoadCore, run } from "./process.ts";
import { buildService } from "./rehome.ts";
import { environment, type OrReason, promiseTable, report, type Results } from "./report.ts";
import { flat, main } from "./scenarios.ts";
import { makeStores } from "./stores.ts";
import { compileYardstick } from "./yardsticks.ts";

/** Measurements of their own, by the command that runs them. */
const others: Readonly<Record<string, { file: string; about: string }>> = {
  compare: { file: "compare.ts", about: "two executables in turns, also `bun run compare`" },
  import: { file: "import.ts", about: "rows a second of `rehome pets import`" },
};

interface Options {
  readonly quick?: true;
  readonly rounds: number;
  readonly seconds: number;
  readonly memorySeconds: number;
  readonly only?: readonly string[];
  readonly peer: boolean;
  readonly keep?: true;
}

const say = (text: string): void => {
  process.stderr.write(text);
};

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text))
    throw new InvalidArgumentError("It must be a number from 1 on.");
  return Number(text);
}

function parse(): Options {
  const lines = Object.entries(others).map(([name, { about }]) => `  ${name.padEnd(10)}${about}`);
  const command = new Command("bun run bench")
    .description("Measures dist/rehome beside Hono, in one run.")
    .option("--quick", "one short round without the peer and the large stores (two minutes)")
    .option("--rounds <n>", "rounds of every target", wholeNumber)
    .option("--seconds <n>", "seconds of every round", wholeNumber)
    .option("--memory-seconds <n>", "seconds of load for the memory figure", wholeNumber)
    .option("--only <names>", "scenarios by name, with commas between", (text) => text.split(","))
    .option("--no-peer", "without the peer")
    .option("--keep", "do not remove the stores and logs of the run")
    .addHelpText("after", `\nOther measurements: bun run bench NAME\n${lines.join("\n")}`)
    .parse();
  const options = command.opts<Partial<Options>>();
  const [rounds, seconds, memorySeconds] = options.quick ? [1, 2, 10] : [4, 3, 600];
  return { rounds, seconds, memorySeconds, ...options, peer: !options.quick && !!options.peer };
}

/** Runs `work`; a figure that must not be shown becomes its reason. */
async function orReason<T>(work: () => Promise<T>): Promise<OrReason<T>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DidNotRun) return { reason: error.message };
    throw error;
  }
}

async function bench(options: Options, folder: string): Promise<Results> {
  const how = ["bun run bench", ...process.argv.slice(2)].join(" ");
  const about = await environment(folder, how);
  say("building dist/rehome and the yardstick\n");
  await buildService();
  await compileYardstick();
  const stores = await makeStores(folder, options.rounds, say);
  const world = { stores, withPeer: options.peer };
  const all = [...main(world), ...flat(world)];
  const names = [...all.map(({ name }) => name), "start", "memory"];
  const unknown = options.only?.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new DidNotRun(`no scenario ${unknown}; there are ${names.join(", ")}`);
  }
  const wanted = (name: string): boolean =>
    options.only?.includes(name) ?? !(options.quick && /^(?:flat-|deep|create-256)/.test(name));
  const { rounds, seconds } = options;
  const plan: Plan = { rounds, seconds, warmupSeconds: options.quick ? 1 : 2, folder, say };
  const scenarios: Results["scenarios"][number][] = [];
  for (const scenario of all.filter(({ name }) => wanted(name))) {
    say(scenario.name.padEnd(16));
    scenarios.push(await measure(scenario, plan));
    say("\n");
  }
  const results: Results = { environment: about, scenarios };
  if (wanted("start")) {
    say("start\n");
    const starts = options.quick ? 5 : 20;
    Object.assign(results, { start: await orReason(() => startTimes(stores, starts)) });
  }
  if (wanted("memory")) {
    say("memory\n");
    const work = () => memory(stores, folder, options.memorySeconds);
    Object.assign(results, { memory: await orReason(work) });
  }
  return results;
}

/** Writes bench/RESULTS.md, as `bun run check` wants every file to be. */
async function writeResults(text: string): Promise<void> {
  const file = join(import.meta.dir, "RESULTS.md");
  await Bun.write(file, text);
  await run([process.execPath, "fmt", "--no-script", file]);
}

async function mainTable(options: Options): Promise<void> {
  if (process.platform !== "linux") throw new DidNotRun("the bench reads /proc: it needs Linux");
  if (cpus().length < 2) say("One core: the load takes its share of it. Compare ratios only.\n");
  await moveToLoadCore();
  const base = process.env.BENCH_DIR ?? tmpdir();
  mkdirSync(base, { recursive: true });
  const folder = mkdtempSync(join(base, "rehome-bench-"));
  try {
    const results = await bench(options, folder);
    const text = report(results);
    process.stdout.write(`${text}\n`);
    // A part of the bench must not stand where the whole is looked for.
    const isWhole = options.peer && options.only === undefined && !options.quick;
    if (isWhole) await writeResults(text);
    say(`${promiseTable(results)}\n`);
  } finally {
    if (options.keep) say(`kept ${folder}\n`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

const other = others[process.argv[2] ?? ""];
if (other !== undefined) {
  process.argv.splice(2, 1);
  await import(`./${other.file}`);
} else {
  try {
    await mainTable(parse());
  } catch (error) {
    if (!(error instanceof DidNotRun)) throw error;
    say(`Error: ${error.message}\n`);
    process.exitCode = 1;
  }
}
