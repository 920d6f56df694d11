/** Data of version 1.0.0 goes on. test/fixtures/1.0.0 was made by that version's executable. */
import { allKeys, eventsOf } from "../../src/features/keys/service.ts";
import { countsOf } from "../../src/features/keys/usage.ts";
import { createHash } from "node:crypto";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate, postgresMigrations } from "../../src/features/postgres/migrate.ts";
import { systemClock } from "../../src/domain/clock.ts";
import type { KeyHash, Store } from "../../src/storage/contract.ts";
import { PeopleService } from "../../src/features/console/people.ts";
import { migrationsOf } from "../../src/storage/sqlite/files.ts";
import { openDatabase } from "../../src/storage/sqlite/connection.ts";
import { migrate as migrateSqlite, pendingMigrations } from "../../src/storage/sqlite/migrate.ts";
import { openSqliteStore } from "../../src/storage/sqlite/store.ts";
import { temporaryFolder } from "../helpers/binary.ts";
import { hookTimeoutMs } from "../helpers/postgres.ts";
import { storeKind } from "../helpers/stores.ts";

const fixture = join(import.meta.dir, "../fixtures/1.0.0");
/** A secret of the fixture's key; it opens nothing else. */
const secret = "rehome_live_VOnaIQf4qEsdBeFZ7wyVIn4wDK79EL3A6sL7";
const hash = createHash("sha256").update(secret).digest() as unknown as KeyHash;

const nowMs = Date.UTC(2026, 10, 22, 1, 50, 40);

/** The store under test, in a place that `fill` fills first: a data folder, or a database. */
async function filled(
  fill: { folder: (path: string) => void; database: (sql: SQL, url: string) => Promise<unknown> },
  use: (store: Store) => Promise<unknown>,
): Promise<void> {
  await using place = await storeKind.place();
  const [, where = ""] = place.flags;
  if (storeKind.name === "sqlite") fill.folder(where);
  else {
    const sql = new SQL(where, { max: 1, bigint: true });
    await fill.database(sql, where);
    await sql.close();
  }
  const store = await place.open(() => nowMs);
  await use(store);
  await store.close();
}

const copyFixture = (folder: string) => {
  for (const file of ["rehome.db", "limits.db"]) cpSync(join(fixture, file), join(folder, file));
};

/** What a program left that had the migrations before the one named `name`, and `statements`. */
function before(name: string, statements: readonly string[]) {
  const former = <M extends { readonly tag: string }>(all: readonly M[]) =>
    all.slice(
      0,
      all.findIndex(({ tag }) => tag.endsWith(name)),
    );
  return {
    folder(path: string) {
      using db = openDatabase(join(path, "rehome.db"), { synchronous: "full" });
      migrateSqlite(db, path, former(migrationsOf.catalogue));
      for (const statement of statements) db.run(statement);
    },
    async database(sql: SQL, url: string) {
      await migrate(sql, url, former(postgresMigrations));
      await sql.unsafe("SET search_path TO rehome");
      for (const statement of statements) await sql.unsafe(statement);
    },
  };
}

const ofVersion1 = {
  folder: copyFixture,
  async database(sql: SQL, url: string) {
    await migrate(sql, url, postgresMigrations.slice(0, 1));
    await sql.unsafe("DELETE FROM rehome.schema_migrations");
    await sql.unsafe(await Bun.file(join(fixture, "postgres.sql")).text());
  },
};

test(
  "a store of 1.0.0 keeps its animals, ids, keys, events and counters, and goes on behind them",
  () =>
    filled(ofVersion1, async (store) => {
      expect(await store.pets.page({ limit: 100 })).toEqual([
        { id: 1n, name: "Rex", categoryId: 1n, status: "available" },
        { id: 2n, name: "", categoryId: 2n },
        { id: 3n, name: "é 🐢 'quoted'", categoryId: 3n, status: "sold" },
        { id: 5n, name: "Bella", categoryId: 4n, status: "available" },
        { id: 6n, name: "Milo", categoryId: 5n, status: "pending" },
        { id: 7n, name: "Nia", categoryId: 4n, status: "sold" },
      ]);
      expect(await store.pets.count()).toBe(6);
      const keys = await store.db.read(allKeys);
      expect(keys.map((key) => [key.name, key.plan, key.revokedAtMs === undefined])).toEqual([
        ["website", "pro", true],
        ["partner", "enterprise", true],
        ["old", "free", false],
      ]);
      const opened = await store.keys.byHash(hash);
      expect(opened?.key.name).toBe("website");
      const id = opened?.key.id ?? "";
      const events = await store.db.read((tx) => eventsOf(tx, id));
      expect(events.map(({ action }) => action)).toEqual(["create"]);
      expect(await countsOf(store, id)).toMatchObject({ minuteUsed: 4, dayUsed: 4 });
      expect(await store.pets.create({ name: "next", categoryId: 1n })).toBe(8n);
    }),
  hookTimeoutMs,
);

