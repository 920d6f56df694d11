/** The rules that keep an async transaction on bun:sqlite from losing or mixing anything. */
import type { Database as Connection } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import type { Tx } from "../../../src/storage/database.ts";
import { openDatabase } from "../../../src/storage/sqlite/connection.ts";
import { migrationsOf } from "../../../src/storage/sqlite/files.ts";
import { migrate } from "../../../src/storage/sqlite/migrate.ts";
import { SqliteDatabase } from "../../../src/storage/sqlite/transaction.ts";

let folder: string;
let native: Connection;
let db: SqliteDatabase;

const open = () =>
  openDatabase(join(folder, "rehome.db"), { synchronous: "off", busyTimeoutMs: 0 });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rehome-test-"));
  native = open();
  migrate(native, "rehome.db", migrationsOf.catalogue);
  db = new SqliteDatabase({ open, timeoutMs: 2_000 });
});

afterEach(async () => {
  await db.close();
  native.close(true);
  rmSync(folder, { recursive: true });
});

const fact = (name: string) => ({ name, value: "1" });
const add = (tx: Tx, name: string) => tx.insert(tx.t.storeState).values(fact(name));
const insert = "INSERT INTO store_state (name, value) VALUES (?, '1')";
const names = () =>
  native
    .query<{ name: string }, []>("SELECT name FROM store_state ORDER BY name")
    .all()
    .map(({ name }) => name);

const notItsOwn = { message: expect.stringContaining("may await its own statements only") };
const failure = (work: Promise<unknown>) => work.catch((error: unknown) => error);

test("a native write between two statements is not lost with the transaction", async () => {
  const failing = db.transaction(async (tx) => {
    await add(tx, "lost");
    throw new Error("rolled back");
  });
  // Asked for in the middle of the transaction, and acknowledged after it.
  const kept = Promise.resolve().then(() =>
    db.writes.committed((prepare) => prepare(insert).run("acknowledged")),
  );
  expect(await failure(failing)).toEqual(new Error("rolled back"));
  await kept;
  expect(names()).toEqual(["acknowledged"]);
});

test("a transaction within a transaction is refused, and does not hang", async () => {
  const nested = db.transaction(async (tx) => {
    await add(tx, "outer");
    await db.transaction((inner) => add(inner, "inner"));
  });
  expect(await failure(nested)).toMatchObject(notItsOwn);
  // The inner one runs after the outer one was rolled back.
  await db.transaction(async () => {});
  expect(names()).toEqual(["inner"]);
});

test("a transaction that awaits something else is rolled back, and its end does nothing", async () => {
  const woken = Promise.withResolvers<void>();
  let late: unknown;
  const slow = db.transaction(async (tx) => {
    await add(tx, "before");
    await woken.promise;
    late = await failure(add(tx, "after").then(() => "added"));
  });
  expect(await failure(slow)).toMatchObject(notItsOwn);
  woken.resolve();
  await db.transaction((tx) => add(tx, "next"));
  expect(late).toEqual(new Error("The transaction has ended."));
  expect(names()).toEqual(["next"]);
});

test("another connection's lock is waited for while the event loop goes on; one that stays is an error", async () => {
  const impatient = new SqliteDatabase({ open, timeoutMs: 5 });
  native.run("BEGIN IMMEDIATE");
  expect(await failure(impatient.transaction(async () => {}))).toMatchObject({
    kind: "unavailable",
    why: "another process holds its lock",
  });
  await impatient.close();
  let begun = 0;
  const waiting = db.transaction(async (tx) => {
    begun += 1;
    await add(tx, "waited");
  });
  for (let turns = 0; turns < 5; turns += 1) await Bun.sleep(1);
  expect(begun).toBe(0);
  native.run("COMMIT");
  await waiting;
  expect([begun, names()]).toEqual([1, ["waited"]]);
});

test("a read sees one moment, waits for no transaction, and writes nothing", async () => {
  await db.transaction((tx) => add(tx, "first"));
  native.run("BEGIN IMMEDIATE");
  const counts = await db.read(async (tx) => {
    const before = await tx.select().from(tx.t.storeState);
    native.run(insert, ["second"]);
    native.run("COMMIT");
    return [before.length, (await tx.select().from(tx.t.storeState)).length];
  });
  expect(counts).toEqual([1, 1]);
  expect(names()).toEqual(["first", "second"]);
  const writing = db.read((tx) => tx.run(sql`DELETE FROM ${tx.t.storeState}`));
  expect(await failure(writing)).toBeInstanceOf(Error);
});

test("what SQLite rolled back by itself does not go on without a transaction", async () => {
  const failing = db.transaction(async (tx) => {
    await add(tx, "first");
    await tx.run(sql`ROLLBACK`);
    await add(tx, "second");
  });
  expect(await failure(failing)).toEqual(new Error("The transaction has ended."));
  expect(names()).toEqual([]);
});

test("more statements than are kept prepared run all the same", async () => {
  await db.transaction(async (tx) => {
    for (let index = 0; index < 600; index += 1) {
      await tx.rows(sql.raw(`SELECT ${index} AS number`));
    }
    await add(tx, "last");
  });
  expect(names()).toEqual(["last"]);
});
