import { constants, Database as Connection } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { sql } from "drizzle-orm";
import { systemClock } from "../../../src/domain/clock.ts";
import { type Database, patientWork } from "../../../src/storage/database.ts";
import { PeopleService } from "../../../src/features/console/people.ts";
import { randomBytes } from "../../../src/cli/open.ts";
import { openSqliteStore } from "../../../src/storage/sqlite/store.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

const options = (folder: string) => ({
  folder,
  clock: systemClock,
  timeoutMs: 100,
  serving: true,
});
const open = (folder: string) => openSqliteStore(options(folder));

/** Lets the running event-loop turn end. */
const nextTurn = () => new Promise(setImmediate);

test("a store may be closed in the turn in which it was read", async () => {
  using folder = temporaryFolder();
  const store = open(folder.path);
  store.versions();
  await store.close();
  await nextTurn();
});

test("all reads of a turn see one state, and the next turn sees what another process did", async () => {
  using folder = temporaryFolder();
  const [reader, other] = [open(folder.path), open(folder.path)];
  const seen = async () => (await reader.pets.page({ limit: 2 })).length;
  const before = reader.versions();
  expect(await seen()).toBe(0);
  // Another process commits while this turn is still running.
  const added = Bun.spawnSync([
    process.execPath,
    "-e",
    `const { Database } = require("bun:sqlite");
     new Database(${JSON.stringify(`${folder.path}/rehome.db`)})
       .run("INSERT INTO pets (name, category_id) VALUES ('Rex', 1)");`,
  ]);
  expect(added.exitCode).toBe(0);
  expect(reader.versions()).toBe(before);
  expect(await seen()).toBe(0);
  await nextTurn();
  expect(reader.versions().pets).toBe(before.pets + 1);
  expect(await seen()).toBe(1);
  await Promise.all([reader.close(), other.close()]);
});

test("a change in a turn that has read is there for others at once, not when the turn ends", async () => {
  using folder = temporaryFolder();
  const store = open(folder.path);
  const id = await store.pets.create({ name: "Rex", categoryId: 1n });
  await nextTurn();
  store.versions();
  expect(await store.pets.byId(id)).toMatchObject({ name: "Rex" });
  await store.db.transaction((tx) => tx.update(tx.t.pets).set({ status: "sold" }));
  using other = new Connection(`${folder.path}/rehome.db`);
  expect(other.query("SELECT status FROM pets").get()).toEqual({ status: "sold" });
  await store.close();
});

test("a transaction has the lock from its beginning", async () => {
  using folder = temporaryFolder();
  const store = open(folder.path);
  using other = new Connection(`${folder.path}/rehome.db`);
  await store.db.transaction(async (tx) => {
    expect(() => other.run("UPDATE key_epoch SET epoch = epoch + 1")).toThrow("locked");
    await tx.delete(tx.t.pets);
  });
  await store.close();
});

test("a change is on the disk once it returns, and counters survive a kill", async () => {
  using folder = temporaryFolder();
  const store = open(folder.path);
  const synchronous = (db: Database) => db.transaction((tx) => tx.rows(sql`PRAGMA synchronous`));
  expect(await synchronous(store.db)).toEqual([{ synchronous: 2n }]);
  expect(await synchronous(store.counters)).toEqual([{ synchronous: 1n }]);
  await store.close();
});

test("an animal is there for whoever reads once its create is answered, however much was read before", async () => {
  using folder = temporaryFolder();
  const store = open(folder.path);
  const over = new AbortController();
  // Others read in every turn, the one in which the writer thread answers among them.
  const read = () => {
    store.versions();
    if (!over.signal.aborted) setImmediate(read);
  };
  read();
  for (let round = 0; round < 20; round += 1) {
    const before = store.versions().pets;
    const id = await store.pets.create({ name: "Rex", categoryId: 1n });
    expect(store.versions().pets).toBeGreaterThan(before);
    expect(await store.pets.byId(id)).toBeDefined();
  }
  over.abort();
  await nextTurn();
  await store.close();
});

test("after 4,096 takes the log of the counters is moved into their file", async () => {
  using folder = temporaryFolder();
  const store = open(folder.path);
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
  for (let count = 0; count < 4_096; count += 1) {
    await store.windows.reserve([{ keyId: "key_1", limits, want: 1, unused: undefined }], []);
  }
  // The writer thread does what it is told in its order: when this is done, so is the checkpoint.
  await store.pets.create({ name: "Rex", categoryId: 1n });
  // Read without the log.
  using file = new Connection(
    `file:${folder.path}/limits.db?immutable=1`,
    constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI,
  );
  const { used } = file.query("SELECT day_used AS used FROM rate_windows").get() as {
    used: number;
  };
  expect(used).toBeGreaterThanOrEqual(4_095);
  await store.close();
});

