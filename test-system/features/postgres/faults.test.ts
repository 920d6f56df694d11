/** A database that restarts, freezes, kills connections, is cut off or overloaded. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { AppError } from "../../../src/domain/errors.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { parseDatabaseAddress } from "../../../src/features/postgres/address.ts";
import { openPostgresStore } from "../../../src/features/postgres/store.ts";
import {
  hookTimeoutMs,
  startServer,
  testDatabase,
  type OwnServer,
  type TestDatabase,
} from "../../../test/helpers/postgres.ts";
import { openInPostgres } from "../../../test/helpers/store-under-test.ts";
import { tcpProxy } from "../../../test/helpers/tcp-proxy.ts";
import { until } from "../../../test/helpers/ask.ts";
import { longWork } from "../../../src/features/long-work.ts";
import { nextEpoch } from "../../../src/storage/database.ts";

/** Short, so that the tests are; a server has 2 s. */
const timeoutMs = 1_000;
/** What a wait may exceed the time-out by on a busy machine. */
const slackMs = 20_000;

let server: OwnServer;
let database: TestDatabase;
let store: Store;
const losses: unknown[] = [];

beforeAll(async () => {
  server = await startServer();
}, hookTimeoutMs);
afterAll(async () => {
  await server.stop();
}, hookTimeoutMs);
beforeEach(async () => {
  database = await testDatabase(server.url);
  store = await open(database.url);
  losses.length = 0;
}, hookTimeoutMs);
afterEach(async () => {
  await store.close();
  await database[Symbol.asyncDispose]();
}, hookTimeoutMs);

function open(url: string): Promise<Store> {
  return openInPostgres(url, { timeoutMs, onProblem: (error) => losses.push(error) });
}

/** A store behind an address that can be cut off. */
async function openFar() {
  const url = new URL(database.url);
  const proxy = await tcpProxy(Number(url.port));
  url.port = String(proxy.port);
  return { proxy, far: await open(url.href) };
}

let names = 0;
const newPet = () => {
  names += 1;
  return { name: `pet ${names}`, categoryId: 1n };
};
const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
const takeOf = (keyId: string, want = 1) => ({ keyId, limits, want, unused: undefined });

/** Every kind of work that a request may cause. */
const work: Record<string, (on: Store) => Promise<unknown>> = {
  create: async (on) => on.pets.create(newPet()),
  page: async (on) => on.pets.page({ limit: 1 }),
  take: async (on) => on.windows.reserve([takeOf("key")], []),
  change: async (on) => on.db.transaction(nextEpoch),
};

/** How long `promise` took, and the AppError that it ended with, if it did. */
async function timed(promise: Promise<unknown>) {
  const startMs = performance.now();
  try {
    await promise;
    return { ms: performance.now() - startMs, error: undefined };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { ms: performance.now() - startMs, error };
  }
}

async function works(on: Store): Promise<void> {
  const results = await Promise.all(Object.values(work).map((each) => timed(each(on))));
  expect(results.map(({ error }) => error)).toEqual(results.map(() => undefined));
}

/** Resolves once all work is done again. */
async function recovers(on: Store, withinMs: number): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const results = await Promise.all(Object.values(work).map((each) => timed(each(on))));
    if (results.every(({ error }) => error === undefined)) return;
    if (performance.now() > deadlineMs) throw results.find(({ error }) => error)?.error;
    await Bun.sleep(20);
  }
}

/** Ends the sessions whose last statement is like that. */
const endSessions = (query: string) => database.sql`
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE ${query}`;

/** Sets what new sessions may do, and ends those whose last statement is like that. */
async function setReadOnly(isReadOnly: boolean, query: string): Promise<void> {
  const name = new URL(database.url).pathname.slice(1);
  const setting = `default_transaction_read_only = ${isReadOnly}`;
  await database.sql.unsafe(`ALTER DATABASE "${name}" SET ${setting}`);
  await endSessions(query);
}

