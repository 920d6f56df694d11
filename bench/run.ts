// `bun run bench`: what a request costs beside a bare server and beside the peers, in one run.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { compile } from "./bare-target.ts";
import { comparison } from "./saved.ts";
import { memory, startTimes } from "./endurance.ts";
import { environment, unfit } from "./environment.ts";
import { animalScenarios, keyScenarios } from "./flat.ts";
import { type Plan, type Scenario, measure } from "./measure.ts";
import { allPeers, installPeers, once } from "./peer-store.ts";
import { DidNotRun, loadCore, run } from "./process.ts";
import { root, buildService } from "./rehome.ts";
import { type OrReason, type Results, goalTable, report, scenarioTable } from "./report.ts";
import { scenarios } from "./scenarios.ts";
import {
  animalStores,
  keyStores,
  lazy,
  makeKeys,
  makeUpKeys,
  missing,
  peerStore,
} from "./stores.ts";

const animalCount = 100_000;
const fewAnimals = 1000;
const manyAnimals = 1_000_000;
const fewKeys = 10;
const manyKeys = 100_000;
const startCount = 20;
/** What --quick leaves out, because it takes minutes or is about the peers. */
const notQuick = /^flat-|^memory$|^start$|^create-relaxed$|^401-many$|^get-cold$|^ladder$/;

interface Options {
  readonly quick?: true;
  readonly rounds: number;
  readonly seconds: number;
  readonly memorySeconds: number;
  readonly peers?: boolean;
  readonly only?: readonly string[];
  readonly save?: string;
  readonly compare?: string;
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
  const command = new Command("bun run bench")
    .description("Measures dist/rehome beside a bare Bun.serve and beside the peers, in one run.")
    .option("--quick", "one short round without the peers and the large stores (about 90 seconds)")
    .option("--rounds <n>", "rounds of every target", wholeNumber)
    .option("--seconds <n>", "seconds of every round", wholeNumber)
    .option("--memory-seconds <n>", "seconds of load for the memory figure", wholeNumber, 60)
    .option("--only <names>", "scenarios by name, with commas between", (text) => text.split(","))
    .option("--peers", "with the peers, also with --quick")
    .option("--no-peers", "without the peers")
    .option("--save <name>", "keep the figures: a file, or a name for dist/bench/NAME.json")
    .option("--compare <name>", "show what changed since figures that were kept")
    .option("--keep", "do not remove the stores and logs of the run")
    .parse();
  const options = command.opts<Partial<Options>>();
  const [rounds, seconds] = options.quick ? [1, 2] : [5, 4];
  return { rounds, seconds, memorySeconds: 60, ...options };
}

/** `name` itself when it is a file's, else a file in dist/bench. */
const savedFile = (name: string): string =>
  /[/.]/.test(name) ? name : join(root, "dist", "bench", `${name}.json`);

/** Runs `work`; a figure that must not be shown becomes its reason. */
async function orReason<T>(work: () => Promise<T>): Promise<OrReason<T>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DidNotRun) return { reason: error.message };
    throw error;
  }
}

async function tryBuild(): Promise<string | undefined> {
  say("building dist/rehome and the bare servers\n");
  await compile("bare");
  await compile("one-commit");
  await compile("rung");
  const built = await orReason(async () => {
    await buildService();
    return { reason: undefined };
  });
  return built.reason;
}

/** Everything that can be measured, each part with the stores it needs. */
function everything(options: Options, folder: string, noService: string | undefined) {
  const { rounds } = options;
  const keyFolder =
    noService === undefined ? lazy(() => makeKeys(folder, rounds)) : missing(noService);
  const dataOf = animalStores(folder, keyFolder, say);
  const byKeys = keyStores(folder, fewAnimals, fewKeys, manyKeys, say);
  const guarded = <T>(work: () => Promise<T>): (() => Promise<T>) =>
    noService === undefined ? work : missing(noService);
  const main = async (): Promise<Scenario[]> => {
    const made = await orReason(keyFolder);
    const keys = "reason" in made ? makeUpKeys(rounds) : made.keys;
    const withPeers = options.peers ?? !options.quick;
    return scenarios({
      keys,
      animals: animalCount,
      data: dataOf(animalCount),
      peerStore: peerStore(folder, animalCount, () => keys),
      peers: withPeers ? allPeers : [],
      installed: once(() => installPeers(say)),
    });
  };
  const flat: Scenario[] = [
    ...animalScenarios({
      key: async () => (await keyFolder()).keys.unbounded,
      few: fewAnimals,
      middle: animalCount,
      many: manyAnimals,
      dataOf,
    }),
    ...keyScenarios({
      few: guarded(byKeys.few),
      fewCount: fewKeys,
      many: guarded(byKeys.many),
      manyCount: manyKeys,
    }),
  ];
  const source = async () => {
    const { keys } = await keyFolder();
    return { data: dataOf(animalCount), key: keys.unbounded, animals: animalCount, folder };
  };
  return { main, flat, source };
}

