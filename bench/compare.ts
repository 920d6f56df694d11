// `bun run compare OLD NEW`: what two executables need for the same work, in turns on one machine,
// and what the old one needs beside itself: that is how far the machine can be trusted.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { writeAnimals } from "./animals.ts";
import { type Request, runLoad } from "./load.ts";
import {
  DidNotRun,
  type Running,
  afterStart,
  atRest,
  cpuUsBetween,
  freePort,
  moveToLoadCore,
  run,
  startServer,
  startTime,
  usage,
} from "./process.ts";
import { unknownKey } from "./rehome.ts";
import { median } from "./stats.ts";

interface Options {
  readonly rounds: number;
  readonly requests: number;
  readonly starts: number;
  readonly only?: readonly string[];
}

interface Side {
  readonly executable: string;
  readonly data: string;
  /** Where its log goes, as users have it: standard error, at its default level. */
  readonly log: string;
}

interface Work {
  readonly name: string;
  readonly statuses: readonly number[];
  readonly requests: readonly Request[];
}

const animalCount = 100_000;
const connections = 64;
const warmupCount = 10_000;
/** A ratio counts while the old executable beside itself is within this of 1. */
const noiseMax = 0.05;

const say = (text: string): void => {
  process.stderr.write(text);
};

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text))
    throw new InvalidArgumentError("It must be a number from 1 on.");
  return Number(text);
}

/** Runs a command of the executable on a folder and returns the key that it made. */
async function createKey(executable: string, data: string, perMinute: number): Promise<string> {
  const limits = ["--per-minute", String(perMinute), "--per-day", String(perMinute)];
  const name = `${perMinute}-${crypto.randomUUID()}`;
  const command = ["keys", "create", "--plan", "enterprise", ...limits, "--name", name];
  const out = await run([executable, ...command, "--data", data, "--json"]);
  return (JSON.parse(out) as { key: string }).key;
}

/** The work, for keys that the folder knows. */
async function works(executable: string, data: string): Promise<Work[]> {
  const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
  const get = (path: string, key: string): Request => ({
    method: "GET",
    path,
    headers: bearer(key),
  });
  const key = await createKey(executable, data, 1_000_000_000);
  // It is used up for the day by the warm-up, whatever minute the rounds fall in.
  const usedUp = await createKey(executable, data, 1);
  const body = JSON.stringify({ name: "Rex", categoryId: 1, status: "available" });
  const headers = { ...bearer(key), "Content-Type": "application/json" };
  const create: Request = { method: "POST", path: "/v1/pets", headers, body };
  const ids = Array.from({ length: 1000 }, (_, i) => 1 + ((i * 7919) % animalCount));
  return [
    { name: "list", statuses: [200], requests: [get("/v1/pets", key)] },
    { name: "get", statuses: [200], requests: ids.map((id) => get(`/v1/pets/${id}`, key)) },
    { name: "401", statuses: [401], requests: [get("/v1/pets", unknownKey())] },
    { name: "429", statuses: [429], requests: [get("/v1/pets", usedUp)] },
    { name: "create", statuses: [201], requests: [create] },
    // Of twenty requests, nineteen are pages among a thousand, and one adds an animal.
    {
      name: "mixed",
      statuses: [200, 201],
      requests: ids.flatMap((id, i) => [
        get(`/v1/pets?after=${id}`, key),
        ...(i % 19 === 18 ? [create] : []),
      ]),
    },
  ];
}

const serve = ({ executable, data }: Side, port: number): string[] => {
  // A used-up key stays a used-up key: a ban would measure another answer.
  const options = ["--anonymous-per-minute", "1000000000", "--bans", "off"];
  return [executable, "serve", "--port", `${port}`, "--data", data, ...options];
};

async function started(side: Side): Promise<Running> {
  const port = await freePort();
  return await startServer({ command: serve(side, port), port, stderrFile: side.log });
}

/** Processor time of one request in microseconds, over `total` of them. Throws DidNotRun. */
async function costOf({ pid, port }: Running, work: Work, total: number): Promise<number> {
  const { requests } = work;
  // The first requests find nothing compiled, and use up the key of the 429.
  await runLoad({ port, connections, requests, total: warmupCount });
  const before = await atRest(pid);
  const counted = await runLoad({ port, connections, requests, total });
  const after = await atRest(pid);
  const right = work.statuses.reduce((sum, each) => sum + (counted.statuses[each] ?? 0), 0);
  const wrong = total - right;
  if (wrong > 0)
    throw new DidNotRun(`${wrong} of ${total} responses were not ${work.statuses.join(" or ")}`);
  return cpuUsBetween(before, after) / total;
}

type Figures = ReadonlyMap<string, number>;

