/**
 * `bun run histories [--runs N] [--seed S] [--store STORE] [--executable FILE | --tiny-cache]`:
 * records histories of parallel calls on one process, on four on one data folder, and on two servers
 * on PostgreSQL, and checks that an order of the calls explains every response. The tiny cache is
 * full after three responses. What nothing explains is written to a file in `--keep FOLDER`.
 * `--first` ends at the first of them. At the end it prints what ran, as a table.
 */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { executable as built } from "../test/helpers/binary.ts";
import { argumentsOf, misused } from "./arguments.ts";
import { runHistories, summaryOf } from "./histories/run.ts";
import { stores } from "./histories/history.ts";
import { tinyCache } from "./histories/tiny-cache.ts";

const { values } = argumentsOf({
  options: {
    runs: { type: "string", default: "100" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    store: { type: "string" },
    executable: { type: "string" },
    "tiny-cache": { type: "boolean", default: false },
    keep: { type: "string", default: tmpdir() },
    first: { type: "boolean", default: false },
  },
});

function whole(name: string, text: string): number {
  return /^\d+$/.test(text)
    ? Number(text)
    : misused(`${name} must be a whole number, not "${text}"`);
}

const say = (text: string) => void process.stdout.write(`${text}\n`);

const { store, keep, first } = values;
const chosen = stores.filter((each) => store === undefined || each === store);
if (chosen.length === 0) misused(`--store must be ${stores.join(", ")}, not "${store}"`);
const runs = whole("--runs", values.runs);
const seed = whole("--seed", values.seed);
mkdirSync(keep, { recursive: true });
using tiny = values["tiny-cache"] ? tinyCache() : undefined;
const executable = tiny?.path ?? resolve(values.executable ?? (await built()));
const reports = [];
for (const each of chosen) {
  reports.push(await runHistories({ store: each, runs, seed, executable, keep, first, say }));
}
say(summaryOf(reports));
process.exitCode = reports.every(({ violations }) => violations === 0) ? 0 : 1;