test("a connection reset between the statement and its answer adds no animal and charges no request twice", async () => {
  const { proxy, far } = await openFar();
  const acknowledged: string[] = [];
  const over = new AbortController();
  const callers = Array.from({ length: 8 }, async () => {
    while (!over.signal.aborted) {
      const pet = newPet();
      const { error } = await timed(far.pets.create(pet));
      if (error === undefined) acknowledged.push(pet.name);
      else await Bun.sleep(1);
    }
  });
  const takes = { granted: 0, unknown: 0 };
  callers.push(
    ...Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) {
        const { error } = await timed(Promise.resolve(far.windows.reserve([takeOf("key")], [])));
        takes[error === undefined ? "granted" : "unknown"] += 1;
      }
    }),
  );
  for (let round = 0; round < 20; round += 1) {
    const before = acknowledged.length;
    await until(() => acknowledged.length > before);
    // At another point of a create's way each time.
    await Bun.sleep(round % 5);
    proxy.reset();
  }
  over.abort();
  await Promise.all(callers);
  await far.close();
  await proxy.close();
  const names = ((await database.sql`SELECT name FROM rehome.pets`) as { name: string }[]).map(
    ({ name }) => name,
  );
  expect(names.length).toBe(new Set(names).size);
  expect(acknowledged.filter((name) => !names.includes(name))).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(0);
  const [{ used }] =
    (await database.sql`SELECT day_used::int AS used FROM rehome.rate_windows`) as [
      { used: number },
    ];
  expect(used).toBeWithin(takes.granted, takes.granted + takes.unknown + 1);
});

test.each<NodeJS.Signals>(["SIGINT", "SIGKILL"])(
  "a server that ends with %s and comes back: nothing acknowledged is lost, all goes on by itself",
  async (signal) => {
    await works(store);
    const id = await store.pets.create({ name: "kept", categoryId: 1n });
    const restarted = server.restart(signal);
    while (losses.length === 0) {
      const results = await Promise.all(Object.values(work).map((each) => timed(each(store))));
      for (const { ms, error } of results) {
        expect(ms).toBeLessThan(timeoutMs + slackMs);
        if (error !== undefined) expect(error).toMatchObject({ kind: "unavailable" });
      }
    }
    await restarted;
    await recovers(store, 30_000);
    expect(await store.pets.byId(id)).toEqual({ id, name: "kept", categoryId: 1n });
  },
);

test("a frozen server: requests wait as long as they may, then are refused at once, then go on", async () => {
  await works(store);
  server.freeze();
  try {
    const first = await Promise.all(Object.values(work).map((each) => timed(each(store))));
    for (const { ms, error } of first) {
      expect(error).toMatchObject({ kind: "unavailable" });
      expect(error?.hint).toContain("REHOME_STORE_TIMEOUT");
      expect(ms).toBeGreaterThan(timeoutMs / 2);
      expect(ms).toBeLessThan(timeoutMs + slackMs);
    }
    const later = await Promise.all(Object.values(work).map((each) => timed(each(store))));
    for (const { ms, error } of later) {
      expect(error?.kind).toBe("unavailable");
      expect(ms).toBeLessThan(slackMs);
    }
    // Nothing that was kept in memory may be relied on while nobody knows what others changed.
    await until(() => store.current?.() !== undefined);
    expect((await timed(store.current?.() as Promise<void>)).error?.kind).toBe("unavailable");
    expect(await store.check()).toMatchObject([
      { name: "database", ok: false, detail: "it cannot be used at the moment" },
    ]);
  } finally {
    server.thaw();
  }
  await recovers(store, 30_000);
  await until(() => store.current?.() === undefined);
});

test("a database that becomes read-only is not asked again and again: writes are refused, and reads go on", async () => {
  await works(store);
  await setReadOnly(true, "%");
  const { page, ...writes } = work;
  for (let round = 0; round < 3; round += 1) {
    const refused = await Promise.all(Object.values(writes).map((each) => timed(each(store))));
    expect(refused.map(({ error }) => error?.kind)).toEqual(refused.map(() => "unavailable"));
  }
  // Each set of connections loses those that were ended, and then one that may not write.
  expect(losses.length).toBeLessThanOrEqual(2 * Object.keys(work).length);
  expect((await timed(page?.(store) ?? Promise.reject())).error).toBeUndefined();
  await setReadOnly(false, "%");
  await recovers(store, 30_000);
});

test("is not ready while a create finds no connection that may write, whatever reads find", async () => {
  await works(store);
  await setReadOnly(true, "%unnest(%");
  expect((await timed(store.pets.create({ name: "x", categoryId: 1n }))).error?.kind).toBe(
    "unavailable",
  );
  expect(await store.check()).toMatchObject([{ name: "database", ok: false }]);
  await setReadOnly(false, "");
  await recovers(store, 30_000);
  expect(await store.check()).toMatchObject([{ name: "database", ok: true }]);
});

