/**
 * Measures the promises of docs/limits.md on the executable, from outside, and prints them as a
 * table:
 *
 *   bun run bench limits           all of them, about two minutes
 *   bun run bench limits writes    one of parallel, processes, restart, kill, control, writes,
 *                                  addresses, lock
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { admittedOf, ask, hammer, hammerThroughKills, type Answer } from "../test/helpers/ask.ts";
import {
  makeKey,
  rehome,
  roomy,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../test/helpers/binary.ts";
import { usage } from "./process.ts";

interface Figure {
  readonly what: string;
  readonly promised: string;
  readonly measured: string;
}

/** A key whose only window is the day, so that no minute ends in the middle. */
const perDay = (limit: number) =>
  `--plan enterprise --per-minute ${limit} --per-day ${limit}`.split(" ");

async function servers(folder: string, count: number, ...args: string[]): Promise<RunningBinary[]> {
  return Promise.all(Array.from({ length: count }, () => serve(folder, args)));
}

const stopAll = async (all: readonly RunningBinary[]) => {
  for (const server of all) await server.stop();
};

const spread = (values: readonly number[]) => {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? `${least}` : `${least} to ${most}`;
};

/** Starts again early in a minute when too little of this one is left for a test of minutes. */
async function withMinuteLeft(ms: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < ms) await Bun.sleep(leftMs + 50);
}

async function parallel(): Promise<Figure> {
  using folder = temporaryFolder();
  const server = await serve(folder.path);
  const admitted: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const { key } = await makeKey(folder.path, "--plan", "free");
    await withMinuteLeft(3_000);
    admitted.push(admittedOf(await hammer([server.origin], key, 300, 300)));
  }
  await server.stop();
  const measured = `${spread(admitted)}, 10 rounds`;
  return { what: "300 parallel requests on a Free key: admitted", promised: "60", measured };
}

async function processes(): Promise<Figure> {
  using folder = temporaryFolder();
  const all = await servers(folder.path, 4);
  const origins = all.map(({ origin }) => origin);
  const admitted: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const { key } = await makeKey(folder.path, ...perDay(1_000));
    admitted.push(admittedOf(await hammer(origins, key, 3_000)));
  }
  await stopAll(all);
  return {
    what: "four processes, one key with 1,000: admitted together",
    promised: "1000",
    measured: `${spread(admitted)}, 10 rounds`,
  };
}

async function restart(): Promise<Figure> {
  using folder = temporaryFolder();
  const { key } = await makeKey(folder.path, ...perDay(1_000));
  let admitted = 0;
  for (let round = 0; round < 10; round += 1) {
    const server = await serve(folder.path);
    admitted += admittedOf(await hammer([server.origin], key, round < 9 ? 37 : 1_000, 7));
    await server.stop();
  }
  const what = "1,000 requests over 10 clean restarts: admitted";
  return { what, promised: "1000", measured: `${admitted}` };
}

async function kill(): Promise<Figure> {
  using folder = temporaryFolder();
  const [limit, kills, connections] = [6_000, 10, 8];
  const { key } = await makeKey(folder.path, ...perDay(limit));
  let admitted = await hammerThroughKills({
    start: () => serve(folder.path),
    key,
    kills,
    requests: 500,
    connections,
    answered: (round) => 1 + 40 * round,
  });
  const last = await serve(folder.path);
  admitted += admittedOf(await hammer([last.origin], key, limit));
  await last.stop();
  const lostMax = kills * (limit / 60 + connections);
  return {
    what: `${kills} kills (-9) under load of a key with ${limit}: admitted`,
    promised: `${limit - lostMax} to ${limit}`,
    measured: `${admitted}`,
  };
}

async function control(): Promise<Figure> {
  using folder = temporaryFolder();
  const { key, id } = await makeKey(folder.path, "--plan", "free");
  const all = await servers(folder.path, 4);
  const rounds = 25;
  let stale = 0;
  const expectAll = async (credential: string, code: string | undefined) => {
    const answers = await Promise.all(all.map(({ origin }) => ask(origin, credential)));
    stale += answers.filter((answer) => answer.code !== code).length;
  };
  const change = async (...args: string[]) => {
    const { stdout } = await rehome(["keys", ...args, "--data", folder.path, "--json"]);
    return (JSON.parse(stdout) as { key: string }).key;
  };
  let current = key;
  await expectAll(current, undefined);
  for (let round = 0; round < rounds; round += 1) {
    await change("ban", id, "--for", "1h");
    await expectAll(current, "key_banned");
    await change("unban", id);
    await change("update", id, ...perDay(1));
    await expectAll(current, "rate_limited");
    await change("update", id, "--plan", "business");
    await expectAll(current, undefined);
    const next = await change("rotate", id, "--grace", "0");
    await expectAll(current, "unauthorized");
    current = next;
  }
  await stopAll(all);
  return {
    what: `answers of 4 processes after ${rounds * 4} changes that do not obey the change`,
    promised: "0",
    measured: `${stale} of ${rounds * 16}`,
  };
}

