/**
 * `bun run soak [MINUTES] [--kills N] [--store postgres] [--seed N]`: kills with SIGKILL at random
 * points, under creates and limits, N times or until the minutes are over. Throws when anything was
 * lost.
 */
import { argumentsOf, misused } from "../../scripts/arguments.ts";
import { random } from "../../scripts/random.ts";
import { startServer } from "../../test/helpers/postgres.ts";

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
const say = (text: string) => void process.stdout.write(`${text}\n`);

/** A fresh store for so many kills, so that all of it can be read after each of them. */
const killsAStore = 25;

const database = store === "postgres" ? await startServer("fsync=on") : undefined;
if (database !== undefined) {
  Object.assign(process.env, { TEST_STORE: "postgres", TEST_SERVER: database.url });
}
const { killUnderLoad, limitPerMinute } = await import("./kills.ts");
// An immediate shutdown drops everything as a crash does; the next start recovers from the log.
const killDatabase = database && (() => database.restart("SIGQUIT"));

const next = random(seed);
const endMs = performance.now() + minutes * 60_000;
let done = 0;
let acknowledged = 0;
while (done < kills && performance.now() < endMs) {
  const enough = Math.min(killsAStore, kills - done);
  const run = await killUnderLoad({ kills: enough, next, killDatabase });
  done += enough;
  acknowledged += run.acknowledged;
  const victims = [...run.victims].map(([victim, count]) => `${victim} ${count}`).join(", ");
  say(
    `${done} of ${kills} kills: ${victims}; ${run.acknowledged} creates acknowledged, ` +
      `${run.unanswered} more without an answer; at most ${run.admittedMost} of ` +
      `${limitPerMinute} requests a minute admitted`,
  );
}
say(`\n${store}, seed ${seed}: ${done} kills, ${acknowledged} creates acknowledged, nothing lost`);
await database?.stop();
