/**
 * Kills with SIGKILL at random points, under creates, reads, limits and imports. A run is bounded,
 * and goes on where the last one ended: what several runs came to adds up in a file.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { random } from "../../scripts/random.ts";
import { killsOf, type KillRun, Life, limitPerMinute, newPlace } from "./life.ts";

interface KillOptions {
  readonly store: "sqlite" | "postgres";
  /** Ends when so many kills are counted, those of earlier runs included. */
  readonly kills: number;
  /** Ends after so long all the same. */
  readonly minutes: number;
  readonly seed: number;
  /** Where the runs add up. */
  readonly file: string;
  readonly say: (line: string) => void;
}

/** A fresh store for so many kills, so that all of it can be read after each of them. */
const killsAStore = 25;

/** Runs kills until there are enough, and returns all runs of the file. Throws when one loses. */
export async function soakKills(options: KillOptions): Promise<KillRun[]> {
  const { file, kills, minutes, seed, say } = options;
  const earlier = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as KillRun[]) : [];
  const run: KillRun = {
    seed,
    began: new Date().toISOString(),
    minutes: 0,
    kills: { server: 0, "server at its start": 0, import: 0, database: 0 },
    acknowledged: 0,
    unanswered: 0,
    imported: 0,
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
    await using place = await newPlace(options.store);
    await new Life(place, run, next).spend(enough);
    run.minutes = Math.round((performance.now() - beganMs) / 6_000) / 10;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(runs, undefined, 2));
    say(`${done()} of ${kills} kills: ${sentence(run)}`);
  }
  return runs;
}

/** A run in a line. */
export function sentence(run: KillRun): string {
  const kills = Object.entries(run.kills).filter(([, count]) => count > 0);
  return [
    kills.map(([victim, count]) => `${victim} ${count}`).join(", "),
    `${run.acknowledged} creates acknowledged, all there, none twice`,
    `${run.unanswered} more without an answer`,
    `${run.imported} animals imported, each once`,
    `${run.reads} lists`,
    `at most ${run.admittedMost} of ${limitPerMinute} requests a minute admitted, ${run.limited} refused`,
    `at most ${run.memoryMost} MiB`,
    `seed ${run.seed}`,
  ].join("; ");
}