/** Which scenarios run. Throws DidNotRun for a name that is none. */
function selection({ only, quick }: Options, names: readonly string[]) {
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new DidNotRun(`no scenario ${unknown}; there are ${names.join(", ")}`);
  }
  return (name: string): boolean => only?.includes(name) ?? !(quick && notQuick.test(name));
}

async function bench(options: Options, folder: string): Promise<Results> {
  const how = ["bun run bench", ...process.argv.slice(2)].join(" ");
  const about = await environment(folder, how);
  const noService = await tryBuild();
  if (noService !== undefined) say(`rehome: ${noService}\n`);
  const { main, flat, source } = everything(options, folder, noService);
  const all = [...(await main()), ...flat];
  const wanted = selection(options, [...all.map(({ name }) => name), "memory", "start"]);
  const plan: Plan = {
    rounds: options.rounds,
    seconds: options.seconds,
    warmupSeconds: options.quick ? 1 : 2,
    folder,
    say,
  };
  const results: Results["scenarios"][number][] = [];
  for (const scenario of all.filter(({ name }) => wanted(name))) {
    say(scenario.name.padEnd(16));
    const result = await measure(scenario, plan);
    results.push(result);
    say(`\n${scenarioTable(result)}\n\n`);
  }
  const kept = <T>(name: string, work: () => Promise<T>) => {
    if (!wanted(name)) return undefined;
    say(`${name}\n`);
    return orReason(work);
  };
  const start = await kept("start", async () => startTimes(await source(), startCount));
  const memoryUse = await kept("memory", async () => memory(await source(), options.memorySeconds));
  return {
    environment: about,
    scenarios: results,
    ...(start === undefined ? {} : { start }),
    ...(memoryUse === undefined ? {} : { memory: memoryUse }),
  };
}

/** Writes bench/RESULTS.md, as `bun run check` wants every file to be. */
async function keepResults(text: string): Promise<void> {
  const file = join(import.meta.dir, "RESULTS.md");
  await Bun.write(file, text);
  await run([process.execPath, "fmt", "--no-script", file]);
}

async function main(): Promise<number> {
  const options = parse();
  const reason = unfit();
  if (reason !== undefined) throw new DidNotRun(reason);
  // The bench itself stays off the server's core, and so does all it starts but the servers.
  await run(["taskset", "-a", "-p", "-c", String(loadCore), String(process.pid)]);
  const before =
    options.compare === undefined
      ? undefined
      : ((await Bun.file(savedFile(options.compare)).json()) as Results);
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "rehome-bench-"));
  try {
    const results = await bench(options, folder);
    const text = report(results, allPeers);
    process.stdout.write(`${text}\n`);
    if (options.save !== undefined) {
      mkdirSync(join(root, "dist", "bench"), { recursive: true });
      await Bun.write(savedFile(options.save), JSON.stringify(results));
    }
    // A part of the bench must not stand where the whole is looked for.
    const whole = !options.quick && options.only === undefined && options.peers !== false;
    if (whole) await keepResults(text);
    say(`${goalTable(results)}\n`);
    if (before !== undefined) say(`\n${comparison(before, results)}\n`);
    return 0;
  } finally {
    if (!options.keep) rmSync(folder, { recursive: true, force: true });
    else say(`kept ${folder}\n`);
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof DidNotRun)) throw error;
  say(`Error: ${error.message}\n`);
  process.exitCode = 1;
}