test("a change that waits in vain for a long one is refused, and the long one goes on", async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const long = store.db.transaction(async (tx) => {
    await nextEpoch(tx);
    begin();
    await over;
    return nextEpoch(tx);
  }, longWork);
  await begun;
  const { error } = await timed(store.db.transaction(nextEpoch));
  expect(error?.kind).toBe("unavailable");
  end();
  expect((await timed(long)).error).toBeUndefined();
  await recovers(store, 30_000);
});

test("a process cut off in the middle of a take does not keep others from its keys", async () => {
  const { proxy, far } = await openFar();
  await far.windows.reserve([takeOf("shared")], []);
  const gone = new AbortController();
  const busy = Array.from({ length: 4 }, async () => {
    while (!gone.signal.aborted)
      await timed(Promise.resolve(far.windows.reserve([takeOf("shared")], [])));
  });
  // Until the server has a transaction of the far process that waits for its client, with the row
  // locked.
  await until(async () => {
    proxy.cut();
    await Bun.sleep(20);
    const [row] = (await database.sql`
      SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'idle in transaction'`) as [{ n: number }];
    if (row.n > 0) return true;
    proxy.mend();
    // Cut off before it has connected again, it would never begin another take.
    await recovers(far, 30_000);
    return false;
  });
  const startMs = performance.now();
  let taken = await timed(Promise.resolve(store.windows.reserve([takeOf("shared")], [])));
  while (taken.error !== undefined && performance.now() - startMs < 30_000) {
    taken = await timed(Promise.resolve(store.windows.reserve([takeOf("shared")], [])));
  }
  expect(taken.error).toBeUndefined();
  expect(performance.now() - startMs).toBeLessThan(timeoutMs + 2 * slackMs);
  gone.abort();
  await Promise.all(busy);
  proxy.mend();
  await recovers(far, 30_000);
  await far.close();
  await proxy.close();
});

test("more than the store can take is refused and does not pile up", async () => {
  await works(store);
  let isLocked = false;
  const held = database.sql.begin(async (tx) => {
    await tx`LOCK TABLE rehome.pets, rehome.catalogue IN ACCESS EXCLUSIVE MODE`;
    isLocked = true;
    await until(() => !isLocked);
  });
  await until(() => isLocked);
  const reads = Array.from({ length: 3_000 }, () => timed(Promise.resolve(store.pets.byId(1n))));
  const creates = Array.from({ length: 20_000 }, () => timed(store.pets.create(newPet())));
  const outcomes = await Promise.all([...reads, ...creates]);
  isLocked = false;
  await held;
  expect(outcomes.every(({ error }) => error?.kind === "unavailable")).toBe(true);
  const messages = new Set(outcomes.map(({ error }) => error?.message));
  expect(messages.has("The store is overloaded at the moment.")).toBe(true);
  for (const { ms } of outcomes) expect(ms).toBeLessThan(timeoutMs + 2 * slackMs);
  await recovers(store, 30_000);
});

test("a database that fell back to an older state makes every key be read again", async () => {
  const before = store.versions().keys;
  await database.sql`UPDATE rehome.key_epoch SET epoch = 1000`;
  await until(() => store.versions().keys === 1_000);
  await database.sql`UPDATE rehome.key_epoch SET epoch = 7`;
  await until(() => store.versions().keys > 1_000);
  expect(store.versions().keys).toBeGreaterThan(before);
  // It reads from the beginning, and later changes are noticed as ever.
  expect(await store.keys.changedSince(1_000)).toEqual([]);
  const fallen = store.versions().keys;
  await database.sql`UPDATE rehome.key_epoch SET epoch = 8`;
  await until(() => store.versions().keys === fallen + 1);
});

test("the difference between the machine's clock and the database's is known, and never too small", async () => {
  const far = await openPostgresStore({
    systemClock: () => Date.now() - 30_000,
    address: parseDatabaseAddress(database.url),
    timeoutMs,
    onError: () => {},
  });
  expect(far.windows.skewMs()).toBeGreaterThanOrEqual(30_000);
  await until(() => far.windows.skewMs() < 32_000);
  await far.close();
});