async function writes(): Promise<Figure[]> {
  using folder = temporaryFolder();
  const server = await serve(folder.path);
  const measure = async (work: () => Promise<Answer[]>) => {
    const before = usage(server.pid).writtenBytes;
    const answers = await work();
    return { bytes: usage(server.pid).writtenBytes - before, answers };
  };
  const { key } = await makeKey(folder.path, "--plan", "business");
  await withMinuteLeft(10_000);
  const burst = await measure(() => hammer([server.origin], key, 1_000, 16));
  const refused = await measure(() => hammer([server.origin], key, 20_000, 16));
  // Seventeen a second for a minute, as an honest client would.
  const paced = await measure(async () => {
    const answers: Answer[] = [];
    const { key: other } = await makeKey(folder.path, "--plan", "business");
    const startMs = performance.now();
    for (let i = 0; i < 30 * 17; i += 1) {
      answers.push(await ask(server.origin, other));
      await Bun.sleep(Math.max(0, startMs + (i + 1) * (1_000 / 17) - performance.now()));
    }
    return answers;
  });
  await server.stop();
  const each = ({ bytes, answers }: typeof burst) => (bytes / admittedOf(answers)).toFixed(0);
  return [
    {
      what: "bytes written a GET, Business key, 1,000 at once",
      promised: "at most 300",
      measured: each(burst),
    },
    {
      what: "bytes written a GET, Business key, 17 a second",
      promised: "at most 300",
      measured: each(paced),
    },
    {
      what: "bytes written for all of 20,000 answers with 429",
      promised: "0",
      measured: `${refused.bytes} for ${refused.answers.filter(({ status }) => status === 429).length}`,
    },
  ];
}

async function addresses(): Promise<Figure[]> {
  using folder = temporaryFolder();
  const args = ["--trusted-proxy", "127.0.0.1", "--anonymous-per-minute", "1"];
  const server = await serve(folder.path, args);
  const { key } = await makeKey(folder.path, "--plan", "free");
  const from = (i: number) => ({
    headers: { "x-forwarded-for": `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` },
  });
  await withMinuteLeft(59_000);
  const before = usage(server.pid).rssMiB;
  const startMs = performance.now();
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < 200_000; i = next++) {
      await ask(server.origin, undefined, "/v1/pets", from(i));
    }
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  const seconds = (performance.now() - startMs) / 1000;
  const first = await ask(server.origin, undefined, "/v1/pets", from(0));
  const keyed = await ask(server.origin, key, "/v1/pets", from(0));
  const after = usage(server.pid).rssMiB;
  await server.stop();
  return [
    {
      what: "memory for 200,000 addresses in a minute",
      promised: "bounded",
      measured: `${before.toFixed(0)} to ${after.toFixed(0)} MiB (in ${seconds.toFixed(0)} s)`,
    },
    {
      what: "the first of them again; a valid key from there",
      promised: "429; 200",
      measured: `${first.status}; ${keyed.status}`,
    },
  ];
}

/** Answer times of /health in ms, sorted, asked one after another while `work` runs. */
async function watched(origin: string, work: Promise<unknown>): Promise<number[]> {
  const timesMs: number[] = [];
  const done = new AbortController();
  const ended = work.finally(() => done.abort());
  while (!done.signal.aborted) {
    const startMs = performance.now();
    await (await fetch(`${origin}/health`)).text();
    timesMs.push(performance.now() - startMs);
    await Bun.sleep(1);
  }
  await ended;
  return timesMs.toSorted((a, b) => a - b);
}

const shown = (timesMs: readonly number[]) => {
  const at = (share: number) =>
    (timesMs[Math.floor((timesMs.length - 1) * share)] ?? Number.NaN).toFixed(1);
  return `${at(0.5)} / ${at(0.999)} / ${at(1)}`;
};

async function lock(): Promise<Figure[]> {
  using folder = temporaryFolder();
  const { key } = await makeKey(folder.path, ...roomy);
  const server = await serve(folder.path);
  const load = async (ms: number, answers: Answer[]) => {
    const endMs = performance.now() + ms;
    const worker = async () => {
      while (performance.now() < endMs) answers.push(await ask(server.origin, key));
    };
    await Promise.all(Array.from({ length: 16 }, worker));
  };
  const held = async (file: string) => {
    const other = new Database(join(folder.path, file));
    other.run("BEGIN IMMEDIATE");
    const answers: Answer[] = [];
    const timesMs = await watched(server.origin, load(5_000, answers));
    other.close();
    const startMs = performance.now();
    const next = await ask(server.origin, key);
    return { timesMs, answers, next, recoveredMs: performance.now() - startMs };
  };
  const quiet = await watched(server.origin, Bun.sleep(5_000));
  const limits = await held("limits.db");
  const catalogue = await held("rehome.db");
  await server.stop();
  const statuses = (answers: readonly Answer[]) =>
    [...new Set(answers.map(({ status }) => status))].toSorted((a, b) => a - b).join(", ");
  return [
    {
      what: "/health in ms, idle server: median / 99.9 % / longest",
      promised: "",
      measured: shown(quiet),
    },
    {
      what: "the same, limits.db locked for 5 s, 16 clients waiting",
      promised: "no stall above 10",
      measured: shown(limits.timesMs),
    },
    {
      what: "answers meanwhile; status and ms of the first one after",
      promised: "503; 200",
      measured: `${statuses(limits.answers.slice(-16))}; ${limits.next.status}, ${limits.recoveredMs.toFixed(0)} ms`,
    },
    {
      what: "rehome.db locked for 5 s: GETs meanwhile",
      promised: "200",
      measured: `${statuses(catalogue.answers)} (${catalogue.answers.length} of them)`,
    },
  ];
}

const all: Readonly<Record<string, () => Promise<Figure | Figure[]>>> = {
  parallel,
  processes,
  restart,
  kill,
  control,
  writes,
  addresses,
  lock,
};
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in all));
if (unknown.length > 0) {
  process.stderr.write(
    `Error: there is no ${unknown.join(", ")}; there are ${Object.keys(all).join(", ")}\n`,
  );
  process.exit(2);
}
process.stdout.write("| what | promised | measured |\n|---|---|---|\n");
for (const [name, measure] of Object.entries(all)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const { what, promised, measured } of [await measure()].flat()) {
    process.stdout.write(`| ${what} | ${promised} | ${measured} |\n`);
  }
}
