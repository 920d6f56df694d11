/** How a database is migrated, read and watched, and what its failures are taken for. */
import { Database, SQLiteError } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../../src/domain/errors.ts";
import * as connection from "../../../src/storage/sqlite/connection.ts";
import type { KeyHash } from "../../../src/storage/contract.ts";
import { keyStore } from "../../../src/storage/keys.ts";
import { migrationsOf } from "../../../src/storage/sqlite/files.ts";
import { migrate } from "../../../src/storage/sqlite/migrate.ts";
import { hotReads } from "../../../src/storage/sqlite/pets.ts";
import { SqliteDatabase } from "../../../src/storage/sqlite/transaction.ts";
import { VersionReader } from "../../../src/storage/sqlite/watch.ts";
import type { Migration } from "../../../src/storage/migration-history.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

const { asAppError, isBusy, isDamaged, isFull, openDatabase } = connection;
const inMemory = () => openDatabase(":memory:", { synchronous: "full" });

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

/** A reader, and another process on the same file. */
function opened(clock?: () => number) {
  const folder = temporaryFolder();
  const path = join(folder.path, "catalogue.db");
  const [db, other] = [1, 2].map(() => openDatabase(path, { synchronous: "normal" })) as [
    Database,
    Database,
  ];
  migrate(db, path, migrationsOf.catalogue);
  const versions = new VersionReader(db, clock);
  return {
    db,
    other,
    versions,
    [Symbol.dispose]() {
      for (const each of [db, other]) each.close();
      folder[Symbol.dispose]();
    },
  };
}

test("a read of the versions serves no request that begins 0.1 ms later", () => {
  let nowMs = 1;
  using place = opened(() => nowMs);
  const { other, versions } = place;
  const before = versions.read();
  other.run("UPDATE key_epoch SET epoch = epoch + 1");
  nowMs += 0.09;
  expect(versions.read()).toBe(before);
  nowMs += 0.02;
  expect(versions.read().keys).toBe(before.keys + 1);
});

test("a change by hand that counts no edit is an edit", async () => {
  using place = opened();
  const { other, versions } = place;
  const editsAfter = async (change: string) => {
    const { edits } = versions.read();
    other.run(change);
    versions.expire();
    return versions.read().edits - edits;
  };
  expect(await editsAfter("INSERT INTO pets (name, category_id) VALUES ('Rex', 1)")).toBe(0);
  expect(await editsAfter("UPDATE pets SET name = 'Mia'")).toBe(1);
});

test("an animal that is added while the numbers are read is an addition", () => {
  using place = opened();
  const { db, other } = place;
  const add = () => other.run("INSERT INTO pets (name, category_id) VALUES ('Rex', 1)");
  let between = () => {};
  const query = db.query.bind(db);
  Object.assign(db, {
    query(text: string) {
      const statement = query(text);
      const get = statement.get.bind(statement);
      const isOfNumbers = text.includes("key_epoch");
      return Object.assign(statement, {
        get() {
          if (isOfNumbers) between();
          return get();
        },
      });
    },
  });
  const versions = new VersionReader(db);
  const before = versions.read();
  add();
  between = () => {
    between = () => {};
    add();
  };
  for (const pets of [1, 2]) {
    versions.expire();
    expect(versions.read()).toEqual({ ...before, pets: before.pets + pets });
  }
});

// A page deep inside must cost what the first one costs.
test("each statement about animals and keys searches by an index, and scans one row at most", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "rehome.db");
  using native = openDatabase(path, { synchronous: "off" });
  migrate(native, path, migrationsOf.catalogue);
  const statements = new Set<string>();
  const open = () => {
    const opened = openDatabase(path, { synchronous: "off" });
    const prepare = opened.prepare.bind(opened);
    spyOn(opened, "prepare").mockImplementation((sql) => {
      statements.add(sql);
      return prepare(sql);
    });
    return opened;
  };
  using connection = open();
  const db = new SqliteDatabase({ open, timeoutMs: 0 });
  const keys = keyStore(
    { db, counters: db },
    { secretByHash: async () => ({ keyId: "key_1", expiresAtMs: null }) },
  );
  const hash = new Uint8Array(32) as KeyHash;
  await hotReads(connection).secret(hash);
  await keys.byHash(hash);
  await keys.changedSince(0);
  await db.close();

  const plans = [...statements].map((sql) => {
    const nulls = Array<null>(sql.split("?").length - 1).fill(null);
    const rows = native.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...nulls);
    return [sql, rows.map((row) => (row as { detail: string }).detail).join("; ")] as const;
  });
  for (const [sql, plan] of plans) expect(`${sql}: ${plan}`).not.toContain("SCAN");
  const planOf = (part: string) =>
    plans.filter(([sql]) => sql.includes(part)).map(([, plan]) => plan);
  const byKey = "SEARCH pets USING INTEGER PRIMARY KEY";
  expect(planOf('where "pets"."id" > ? order by')).toEqual([`${byKey} (rowid>?)`]);
  expect(planOf('"pets"."id" = ?')).toEqual([`${byKey} (rowid=?)`]);
  expect(planOf('"pets"."status" = ?')).toEqual([
    "SEARCH pets USING COVERING INDEX pets_by_status (status=? AND id>?)",
  ]);
  expect(plans).toHaveLength(6);
});