test("its checks name which of its files cannot be written, and why", async () => {
  using folder = temporaryFolder();
  const store = open(folder.path);
  const failing = async () =>
    (await store.check()).flatMap(({ name, ok, detail }) => (ok ? [] : [`${name}: ${detail}`]));
  expect(await failing()).toEqual([]);
  for (const [name, file] of [
    ["catalogue", "rehome.db"],
    ["limits", "limits.db"],
  ] as const) {
    using other = new Connection(`${folder.path}/${file}`);
    other.run("BEGIN IMMEDIATE");
    expect(await failing()).toEqual([`${name}: another process has held its lock for too long`]);
    other.run("ROLLBACK");
    expect(await failing()).toEqual([]);
  }
  await store.close();
});

test("its checks write nothing while takes succeed", async () => {
  using folder = temporaryFolder();
  const store = open(folder.path);
  await store.started;
  const limits = { perMinute: 1, perDay: 1 };
  await store.windows.reserve([{ keyId: "key_1", limits, want: 1, unused: undefined }], []);
  using other = new Connection(`${folder.path}/limits.db`);
  const version = () => other.query("PRAGMA data_version").get();
  const before = version();
  await store.check();
  expect(version()).toEqual(before);
  await store.close();
});

test("animals that cannot be read are an unavailable store, and a retry makes sense", async () => {
  using folder = temporaryFolder();
  const before = open(folder.path);
  const name = "a".repeat(60_000);
  for (let n = 0; n < 20; n += 1) await before.pets.create({ name, categoryId: 1n });
  await before.close();
  const store = open(folder.path);
  const file = `${folder.path}/rehome.db`;
  const keptBytes = 30 * 4_096;
  writeFileSync(file, Buffer.alloc(statSync(file).size, readFileSync(file).subarray(0, keptBytes)));
  const unavailable = { kind: "unavailable" };
  const failure = async (read: () => unknown) => {
    try {
      return await read();
    } catch (error) {
      return error;
    }
  };
  expect(await failure(() => store.pets.page({ limit: 20 }))).toMatchObject(unavailable);
  expect(await failure(() => store.pets.byId(15n))).toMatchObject(unavailable);
  await store.close();
});

test("a check waits for another process's write", async () => {
  using folder = temporaryFolder();
  const store = openSqliteStore({ ...options(folder.path), timeoutMs: 2_000 });
  await store.started;
  using other = new Connection(`${folder.path}/rehome.db`);
  other.run("BEGIN IMMEDIATE");
  const checks = store.check();
  await Bun.sleep(50);
  other.run("ROLLBACK");
  expect((await checks).filter(({ ok }) => !ok)).toEqual([]);
  await store.close();
});

test("a check waits no longer than others do, whatever else waits for the lock", async () => {
  using folder = temporaryFolder();
  const store = openSqliteStore({ ...options(folder.path), timeoutMs: 20 });
  await store.started;
  using other = new Connection(`${folder.path}/rehome.db`);
  other.run("BEGIN IMMEDIATE");
  const patient = store.db.transaction((tx) => tx.run(sql`DELETE FROM ${tx.t.pets}`), patientWork);
  expect((await store.check()).filter(({ ok }) => !ok)).toEqual([
    {
      name: "catalogue",
      ok: false,
      detail: "another process has held its lock for too long",
    },
  ]);
  other.run("ROLLBACK");
  await patient;
  await store.close();
});

test("a store that was closed tells of no files that are gone", async () => {
  using folder = temporaryFolder();
  const problems: unknown[] = [];
  const onProblem = (error: unknown) => problems.push(error);
  const store = openSqliteStore({ ...options(folder.path), onProblem });
  await store.started;
  await store.close();
  // Longer than it is between two looks.
  await Bun.sleep(300);
  expect(problems).toEqual([]);
});

test("who ends somebody's access waits for a long change, as nobody else does", async () => {
  using folder = temporaryFolder();
  const store = openSqliteStore({ ...options(folder.path), timeoutMs: 1 });
  const people = new PeopleService(store.db, systemClock, randomBytes);
  const { person } = await people.invite("Ana", "staff", "test");
  using other = new Connection(`${folder.path}/rehome.db`);
  other.run("BEGIN IMMEDIATE");
  const revocation = store.keys.change(
    "key_1",
    { action: "revoke", actor: "test", nowMs: 0 },
    (key) => key,
  );
  const removal = people.remove(person.id);
  const refused = store.pets
    .create({ name: "Rex", categoryId: 1n })
    .catch((error: unknown) => error);
  expect(await refused).toMatchObject({ kind: "unavailable" });
  other.run("ROLLBACK");
  expect(await revocation).toBeUndefined();
  expect(await removal).toBeUndefined();
  expect(await people.byId(person.id)).toBeUndefined();
  await store.close();
});
