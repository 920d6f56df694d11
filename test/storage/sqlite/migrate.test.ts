/**
 * Applying migrations: each once, in order, all or none, and without losing what refers to a
 * rebuilt table.
 */
import { expect, test } from "bun:test";
import type { Database } from "bun:sqlite";
import { join } from "node:path";
import { openDatabase } from "../../../src/storage/sqlite/connection.ts";
import { migrate } from "../../../src/storage/sqlite/migrate.ts";
import type { Migration } from "../../../src/storage/migration-history.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

const sourceOf = (name: string) => join(import.meta.dir, `../../../src/storage/sqlite/${name}.ts`);

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

const open = () => openDatabase(":memory:", { synchronous: "full" });
const rows = (db: Database, table: string) =>
  db.query<{ rows: bigint }, []>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows;
function filled(): Database {
  const db = open();
  migrate(db, "test.db", [first]);
  db.run("INSERT INTO parents (id) VALUES (1)");
  db.run("INSERT INTO children (parent) VALUES (1), (1)");
  return db;
}

test("what is pending is applied in order, what was applied is not applied again", () => {
  using db = open();
  expect(migrate(db, "test.db", [first, rebuild])).toEqual([first.tag, rebuild.tag]);
  expect(migrate(db, "test.db", [first, rebuild])).toEqual([]);
  const applied = db.query("SELECT tag, hash FROM schema_migrations ORDER BY rowid").all();
  expect(applied).toEqual([first, rebuild].map(({ tag, hash }) => ({ tag, hash })));
});

test("a table that is rebuilt loses none of the rows that refer to it, and references bind afterwards", () => {
  using db = filled();
  expect(migrate(db, "test.db", [first, rebuild])).toEqual([rebuild.tag]);
  expect([rows(db, "parents"), rows(db, "children")]).toEqual([1n, 2n]);
  expect(() => db.run("INSERT INTO children (parent) VALUES (7)")).toThrow("FOREIGN KEY");
});

test.each([
  ["would break references", "DELETE FROM parents;", "would break references; nothing was changed"],
  ["fails in the middle", "DELETE FROM children; SELECT * FROM nowhere;", "no such table: nowhere"],
])("a migration that %s changes nothing", (_what, sql, message) => {
  using db = filled();
  const wrong = migration("0001_wrong", sql);
  expect(() => migrate(db, "test.db", [first, wrong])).toThrow(message);
  expect([rows(db, "parents"), rows(db, "children")]).toEqual([1n, 2n]);
  expect(rows(db, "schema_migrations")).toBe(1n);
});

test("processes that start together take turns", async () => {
  using folder = temporaryFolder();
  const path = `${folder.path}/test.db`;
  using db = openDatabase(path, { synchronous: "full" });
  db.run("BEGIN IMMEDIATE");
  const other = `
    const { openDatabase } = await import(${JSON.stringify(sourceOf("connection"))});
    const { migrate } = await import(${JSON.stringify(sourceOf("migrate"))});
    const db = openDatabase(${JSON.stringify(path)}, { synchronous: "full" });
    console.log("starts");
    console.log(migrate(db, "test.db", ${JSON.stringify([first])}));`;
  const child = Bun.spawn([process.execPath, "-e", other], { stdout: "pipe" });
  const output = child.stdout.getReader();
  await output.read();
  await Bun.sleep(100);
  migrate(db, "test.db", [first]);
  db.run("COMMIT");
  // It finds nothing more to apply.
  expect(Buffer.from((await output.read()).value ?? []).toString()).toBe("[]\n");
});
