/**
 * `bun run soak [MINUTES] [--kills N] [--store postgres] [--seed N]`: kills with SIGKILL at random
 * points, under creates, reads and limits, until there are N kills with those of earlier
 * runs, or the minutes are over. What the runs came to adds up in dist/soak-STORE.json. Throws when
 * anything was lost.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argumentsOf, misused } from "../../scripts/arguments.ts";
import { random } from "../../scripts/random.ts";
import { killsOf, type KillRun, Life, limitPerMinute, newPlace } from "./life.ts";

const { values, positionals } = argumentsOf({
  allowPositionals: true,
  options: {
    kills: { type: "string", default: "1000" },
    store: { type: "string", default: "sqlite" },
    seed: { type: "string", default: `${Date.now() % 2 ** 31}` },
  },
});

function number(what: string, text: string): number {
  const value = Number(text);
  return value > 0 ? value : misused(`${what} must be a number above 0, not "${text}"`);
}

const { store } = values;
if (store !== "sqlite" && store !== "postgres") misused("--store is sqlite or postgres");
const minutes = number("the minutes", positionals[0] ?? "60");
const kills = number("--kills", values.kills);
const seed = number("--seed", values.seed);
const file = join(import.meta.dir, "../../dist", `soak-${store}.json`);
const say = (text: string) => void process.stdout.write(`${text}\n`);

/** A fresh store for so many kills, so that all of it can be read after each of them. */
const killsAStore = 25;

/** A run in a line. */
function sentence(run: KillRun): string {
  const kills = Object.entries(run.kills).filter(([, count]) => count > 0);
  return [
    kills.map(([victim, count]) => `${victim} ${count}`).join(", "),
    `${run.acknowledged} creates acknowledged, all there, none twice`,
    `${run.unanswered} more without an answer`,
    `${run.reads} lists`,
    `at most ${run.admittedMost} of ${limitPerMinute} requests a minute admitted, ${run.limited} refused`,
    `at most ${run.memoryMost} MiB`,
    `seed ${run.seed}`,
  ].join("; ");
}

const earlier = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as KillRun[]) : [];
const run: KillRun = {
  seed,
  began: new Date().toISOString(),
  minutes: 0,
  kills: { server: 0, "server at its start": 0, database: 0 },
  acknowledged: 0,
  unanswered: 0,
  reads: 0,
  admitted: 0,
  limited: 0,
  admittedMost: 0,
  memoryMost: 0,
};
const runs = [...earlier, run];
const done = () => runs.reduce((sum, each) => sum + killsOf(each), 0);
const beganMs = performance.now();
const next = random(seed);
while (done() < kills && performance.now() - beganMs < minutes * 60_000) {
  const enough = Math.min(killsAStore, kills - done());
  await using place = await newPlace(store);
  await new Life(place, run, next).spend(enough);
  run.minutes = Math.round((performance.now() - beganMs) / 6_000) / 10;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(runs, undefined, 2));
  say(`${done()} of ${kills} kills: ${sentence(run)}`);
}
say(`\n${store}: ${done()} kills in ${runs.length} runs, nothing lost`);
for (const each of runs) say(`- ${each.began}, ${each.minutes} minutes: ${sentence(each)}`);
