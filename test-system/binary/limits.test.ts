/**
 * The limits of the compiled executable, from outside: several processes, restarts, kills, locks,
 * proxies.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  makeKey,
  perDay,
  roomy,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { countersOf } from "../../test/helpers/counters.ts";
import {
  admittedOf,
  ask,
  hammer,
  hammerThroughKills,
  withinMinute,
  type Answer,
} from "../../test/helpers/ask.ts";

const running: RunningBinary[] = [];
async function start(...args: Parameters<typeof serve>): Promise<RunningBinary> {
  const server = await serve(...args);
  running.push(server);
  return server;
}
afterEach(async () => {
  for (const server of running.splice(0)) await server[Symbol.asyncDispose]();
});

describe("one process", () => {
  const folder = temporaryFolder();
  let server: RunningBinary;
  beforeAll(async () => {
    server = await serve(folder.path);
  });
  afterAll(async () => {
    await server.stop();
    folder[Symbol.dispose]();
  });

  test("300 parallel requests on a Free key: exactly 60 pass, each with a Remaining of its own", async () => {
    await withinMinute(async () => {
      const { key } = await makeKey(folder.path, "--plan", "free");
      const answers = await hammer([server.origin], key, 300, 300);
      const passed = answers.filter(({ status }) => status === 200);
      expect(passed.map(({ remaining }) => remaining).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 60 }, (_, i) => i),
      );
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused).toHaveLength(240);
      for (const { limit, remaining, resetSeconds, retryAfterSeconds, code } of refused) {
        expect({ limit, remaining, code }).toEqual({
          limit: 60,
          remaining: 0,
          code: "rate_limited",
        });
        expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
        expect(retryAfterSeconds).toBeLessThanOrEqual(60);
        expect(resetSeconds % 60).toBe(0);
      }
    });
  });
});

describe("four processes on one folder", () => {
  test("admit exactly the limit together", async () => {
    const limit = 300;
    using folder = temporaryFolder();
    const { key } = await makeKey(folder.path, ...perDay(limit));
    const servers = await Promise.all([1, 2, 3, 4].map(() => start(folder.path)));
    const origins = servers.map(({ origin }) => origin);
    const answers = await hammer(origins, key, limit * 3);
    expect(answers).toHaveLength(limit * 3);
    expect(admittedOf(answers)).toBe(limit);
    for (const server of servers) expect(await server.stop()).toBe(0);
  });
});

describe("a process that ends", () => {
  test("cleanly, loses nothing", async () => {
    using folder = temporaryFolder();
    const { key } = await makeKey(folder.path, ...perDay(300));
    let admitted = 0;
    for (const count of [1, 91, 32]) {
      const server = await start(folder.path);
      admitted += admittedOf(await hammer([server.origin], key, count, 7));
      expect(await server.stop()).toBe(0);
    }
    const last = await start(folder.path);
    admitted += admittedOf(await hammer([last.origin], key, 300));
    expect(admitted).toBe(300);
  });

  test("by kill -9 under load, never admits more, and loses a second's worth and what was in flight", async () => {
    using folder = temporaryFolder();
    const limit = 1_200;
    const connections = 8;
    const { key } = await makeKey(folder.path, ...perDay(limit));
    const kills = 4;
    let admitted = await hammerThroughKills({
      start: () => start(folder.path),
      key,
      kills,
      requests: 240,
      connections,
      answered: (round) => 1 + 40 * round,
    });
    const last = await start(folder.path);
    admitted += admittedOf(await hammer([last.origin], key, limit + 100));
    expect(admitted).toBeLessThanOrEqual(limit);
    expect(admitted).toBeGreaterThanOrEqual(limit - kills * (limit / 60 + connections));
  });
});

test("every change from the command line binds every process at its next request", async () => {
  using folder = temporaryFolder();
  const { key, id } = await makeKey(folder.path, "--plan", "free");
  const servers = await Promise.all([start(folder.path), start(folder.path)]);
  const change = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await command([
      "keys",
      ...args,
      "--data",
      folder.path,
      "--json",
    ]);
    if (exitCode !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as { key?: string };
  };
  const answers = async (credential: string): Promise<Answer[]> =>
    Promise.all(servers.map(({ origin }) => ask(origin, credential)));
  const codes = async (credential = key) =>
    (await answers(credential)).map(({ status, code }) => code ?? status);
  expect(await codes()).toEqual([200, 200]);
  await change("ban", id, "--for", "1h");
  expect(await codes()).toEqual(["key_banned", "key_banned"]);
  await change("unban", id);
  expect(await codes()).toEqual([200, 200]);
  await change("update", id, "--plan", "enterprise", "--per-minute", "1", "--per-day", "1");
  expect(await codes()).toEqual(["rate_limited", "rate_limited"]);
  await change("update", id, "--plan", "business");
  const up = await answers(key);
  expect(up.map(({ status, limit }) => [status, limit])).toEqual([
    [200, 1_000],
    [200, 1_000],
  ]);
  const { key: next = "" } = await change("rotate", id, "--grace", "0");
  expect(await codes()).toEqual(["unauthorized", "unauthorized"]);
  expect(await codes(next)).toEqual([200, 200]);
  await change("revoke", id);
  expect(await codes(next)).toEqual(["unauthorized", "unauthorized"]);
});

describe("while another process holds a lock", () => {
  /** Asks /health again and again while `work` runs. Returns how often it was answered. */
  async function watched(origin: string, work: () => Promise<void>): Promise<number> {
    let looks = 0;
    const done = new AbortController();
    const watch = (async () => {
      while (!done.signal.aborted) {
        await (await fetch(`${origin}/health`)).text();
        looks += 1;
        await Bun.sleep(2);
      }
    })();
    await work();
    done.abort();
    await watch;
    return looks;
  }

  test("of the counters: 503 for who cannot be charged, the event loop goes on, recovery by itself", async () => {
    using folder = temporaryFolder();
    const { key } = await makeKey(folder.path, ...roomy);
    const { key: paid } = await makeKey(folder.path, "--plan", "business");
    const server = await start(folder.path, ["--store-timeout", "1000"]);
    expect((await ask(server.origin, paid)).status).toBe(200);
    await using counters = await countersOf(folder.path);
    await counters.lock();
    let refused = 0;
    const looks = await watched(server.origin, async () => {
      for (; refused < 3; refused += 1) {
        const answer = await ask(server.origin, key);
        expect(answer).toMatchObject({ status: 503, code: "unavailable", limit: 1_000_000 });
        expect(answer.retryAfterSeconds).toBe(1);
        expect(answer.resetSeconds * 1000).toBeGreaterThan(Date.now() - 60_000);
      }
    });
    // A loop that waits for the lock answers once between two waits of a second.
    expect(looks).toBeGreaterThan(4 * refused);
    await counters.unlock();
    expect(await ask(server.origin, key)).toMatchObject({ status: 200, remaining: 999_999 });
  });
});

test("days end at midnight UTC in Kathmandu too", async () => {
  using folder = temporaryFolder();
  const { key } = await makeKey(folder.path, ...perDay(60));
  const server = await start(folder.path, [], { env: { TZ: "Asia/Kathmandu" } });
  const nextMidnight = (Math.floor(Date.now() / 86_400_000) + 1) * 86_400;
  expect((await ask(server.origin, key)).resetSeconds).toBe(nextMidnight);
});
