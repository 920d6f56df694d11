/** The tables that both databases have, and their migrations. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "../../src/domain/exact-json.ts";
import { postgresMigrations } from "../../src/features/postgres/migrate.ts";
import { postgresTables } from "../../src/storage/schema.postgres.ts";
import { sqliteTables } from "../../src/storage/schema.sqlite.ts";
import { migrationsOf } from "../../src/storage/sqlite/files.ts";

test("JSON of a bare column is refused where the client would round it", () => {
  const bare = { changeId: 2 ** 63 };
  expect(() => postgresTables.petEvents.after.mapFromDriverValue(bare)).toThrow("columnsOf");
  const text = '{"changeId":9223372036854775807}';
  expect(sqliteTables.petEvents.after.mapFromDriverValue(text)).toEqual(
    parseJson(text) as Record<string, unknown>,
  );
});

test("every migration is embedded, as it is in its folder", () => {
  const embedded = {
    "sqlite/catalogue": migrationsOf.catalogue,
    "sqlite/limits": migrationsOf.limits,
    postgres: postgresMigrations,
  };
  for (const [folder, migrations] of Object.entries(embedded)) {
    const root = join(import.meta.dir, "../../drizzle", folder);
    const journal = JSON.parse(readFileSync(join(root, "meta/_journal.json"), "utf8")) as {
      entries: { tag: string }[];
    };
    expect(migrations.map(({ tag, sql }) => [tag, sql])).toEqual(
      journal.entries.map(({ tag }) => [tag, readFileSync(join(root, `${tag}.sql`), "utf8")]),
    );
  }
});
