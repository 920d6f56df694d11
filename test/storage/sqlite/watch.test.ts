/** The snapshot that all reads of an event-loop turn are made in. */
import { expect, test } from "bun:test";
import { catalogueMigrations } from "../../../src/storage/sqlite/files.ts";
import { openDatabase } from "../../../src/storage/sqlite/database.ts";
import { migrate } from "../../../src/storage/sqlite/migrate.ts";
import { versionReader } from "../../../src/storage/sqlite/watch.ts";

const endOfTurn = () => new Promise((resolve) => void setImmediate(resolve));

function opened() {
  const db = openDatabase(":memory:", { synchronous: "full" });
  migrate(db, ":memory:", catalogueMigrations);
  db.run("UPDATE key_epoch SET epoch = 7");
  return { db, versions: versionReader(db, true) };
}

test("ends with the turn, and the next turn has one of its own", async () => {
  const { db, versions } = opened();
  for (let turn = 0; turn < 2; turn += 1) {
    expect(versions.read().keys).toBe(7);
    expect(db.inTransaction).toBe(true);
    await endOfTurn();
    expect(db.inTransaction).toBe(false);
  }
});

test("that SQLite gave up itself, as it does when a read fails, is no failure at the turn's end", async () => {
  const { db, versions } = opened();
  versions.read();
  db.run("ROLLBACK");
  await endOfTurn();
  versions.read();
  expect(db.inTransaction).toBe(true);
  db.run("ROLLBACK");
  expect(() => versions.invalidate()).not.toThrow();
  await endOfTurn();
});
