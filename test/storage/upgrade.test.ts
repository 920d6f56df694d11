/** Data of version 1.0.0 goes on. test/fixtures/1.0.0 was made by that version's executable. */
import { allKeys, eventsOf } from "../../src/features/keys/service.ts";
import { countsOf } from "../../src/features/keys/usage.ts";
import { createHash } from "node:crypto";
import { cpSync, readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { migrate, postgresMigrations } from "../../src/features/postgres/migrate.ts";
import { systemClock } from "../../src/domain/clock.ts";
import type { KeyHash, Store } from "../../src/storage/contract.ts";
import { PeopleService } from "../../src/features/console/people.ts";
import { freeBytes } from "../../src/storage/sqlite/folder.ts";
import { migrationsOf } from "../../src/storage/sqlite/files.ts";
import { openDatabase } from "../../src/storage/sqlite/connection.ts";
import { migrate as migrateSqlite, pendingMigrations } from "../../src/storage/sqlite/migrate.ts";
import { openSqliteStore } from "../../src/storage/sqlite/store.ts";
import { temporaryFolder } from "../helpers/binary.ts";
import { hookTimeoutMs } from "../helpers/postgres.ts";
import { stores, type StorePlace } from "../helpers/stores.ts";

const fixture = join(import.meta.dir, "../fixtures/1.0.0");
/** A secret of the fixture's key; it opens nothing else. */
const secret = "rehome_live_VOnaIQf4qEsdBeFZ7wyVIn4wDK79EL3A6sL7";
const hash = createHash("sha256").update(secret).digest() as unknown as KeyHash;

/** Fills a place as version 1.0.0 left it. */
async function fillAsBefore(kind: string, [, where = ""]: readonly string[]): Promise<void> {
  if (kind === "sqlite") {
    for (const file of ["rehome.db", "limits.db"]) cpSync(join(fixture, file), join(where, file));
    return;
  }
  const sql = new SQL(where, { max: 1, bigint: true });
  await migrate(sql, where, postgresMigrations.slice(0, 1));
  await sql.unsafe("DELETE FROM rehome.schema_migrations");
  await sql.unsafe(await Bun.file(join(fixture, "postgres.sql")).text());
  await sql.close();
}

describe.each(stores)("a store of 1.0.0 on $name", ({ name, place: makePlace }) => {
  test(
    "keeps its animals, ids, keys, events and counters, and goes on behind them",
    async () => {
      await using place: StorePlace = await makePlace();
      await fillAsBefore(name, place.flags);
      const store: Store = await place.open(() => Date.UTC(2026, 10, 22, 1, 50, 40));
      try {
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
        expect((await store.db.read((tx) => eventsOf(tx, id))).map(({ action }) => action)).toEqual(
          ["create"],
        );
        expect(await countsOf(store, id)).toMatchObject({ minuteUsed: 4, dayUsed: 4 });
        expect(await store.pets.create({ name: "next", categoryId: 1n })).toBe(8n);
      } finally {
        await store.close();
      }
    },
    hookTimeoutMs,
  );
});

/** Fills a place as a program left it that had the migrations before the one named `name`. */
async function fillBefore(
  name: string,
  kind: string,
  [, where = ""]: readonly string[],
  statements: readonly string[],
): Promise<void> {
  const before = <M extends { readonly tag: string }>(all: readonly M[]) =>
    all.slice(
      0,
      all.findIndex(({ tag }) => tag.endsWith(name)),
    );
  if (kind === "sqlite") {
    using db = openDatabase(join(where, "rehome.db"), { synchronous: "full" });
    migrateSqlite(db, where, before(migrationsOf.catalogue));
    for (const statement of statements) db.run(statement);
    return;
  }
  const sql = new SQL(where, { max: 1, bigint: true });
  await migrate(sql, where, before(postgresMigrations));
  await sql.unsafe("SET search_path TO rehome");
  for (const statement of statements) await sql.unsafe(statement);
  await sql.close();
}

describe.each(stores)("people of one name on $name", ({ name, place: makePlace }) => {
  test(
    "get numbers, the later ones, and the start says so once",
    async () => {
      await using place: StorePlace = await makePlace();
      const person = (id: string, called: string, atMs: number, removed: string) =>
        `INSERT INTO people (id, name, role, created_at_ms, created_by, removed_at_ms)
       VALUES ('${id}', '${called}', 'staff', ${atMs}, 'root', ${removed})`;
      await fillBefore("people_by_name", name, place.flags, [
        person("per_1", "Dup", 3, "NULL"),
        person("per_2", "Dup", 1, "NULL"),
        person("per_3", "Dup", 2, "NULL"),
        person("per_4", "Dup", 0, "5"),
        // Somebody is called so already.
        person("per_5", "Dup (2)", 9, "NULL"),
        person("per_6", "Ana", 9, "NULL"),
      ]);
      const store = await place.open();
      const people = new PeopleService(store.db, Date.now, () => new Uint8Array(32));
      expect((await people.list()).map((each) => [each.id, each.name])).toEqual([
        ["per_2", "Dup"],
        ["per_3", "Dup (2)"],
        ["per_1", "Dup (3)"],
        ["per_5", "Dup (2) per_5"],
        ["per_6", "Ana"],
      ]);
      await store.close();
    },
    hookTimeoutMs,
  );
});

describe.each(stores)(
  "ids of animals that version 1.0.0 imported on $name",
  ({ name, place: makePlace }) => {
    test(
      "get the source that is a part of them, unless another animal has that id",
      async () => {
        await using place: StorePlace = await makePlace();
        const pet = (called: string, externalId: string, source: string, createdAtMs: string) =>
          `INSERT INTO pets (name, category_id, external_id, source, created_at_ms)
         VALUES ('${called}', 1, '${externalId}', '${source}', ${createdAtMs})`;
        await fillBefore("what_lists_said", name, place.flags, [
          pet("old", "asm:1", "", "NULL"),
          pet("twice", "asm:2", "", "NULL"),
          pet("new", "asm:2", "asm", "5"),
          pet("plain", "A1", "", "NULL"),
          pet("later", "B:1", "", "5"),
          `INSERT INTO removed_pets (id, name, category_id, external_id, source, removed_at_ms, removed_in)
         VALUES (99, 'gone', 1, 'asm:3', '', 1, 1)`,
        ]);
        const store = await place.open();
        const sources = await store.db.read(async (tx) => {
          const { pets, removedPets } = tx.t;
          const rows = await tx.select({ name: pets.name, source: pets.source }).from(pets);
          const gone = await tx
            .select({ name: removedPets.name, source: removedPets.source })
            .from(removedPets);
          return Object.fromEntries([...rows, ...gone].map((row) => [row.name, row.source]));
        });
        expect(sources).toEqual({
          old: "asm",
          twice: "",
          new: "asm",
          plain: "",
          later: "",
          gone: "asm",
        });
        await store.close();
      },
      hookTimeoutMs,
    );
  },
);

test("both databases are kept as they were, for the program from before the upgrade", async () => {
  using folder = temporaryFolder();
  await fillAsBefore("sqlite", ["", folder.path]);
  const kept: string[] = [];
  const store = openSqliteStore({
    folder: folder.path,
    clock: systemClock,
    timeoutMs: 1_000,
    serving: false,
    onBackup: (file) => kept.push(file),
  });
  await store.close();
  const databases = [
    { name: "rehome.db", migrations: migrationsOf.catalogue, rows: "SELECT * FROM pets" },
    { name: "limits.db", migrations: migrationsOf.limits, rows: "SELECT * FROM rate_windows" },
  ];
  expect(kept).toEqual(
    databases.map(({ name, migrations }) =>
      join(folder.path, `${name}.before-${migrations[1]?.tag}`),
    ),
  );
  for (const [position, { name, migrations, rows }] of databases.entries()) {
    using before = new Database(join(fixture, name), { readonly: true });
    using copy = new Database(kept[position] ?? "", { readonly: true });
    expect(pendingMigrations(copy, name, migrations.slice(0, 1))).toEqual([]);
    expect(copy.query(rows).all()).toEqual(before.query(rows).all());
    expect(copy.query(rows).all()).not.toEqual([]);
  }
});

test("a store whose disk has no room for its migration is not opened", () => {
  using folder = temporaryFolder();
  for (const name of ["rehome.db", "limits.db"])
    cpSync(join(fixture, name), join(folder.path, name));
  const file = join(folder.path, "rehome.db");
  // Longer by what takes no space.
  truncateSync(file, freeBytes(folder.path));
  const open = () =>
    openSqliteStore({
      folder: folder.path,
      clock: systemClock,
      timeoutMs: 1_000,
      serving: false,
    });
  expect(open).toThrow("cannot be updated: that needs");
  expect(readdirSync(folder.path).toSorted()).toEqual(["limits.db", "rehome.db"]);
});