test(
  "people of one name get numbers, the later ones",
  () => {
    const person = (id: number, name: string, atMs: number, removed = "NULL") =>
      `INSERT INTO people (id, name, role, created_at_ms, created_by, removed_at_ms)
       VALUES ('per_${id}', '${name}', 'staff', ${atMs}, 'root', ${removed})`;
    const fill = before("people_by_name", [
      person(1, "Dup", 3),
      person(2, "Dup", 1),
      person(3, "Dup", 2),
      person(4, "Dup", 0, "5"),
      // Somebody is called so already.
      person(5, "Dup (2)", 9),
      person(6, "Ana", 9),
    ]);
    return filled(fill, async (store) => {
      const people = new PeopleService(store.db, Date.now, () => new Uint8Array(32));
      expect((await people.list()).map(({ id, name }) => `${id} ${name}`)).toEqual([
        "per_2 Dup",
        "per_3 Dup (2)",
        "per_1 Dup (3)",
        "per_5 Dup (2) per_5",
        "per_6 Ana",
      ]);
    });
  },
  hookTimeoutMs,
);

test(
  "ids that 1.0.0 imported get the source that is a part of them, unless another animal has that id",
  () => {
    const pet = (name: string, id: string, source = "", createdAtMs = "NULL") =>
      `INSERT INTO pets (name, category_id, external_id, source, created_at_ms)
       VALUES ('${name}', 1, '${id}', '${source}', ${createdAtMs})`;
    const fill = before("what_lists_said", [
      pet("old", "asm:1"),
      pet("twice", "asm:2"),
      pet("new", "asm:2", "asm", "5"),
      pet("plain", "A1"),
      pet("later", "B:1", "", "5"),
      `INSERT INTO removed_pets (id, name, category_id, external_id, source, removed_at_ms, removed_in)
       VALUES (99, 'gone', 1, 'asm:3', '', 1, 1)`,
    ]);
    return filled(fill, async (store) => {
      const rows = await store.db.read(async (tx) => [
        ...(await tx.select().from(tx.t.pets)),
        ...(await tx.select().from(tx.t.removedPets)),
      ]);
      const sources = Object.fromEntries(rows.map(({ name, source }) => [name, source]));
      const none = { twice: "", plain: "", later: "" };
      expect(sources).toEqual({ old: "asm", new: "asm", gone: "asm", ...none });
    });
  },
  hookTimeoutMs,
);

const openFolder = (folder: string, onBackup?: (file: string) => void) =>
  openSqliteStore({
    folder,
    clock: systemClock,
    timeoutMs: 1_000,
    serving: false,
    ...(onBackup && { onBackup }),
  });

test("both databases are kept as they were, for the program from before the upgrade", async () => {
  using folder = temporaryFolder();
  copyFixture(folder.path);
  const kept: string[] = [];
  // Once: the second start finds nothing to migrate.
  for (let start = 0; start < 2; start += 1) {
    await openFolder(folder.path, (file) => kept.push(file)).close();
  }
  expect(kept).toHaveLength(2);
  const databases = [
    { name: "rehome.db", migrations: migrationsOf.catalogue, rows: "SELECT * FROM pets" },
    { name: "limits.db", migrations: migrationsOf.limits, rows: "SELECT * FROM rate_windows" },
  ];
  for (const [position, { name, migrations, rows }] of databases.entries()) {
    const file = join(folder.path, `${name}.before-${migrations[1]?.tag}`);
    expect(kept[position]).toBe(file);
    using original = new Database(join(fixture, name), { readonly: true });
    using copy = new Database(file, { readonly: true });
    expect(pendingMigrations(copy, name, migrations.slice(0, 1))).toEqual([]);
    expect(copy.query(rows).all()).toEqual(original.query(rows).all());
    expect(copy.query(rows).all()).not.toEqual([]);
  }
});
