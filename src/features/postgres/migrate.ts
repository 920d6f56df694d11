import type { SQL, TransactionSQL } from "bun";
import { migrationsIn } from "../../../scripts/migrations.ts" with { type: "macro" };
import { AppError } from "../../domain/errors.ts";
import {
  type AppliedMigration,
  type Migration,
  olderSchema,
  pendingAfter,
} from "../../storage/migration-history.ts";
import { copyMark, unfinishedCopy } from "../../storage/database.ts";
import type { SqliteOptions } from "../../storage/sqlite/store.ts";
import { schemaName } from "../../storage/schema.postgres.ts";

export const postgresMigrations = migrationsIn("postgres");

/** The oldest server that this program is tested on: `server_version_num` of PostgreSQL 15. */
const serverVersionMin = 150_000;
/** Marks the lock under which migrations run: "rehome" on a telephone's keys. */
const migrationLock = 734_663;

/**
 * Updates the database to the newest schema in one transaction, under an advisory lock. Returns the
 * tags of the applied migrations. Refuses an old server, and a newer or divergent database, before
 * it writes. A schema that it makes for a copy of `copyOf` has the mark of one.
 */
export async function migrate(
  sql: SQL,
  where: string,
  migrations: readonly Migration[],
  { mayMigrate = true, copyOf }: Pick<SqliteOptions, "mayMigrate" | "copyOf"> = {},
): Promise<string[]> {
  await checkServer(sql, where);
  const done = await appliedMigrations(sql, where);
  if (pendingAfter(done, migrations, where).length === 0) return [];
  if (!mayMigrate && done.length > 0) throw olderSchema(where);
  return sql.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(${migrationLock})`;
    const todo = pendingAfter(await appliedMigrations(tx, where), migrations, where);
    await makeHistory(tx);
    for (const { tag, hash, sql: statements } of todo) {
      await tx.unsafe(statements);
      await tx`INSERT INTO rehome.schema_migrations (tag, hash) VALUES (${tag}, ${hash})`;
    }
    if (copyOf !== undefined && todo.length === migrations.length) {
      await tx`INSERT INTO rehome.store_state (name, value) VALUES (${copyMark}, ${copyOf})`;
    }
    return todo.map(({ tag }) => tag);
  });
}

/** Throws when the server is one that this program cannot write to. */
export async function checkServer(sql: SQL, where: string): Promise<void> {
  const [row] = (await sql`
    SELECT current_setting('server_version_num')::int AS number, version() AS name,
      current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS "isStandby"`) as [
    { number: number; name: string; encoding: string; isStandby: boolean },
  ];
  // Other makers' databases speak the protocol under version numbers of their own.
  if (row.name.startsWith("PostgreSQL") && row.number < serverVersionMin) {
    throw new AppError("unavailable", `${where} is ${row.name.split(" on ")[0]}.`, {
      hint: `Use PostgreSQL ${serverVersionMin / 10_000} or newer.`,
    });
  }
  if (row.encoding !== "UTF8") {
    throw new AppError("unavailable", `${where} has the encoding ${row.encoding}, not UTF8.`, {
      code: "databaseEncoding",
      hint: "It cannot hold every name. Create another one: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0;",
    });
  }
  if (row.isStandby) {
    throw new AppError("unavailable", `${where} is a standby that does not accept writes.`, {
      hint: "Use the primary, or a name that follows it.",
    });
  }
}

/** What was applied, in its order; nothing where there is no schema yet. */
export async function appliedMigrations(
  sql: SQL | TransactionSQL,
  where: string,
): Promise<AppliedMigration[]> {
  const [found] = (await sql`
    SELECT to_regclass('rehome.schema_migrations') IS NOT NULL AS "hasHistory",
      count(c.oid)::int AS tables
    FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r'
    WHERE n.nspname = ${schemaName}`) as [{ hasHistory: boolean; tables: number }];
  if (found.hasHistory) {
    return (await sql`
      SELECT tag, hash FROM rehome.schema_migrations ORDER BY position`) as AppliedMigration[];
  }
  if (found.tables === 0) return [];
  throw new AppError(
    "unavailable",
    `${where} has a schema ${schemaName}, but not one that rehome made.`,
    { hint: "Name another database." },
  );
}

/** What the store says of itself under this name. Its table must be there. */
export async function metaOf(sql: SQL, name: string): Promise<string | undefined> {
  const [found] = (await sql`
    SELECT value FROM rehome.store_state WHERE name = ${name}`) as { value: string }[];
  return found?.value;
}

/** Throws for a database that holds a part of a copy. */
export async function refuseCopy(sql: SQL, where: string): Promise<void> {
  const from = await metaOf(sql, copyMark);
  if (from !== undefined) throw unfinishedCopy(where, from);
}

async function makeHistory(tx: TransactionSQL): Promise<void> {
  // IF NOT EXISTS asks for the right to create before it looks: an operator may have made the
  // schema for this user.
  const [row] = (await tx`SELECT to_regnamespace(${schemaName}) IS NULL AS "isMissing"`) as [
    { isMissing: boolean },
  ];
  if (row.isMissing) await tx`CREATE SCHEMA rehome`;
  await tx`
    CREATE TABLE IF NOT EXISTS rehome.schema_migrations (
      position integer GENERATED ALWAYS AS IDENTITY,
      tag text PRIMARY KEY,
      hash text NOT NULL
    )`;
}