/** One round of one side. It has a process of its own: two processes of one program differ too. */
async function round(side: Side, works: readonly Work[], { requests }: Options): Promise<Figures> {
  const server = await started(side);
  try {
    const atStart = (await afterStart(server.pid)).anonymousMiB;
    const figures = new Map([["RssAnon at rest", atStart]]);
    for (const work of works) figures.set(work.name, await costOf(server, work, requests));
    return figures.set("RssAnon at the end", usage(server.pid).anonymousMiB);
  } finally {
    await server.stop();
  }
}

/** The figures of the three sides, one of each a round; each round begins with another side. */
async function inTurns<T>(rounds: number, one: (side: Side) => Promise<T>, sides: readonly Side[]) {
  const results: T[][] = sides.map(() => []);
  for (let i = 0; i < rounds; i++) {
    for (let turn = 0; turn < sides.length; turn++) {
      const side = (i + turn) % sides.length;
      results[side]?.push(await one(sides[side] as Side));
    }
    say(".");
  }
  return results as [T[], T[], T[]];
}

/** A row: medians, the ratio within a round, and what the old one has beside itself. */
function line(
  name: string,
  [old, again, fresh]: readonly [readonly number[], readonly number[], readonly number[]],
): string {
  const unit = name === "start" ? "ms" : name.startsWith("Rss") ? "MiB" : "µs";
  const ratiosOf = (values: readonly number[]) =>
    values.map((value, i) => value / (old[i] as number));
  const ratios = ratiosOf(fresh);
  const own = median(ratiosOf(again));
  const isVoid = Math.abs(own - 1) > noiseMax;
  const cells = [
    median(old).toFixed(2),
    median(fresh).toFixed(2),
    median(ratios).toFixed(3),
    own.toFixed(3),
  ];
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  return [
    name.padEnd(16),
    unit.padEnd(4),
    ...cells.map((cell) => cell.padStart(9)),
    `  ${range}`,
    ...(isVoid ? ["  VOID: the machine wavered"] : []),
  ].join(" ");
}

/** The whole comparison as a table: medians, and the ratio within a round. */
async function compare(sides: readonly Side[], works: readonly Work[], options: Options) {
  const wanted = works.filter(({ name }) => options.only?.includes(name) ?? true);
  const [first] = (works[0] as Work).requests;
  const starts = await inTurns(options.starts, (side) => startMs(side, first as Request), sides);
  const [old, again, fresh] = await inTurns(
    options.rounds,
    (side) => round(side, wanted, options),
    sides,
  );
  const lines = [...(old[0] as Figures).keys()].map((name) => {
    const of = (figures: Figures): number => figures.get(name) as number;
    return line(name, [old.map(of), again.map(of), fresh.map(of)]);
  });
  const head = `${"".padEnd(21)}       old       new     ratio   old/old   rounds`;
  return [head, line("start", starts), ...lines].join("\n");
}

async function startMs(side: Side, { path, headers }: Request): Promise<number> {
  const port = await freePort();
  return await startTime(serve(side, port), port, path, headers);
}

async function prepare(executables: readonly string[], folder: string) {
  const [old = "", fresh = ""] = executables;
  const filled = join(folder, "filled");
  const file = join(folder, "animals.ndjson");
  mkdirSync(filled);
  await writeAnimals(file, animalCount);
  say(`filling a store with ${animalCount} animals\n`);
  const all = await works(old, filled);
  await run([old, "pets", "import", file, "--data", filled]);
  // The old one makes the folder, and the new one migrates its copy.
  const side = (name: string, executable: string): Side => {
    const data = join(folder, name);
    cpSync(filled, data, { recursive: true });
    return { executable, data, log: join(folder, `${name}.log`) };
  };
  const sides = [side("old", old), side("old-again", old), side("new", fresh)];
  return { sides, all };
}

const list = (text: string): string[] => text.split(",");
const command = new Command("bun run compare")
  .description("Compares two executables: processor time per request, start and memory, in turns.")
  .argument("<old>", "an executable")
  .argument("<new>", "another")
  .option("--rounds <n>", "rounds of every kind of request", wholeNumber, 10)
  .option("--requests <n>", "requests of a round", wholeNumber, 50_000)
  .option("--starts <n>", "starts of each", wholeNumber, 20)
  .option("--only <names>", "of list, get, 401, 429, create and mixed", list)
  .parse();
const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "rehome-compare-"));
try {
  await moveToLoadCore();
  const { sides, all } = await prepare(
    command.args.map((path) => resolve(path)),
    folder,
  );
  process.stdout.write(`${await compare(sides, all, command.opts<Options>())}\n`);
} catch (error) {
  if (!(error instanceof DidNotRun)) throw error;
  say(`Error: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
