/** What holds of a store on a data folder alone: turns, locks, files and checks. */
import { constants, Database as Connection } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { randomBytes } from "../../../src/cli/open.ts";
import { systemClock } from "../../../src/domain/clock.ts";
import { PeopleService } from "../../../src/features/console/people.ts";
import { type Database, patientWork } from "../../../src/storage/database.ts";
import { openSqliteStore } from "../../../src/storage/sqlite/store.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A server's store on a folder of its own, which ends with the test. */
function opened(more: Partial<Parameters<typeof openSqliteStore>[0]> = {}) {
  const folder = temporaryFolder();
  const options = { folder: folder.path, clock: systemClock, timeoutMs: 100, serving: true };
  const store = openSqliteStore({ ...options, ...more });
  const path = (name: string) => join(folder.path, name);
  ends.push(async () => {
    await store.close();
    folder[Symbol.dispose]();
  });
  return { store, path, connect: (name = "rehome.db") => new Connection(path(name)) };
}

const rex = { name: "Rex", categoryId: 1n };
const lockHeld = "another process has held its lock for too long";
/** Lets the running event-loop turn end. */
const nextTurn = () => new Promise(setImmediate);

test("a transaction has the lock from its beginning; a change is on the disk, and counters survive a kill", async () => {
  const { connect, store } = opened();
  using other = connect();
  await store.db.transaction(async (tx) => {
    expect(() => other.run("UPDATE key_epoch SET epoch = epoch + 1")).toThrow("locked");
    await tx.delete(tx.t.pets);
  });
  const synchronous = (db: Database) => db.transaction((tx) => tx.rows(sql`PRAGMA synchronous`));
  expect(await synchronous(store.db)).toEqual([{ synchronous: 2n }]);
  expect(await synchronous(store.counters)).toEqual([{ synchronous: 1n }]);
});

test("an animal is there for whoever reads once its create is answered, however much was read before", async () => {
  const { store } = opened();
  let isOver = false;
  // Others read in every turn, the one in which the writer thread answers among them.
  const read = () => {
    if (isOver) return;
    store.versions();
    setImmediate(read);
  };
  read();
  for (let round = 0; round < 20; round += 1) {
    const before = store.versions().pets;
    const id = await store.pets.create(rex);
    expect(store.versions().pets).toBeGreaterThan(before);
    expect(await store.pets.byId(id)).toBeDefined();
  }
  isOver = true;
  await nextTurn();
});

test("after 4,096 takes the log of the counters is moved into their file", async () => {
  const { path, store } = opened();
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
  for (let count = 0; count < 4_096; count += 1) {
    await store.windows.reserve([{ keyId: "key_1", limits, want: 1, unused: undefined }], []);
  }
  // The writer thread does what it is told in its order: when this is done, so is the checkpoint.
  await store.pets.create(rex);
  // Read without the log.
  const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;
  using file = new Connection(`file:${path("limits.db")}?immutable=1`, flags);
  const { used } = file.query("SELECT day_used AS used FROM rate_windows").get() as {
    used: number;
  };
  expect(used).toBeGreaterThanOrEqual(4_095);
});

test("its checks name which file cannot be written, and why, and write nothing while takes succeed", async () => {
  const { connect, store } = opened();
  await store.started;
  const failing = async () =>
    (await store.check()).flatMap(({ name, ok, detail }) => (ok ? [] : [`${name}: ${detail}`]));
  expect(await failing()).toEqual([]);
  for (const [name, file] of [
    ["catalogue", "rehome.db"],
    ["limits", "limits.db"],
  ] as const) {
    using other = connect(file);
    other.run("BEGIN IMMEDIATE");
    expect(await failing()).toEqual([`${name}: ${lockHeld}`]);
    other.run("ROLLBACK");
    expect(await failing()).toEqual([]);
  }
  const limits = { perMinute: 1, perDay: 1 };
  await store.windows.reserve([{ keyId: "key_1", limits, want: 1, unused: undefined }], []);
  using other = connect("limits.db");
  const version = () => other.query("PRAGMA data_version").get();
  const before = version();
  await store.check();
  expect(version()).toEqual(before);
});

test("a check waits for another process's write, and no longer than others do", async () => {
  for (const [timeoutMs, expected] of [
    [2_000, []],
    [20, [{ name: "catalogue", ok: false, detail: lockHeld }]],
  ] as const) {
    const { connect, store } = opened({ timeoutMs });
    await store.started;
    using other = connect();
    other.run("BEGIN IMMEDIATE");
    // Whatever else waits for the lock.
    const patient = store.db.transaction((tx) => tx.delete(tx.t.pets), patientWork);
    const checks = store.check();
    if (expected.length === 0) {
      await Bun.sleep(50);
      other.run("ROLLBACK");
    }
    expect((await checks).filter(({ ok }) => !ok)).toEqual([...expected]);
    if (expected.length > 0) other.run("ROLLBACK");
    await patient;
  }
});

test("who ends somebody's access waits for a long change, as nobody else does", async () => {
  const { connect, store } = opened({ timeoutMs: 1 });
  const people = new PeopleService(store.db, systemClock, randomBytes);
  const { person } = await people.invite("Ana", "staff", "test");
  using other = connect();
  other.run("BEGIN IMMEDIATE");
  const by = { action: "revoke", actor: "test", nowMs: 0 };
  const ends = [store.keys.change("key_1", by, (key) => key), people.remove(person.id)];
  const refused: unknown = await store.pets.create(rex).catch((error: unknown) => error);
  expect(refused).toMatchObject({ kind: "unavailable" });
  other.run("ROLLBACK");
  expect(await Promise.all<unknown>(ends)).toEqual([undefined, undefined]);
  expect(await people.byId(person.id)).toBeUndefined();
});
