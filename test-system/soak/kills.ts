/** One store under creates and limits, and what is killed of it. */
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { join } from "node:path";
import { Acknowledged } from "../../test/helpers/acknowledged.ts";
import { ask, until } from "../../test/helpers/ask.ts";
import {
  begun,
  makeKey,
  roomy,
  type RunningBinary,
  serve,
  temporaryFolder,
} from "../../test/helpers/binary.ts";
import { isOnPostgres, onStoreUnderTest } from "../../test/helpers/store-under-test.ts";

/** What kills came to. */
export interface Kills {
  /** By what was killed. */
  readonly victims: Map<string, number>;
  /** Creates that were answered with 201, all of which were there afterwards. */
  acknowledged: number;
  /** Animals of creates that were killed before their answer. */
  unanswered: number;
  /** The most that a key with a limit was admitted in one minute. */
  admittedMost: number;
}

const writers = 12;
export const limitPerMinute = 240;

interface Options {
  readonly kills: number;
  /** Numbers from 0 up to 1, which decide what is killed and when. */
  readonly next: () => number;
  /** Kills the database, and starts it again. */
  readonly killDatabase?: (() => Promise<void>) | undefined;
}

/**
 * Kills under load, again and again. Fails unless after each kill every acknowledged animal is
 * there as it was sent, none is there twice, and no key was admitted above its limit.
 */
export async function killUnderLoad({ kills, next, killDatabase }: Options): Promise<Kills> {
  using folder = temporaryFolder();
  const victims = new Map<string, number>();
  const acknowledged = new Acknowledged();
  const { key } = await makeKey(folder.path, ...roomy);
  const perMinute = ["--per-minute", String(limitPerMinute), "--per-day", "1000000"];
  const { key: limited } = await makeKey(folder.path, "--plan", "enterprise", ...perMinute);
  const admitted = new Map<number, number>();
  const begin = () => serve(folder.path, ["--bans", "off"]);

  const useLimit = async ({ origin }: RunningBinary, isOver: () => boolean) => {
    while (!isOver()) {
      const answer = await ask(origin, limited, "/v1/pets?limit=1").catch(() => undefined);
      if (answer?.status === 200) {
        const count = (admitted.get(answer.resetSeconds) ?? 0) + 1;
        admitted.set(answer.resetSeconds, count);
        expect(count).toBeLessThanOrEqual(limitPerMinute);
      } else await Bun.sleep(answer === undefined ? 5 : 20);
    }
  };
  const kill = async (server: RunningBinary): Promise<RunningBinary> => {
    const number = next();
    const isAtStart = number > 0.75;
    const isOfDatabase = killDatabase !== undefined && number < 0.45;
    const victim = isOfDatabase ? "database" : `server${isAtStart ? " at its start" : ""}`;
    victims.set(victim, (victims.get(victim) ?? 0) + 1);
    if (isOfDatabase) {
      await killDatabase();
      await until(async () => (await ask(server.origin, key, "/v1/pets?limit=1")).status === 200);
      return server;
    }
    // Some of them while they stop.
    if (next() < 0.2) process.kill(server.pid, "SIGTERM");
    await server.stop("SIGKILL");
    if (isAtStart) await killAtStart(folder.path, next() * 120);
    return begin();
  };

  let server = await begin();
  let names: readonly string[] = [];
  for (let count = 0; count < kills; count += 1) {
    let isOver = false;
    const over = () => isOver;
    const loads = [
      acknowledged.create(server, key, writers, over),
      useLimit(server, over),
      useLimit(server, over),
    ];
    const enough = acknowledged.created + Math.floor(next() ** 2 * 1_000);
    await until(() => acknowledged.created > enough);
    server = await kill(server);
    isOver = true;
    await Promise.all(loads);
    names = await acknowledged.verified(server, key);
    // Each request has a name of its own.
    expect(new Set(names).size).toBe(names.length);
  }
  expect(await server.stop()).toBe(0);
  for (const name of isOnPostgres ? [] : ["rehome.db", "limits.db"]) {
    using db = new Database(join(folder.path, name));
    expect(db.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  }
  return {
    victims,
    acknowledged: acknowledged.animals.size,
    unanswered: names.length - acknowledged.animals.size,
    admittedMost: Math.max(0, ...admitted.values()),
  };
}

/** Kills another server before it has begun, or soon after. */
async function killAtStart(folder: string, afterMs: number): Promise<void> {
  const named = await onStoreUnderTest(["serve", "--port", "0", "--data", folder]);
  const child = await begun(named.args, named.env);
  await Bun.sleep(afterMs);
  child.kill("SIGKILL");
  await child.exited;
}
