/** How a database is opened and migrated, and what its failures are taken for. */
import { Database, SQLiteError } from "bun:sqlite";
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { AppError } from "../../../src/domain/errors.ts";
import * as connection from "../../../src/storage/sqlite/connection.ts";
import { migrate } from "../../../src/storage/sqlite/migrate.ts";
import type { Migration } from "../../../src/storage/migration-history.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

const { asAppError, isBusy, isDamaged, isFull, openDatabase } = connection;
const inMemory = () => openDatabase(":memory:", { synchronous: "full" });

test.each([
  ["full", 2n],
  ["normal", 1n],
] as const)(
  "with synchronous %s, a log, references that bind and a log that is cut back",
  (synchronous, level) => {
    using folder = temporaryFolder();
    using db = openDatabase(`${folder.path}/a.db`, { synchronous, pageSizeBytes: 1_024 });
    const pragmas = {
      journal_mode: "wal",
      synchronous: level,
      foreign_keys: 1n,
      busy_timeout: 5_000n,
      page_size: 1_024n,
      journal_size_limit: 16_777_216n,
    };
    for (const [name, value] of Object.entries(pragmas)) {
      expect([name, ...db.query(`PRAGMA ${name}`).values().flat()]).toEqual([name, value]);
    }
  },
);

test("a lock, a full disk and damage are told apart; outside each is an unavailable store", () => {
  using folder = temporaryFolder();
  const path = `${folder.path}/a.db`;
  using holder = openDatabase(path, { synchronous: "full" });
  holder.run("BEGIN IMMEDIATE");
  using other = openDatabase(path, { synchronous: "full", busyTimeoutMs: 0 });
  using small = inMemory();
  small.run("PRAGMA max_page_count = 2");
  small.run("CREATE TABLE a (b)");
  writeFileSync(`${folder.path}/b.db`, "no database ".repeat(100));
  const kinds = [isBusy, isFull, isDamaged];
  for (const [position, work] of [
    () => other.run("BEGIN IMMEDIATE"),
    () => small.run("INSERT INTO a VALUES (zeroblob(100000))"),
    () => new Database(`${folder.path}/b.db`).run("SELECT * FROM a"),
  ].entries()) {
    let error: unknown;
    try {
      work();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(SQLiteError);
    expect(kinds.map((is) => is(error))).toEqual(kinds.map((_, at) => at === position));
    const shown = asAppError(error);
    expect(shown).toBeInstanceOf(AppError);
    expect(shown).toMatchObject({ kind: "unavailable", cause: error });
  }
  const unknown = new Error("of another kind");
  expect(kinds.map((is) => is(unknown))).toEqual([false, false, false]);
  expect(asAppError(unknown)).toBe(unknown);
});

const migration = (tag: string, sql: string): Migration => ({ tag, hash: `hash of ${tag}`, sql });
const first = migration(
  "0000_first",
  `CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT;
   CREATE TABLE children (
     id INTEGER PRIMARY KEY,
     parent INTEGER NOT NULL REFERENCES parents (id) ON DELETE CASCADE
   ) STRICT;`,
);
/** As drizzle-kit rebuilds a table. */
const rebuild = migration(
  "0001_rebuild",
  `CREATE TABLE new_parents (id INTEGER PRIMARY KEY, name TEXT) STRICT;
   INSERT INTO new_parents (id) SELECT id FROM parents;
   DROP TABLE parents;
   ALTER TABLE new_parents RENAME TO parents;`,
);

const count = (db: Database, table: string) =>
  db.query<{ rows: bigint }, []>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows;

function filled(): Database {
  const db = inMemory();
  migrate(db, "test.db", [first]);
  db.run("INSERT INTO parents (id) VALUES (1)");
  db.run("INSERT INTO children (parent) VALUES (1), (1)");
  return db;
}

test("what is pending is applied in order and once; a rebuilt table loses nothing that refers to it", () => {
  using db = filled();
  expect(migrate(db, "test.db", [first, rebuild])).toEqual([rebuild.tag]);
  expect(migrate(db, "test.db", [first, rebuild])).toEqual([]);
  const applied = db.query("SELECT tag, hash FROM schema_migrations ORDER BY rowid").all();
  expect(applied).toEqual([first, rebuild].map(({ tag, hash }) => ({ tag, hash })));
  expect([count(db, "parents"), count(db, "children")]).toEqual([1n, 2n]);
  expect(() => db.run("INSERT INTO children (parent) VALUES (7)")).toThrow("FOREIGN KEY");
});

test.each([
  ["would break references", "DELETE FROM parents;", "would break references; nothing was changed"],
  ["fails in the middle", "DELETE FROM children; SELECT * FROM nowhere;", "no such table: nowhere"],
])("a migration that %s changes nothing", (_what, sql, message) => {
  using db = filled();
  const wrong = migration("0001_wrong", sql);
  expect(() => migrate(db, "test.db", [first, wrong])).toThrow(message);
  const rows = ["parents", "children", "schema_migrations"].map((table) => count(db, table));
  expect(rows).toEqual([1n, 2n, 1n]);
});
