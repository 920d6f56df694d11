/**
 * The database's machine dies, and its standby takes over: a real replica, which every commit waits
 * for (`synchronous_standby_names`), behind an address that is led from one to the other, or named
 * beside it in an address of both.
 */
import { usageSince } from "../../../src/features/keys/usage.ts";
import { expect, test } from "bun:test";
import { AppError } from "../../../src/domain/errors.ts";
import { examineDatabase } from "../../../src/features/operate/doctor/store.ts";
import { startServer, testDatabase } from "../../../test/helpers/postgres.ts";
import { openInPostgres } from "../../../test/helpers/store-under-test.ts";
import { until } from "../../../test/helpers/ask.ts";
import { tcpProxy } from "../../../test/helpers/tcp-proxy.ts";

const timeoutMs = 1_000;
/** What a wait may exceed the time-out by on a busy machine. */
const slackMs = 20_000;
const limits = { perMinute: 1_000_000, perDay: 1_000_000 };

test.each([
  ["dies, behind an address that is led on", "led", "dies"],
  ["dies, at an address of both hosts", "both", "dies"],
  ["turns read-only, at an address of both hosts", "both", "turns read-only"],
])(
  "a database that %s, loses no animal and no count, and the store goes on by itself",
  async (_what, kind, fate) => {
    const server = await startServer();
    const link = await tcpProxy(Number(new URL(server.url).port));
    const standby = new URL(await server.replicate(link.port));
    const database = await testDatabase(server.url);
    const proxy = await tcpProxy(Number(new URL(database.url).port));
    const replicas = await database.sql`SELECT sync_state AS state FROM pg_stat_replication`;
    expect(replicas.map(({ state }: { state: string }) => state)).toEqual(["sync"]);
    const led = new URL(database.url);
    led.port = String(proxy.port);
    // The standby is passed over: it accepts no writes yet.
    const hosts = `127.0.0.1:${standby.port},127.0.0.1:${new URL(database.url).port}`;
    const both = `${database.url.replace(/(?<=@)[^/]+/, hosts)}?target_session_attrs=read-write`;
    const losses: unknown[] = [];
    const open = (url: string, callMs = timeoutMs) =>
      openInPostgres(url, { timeoutMs: callMs, onProblem: (error) => losses.push(error) });
    const store = await open(kind === "led" ? led.href : both);

    const acknowledged = new Map<string, bigint>();
    let sent = 0;
    let granted = 0;
    let longestMs = 0;
    const over = new AbortController();
    /**
     * One call after the other, each with its own outcome: what was refused must have been so in
     * time and in words.
     */
    const calling = async (call: () => Promise<void>) => {
      while (!over.signal.aborted) {
        const startMs = performance.now();
        try {
          await call();
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
          expect(error).toMatchObject({ kind: "unavailable" });
          await Bun.sleep(5);
        }
        longestMs = Math.max(longestMs, performance.now() - startMs);
      }
    };
    const create = async () => {
      const name = `animal ${(sent += 1)}`;
      acknowledged.set(name, await store.pets.create({ name, categoryId: 1n }));
    };
    const take = async () => {
      const request = { keyId: "key", limits, want: 3, unused: undefined };
      for (const result of await store.windows.reserve([request], [])) granted += result.granted;
    };
    const callers = [create, create, create, create, create, create, take].map(calling);
    await until(() => acknowledged.size > 200 && granted > 20);
    // What the standby has not heard of must not be answered: without its word that would be lost.
    link.cut();
    await Bun.sleep(300);
    if (fate === "dies") server.kill();
    else {
      await database.sql`ALTER SYSTEM SET default_transaction_read_only = on`.simple();
      await database.sql`SELECT pg_reload_conf()`;
    }
    // The address leads to the standby before that one takes writes.
    proxy.lead(Number(standby.port));
    await Bun.sleep(500);
    const before = { animals: acknowledged.size, granted };
    await server.promote();
    await until(() => acknowledged.size > before.animals + 200 && granted > before.granted + 20);
    over.abort();
    await Promise.all(callers);

    expect(losses.length).toBeGreaterThan(0);
    expect(longestMs).toBeLessThan(timeoutMs + slackMs);
    // By a store that waits longer: a busy machine takes its time for all of them.
    const reader = await open(database.url.replace(/(?<=@)[^/]+/, standby.host), 60_000);
    const stored = new Map<bigint, string>();
    for (const { id, name } of await reader.pets.page({ limit: 1_000_000 })) stored.set(id, name);
    const lost = [...acknowledged].filter(([name, id]) => stored.get(id) !== name);
    expect(lost).toEqual([]);
    // Neither twice: one whose answer was lost may be there, once.
    expect(new Set(stored.values()).size).toBe(stored.size);
    const usage = await usageSince(reader, 0, "key");
    expect(usage.reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThanOrEqual(granted);

    await reader.close();
    await store.close();
    await proxy.close();
    await link.close();
    await server.stop();
  },
);

test("an old primary that comes back takes nobody in", async () => {
  const server = await startServer();
  const standby = new URL(await server.replicate(Number(new URL(server.url).port)));
  const database = await testDatabase(server.url);
  const old = new URL(database.url);
  // The old one stands first.
  const both = database.url.replace(/(?<=@)[^/]+/, `${old.host},${standby.host}`);
  const problems: string[] = [];
  const onProblem = (error: unknown) => problems.push((error as Error).message);
  const store = await openInPostgres(both, { timeoutMs, onProblem });
  await store.pets.create({ name: "before", categoryId: 1n });
  server.kill();
  await server.promote();
  const create = (name: string) => store.pets.create({ name, categoryId: 1n });
  const isRefused = (name: string) =>
    create(name).then(
      () => false,
      () => true,
    );
  const retried = (name: string) => until(async () => !(await isRefused(name)));
  await retried("after");
  await server.comeBack();

  // Whoever starts now, such as a command, and the doctor, find the new one.
  const next = await openInPostgres(both, { timeoutMs: 60_000 });
  expect((await next.pets.page({ limit: 10 })).map(({ name }) => name)).toEqual([
    "before",
    "after",
  ]);
  await next.close();
  const found = await examineDatabase(both, "--store", 60_000, Date.now);
  expect(found.map(({ detail }) => detail)).toEqual([
    expect.stringContaining(`, on ${standby.host}, `),
    `${old.host} accepts writes too, though it is not the primary`,
    expect.any(String),
  ]);

  // The new one freezes: the server has seen its timeline, and goes on nowhere else.
  server.freeze();
  await until(async () => {
    expect(await isRefused("lost")).toBe(true);
    return problems.some((each) => each.includes("is an old primary (timeline 1)"));
  });
  server.thaw();
  await retried("again");
  await store.close();
  await using lone = new Bun.SQL(old.href, { max: 1 });
  const names = (await lone`SELECT name FROM rehome.pets ORDER BY id`) as { name: string }[];
  expect(names.map(({ name }) => name)).toEqual(["before"]);
  await server.stop();
});
