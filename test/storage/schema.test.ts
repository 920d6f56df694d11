/** The tables of both databases are the same, but for what only one of them needs. */
import { describe, expect, test } from "bun:test";
import { type Column, getTableColumns, is, type SQL } from "drizzle-orm";
import { getTableConfig as postgresConfig, PgDialect, PgTable } from "drizzle-orm/pg-core";
import {
  getTableConfig as sqliteConfig,
  SQLiteSyncDialect,
  SQLiteTable,
} from "drizzle-orm/sqlite-core";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { postgresMigrations } from "../../src/features/postgres/migrations.ts";
import { migrationsOf } from "../../src/storage/sqlite/migrations.ts";
import { parseJson } from "../../src/domain/exact-json.ts";
import * as postgres from "../../src/storage/schema.postgres.ts";
import * as sqlite from "../../src/storage/schema.sqlite.ts";

/** What SQLite calls the types that PostgreSQL has. */
const sqliteTypes: Readonly<Record<string, string>> = {
  bigint: "integer",
  text: "text",
  json: "text",
  bytea: "blob",
};

function columnsOf(table: PgTable | SQLiteTable) {
  const isPostgres = is(table, PgTable);
  return Object.fromEntries(
    Object.entries(getTableColumns(table)).map(([property, column]: [string, Column]) => {
      const type = column.getSQLType();
      return [
        property,
        {
          name: column.name,
          type: isPostgres ? sqliteTypes[type] : type,
          isNull: !column.notNull,
          isKey: column.primary,
          isUnique: column.isUnique,
          values: column.enumValues,
          default: column.default,
        },
      ];
    }),
  );
}

interface Constraints {
  readonly checks: readonly { readonly name: string; readonly value: SQL }[];
  readonly indexes: readonly {
    readonly config: { readonly name?: string | undefined; readonly unique: boolean };
  }[];
  readonly foreignKeys: readonly { readonly reference: () => { readonly columns: Column[] } }[];
  readonly primaryKeys: readonly { readonly columns: readonly Column[] }[];
}

function constraintsOf(
  { checks, indexes, foreignKeys, primaryKeys }: Constraints,
  dialect: PgDialect | SQLiteSyncDialect,
) {
  const rule = (value: SQL) => dialect.sqlToQuery(value).sql.replaceAll('"rehome".', "");
  const names = (columns: readonly Column[]) => columns.map(({ name }) => name);
  return {
    checks: Object.fromEntries(checks.map(({ name, value }) => [name, rule(value)])),
    indexes: indexes.map(({ config }) => [config.name, config.unique]),
    references: foreignKeys.map(({ reference }) => names(reference().columns)),
    keys: primaryKeys.map(({ columns }) => names(columns)),
  };
}

const tables = Object.entries(sqlite).flatMap(([name, table]) =>
  is(table, SQLiteTable) ? [[name, table] as const] : [],
);

test("PostgreSQL has a catalogue more", () => {
  const names = Object.entries(postgres).flatMap(([name, table]) =>
    is(table, PgTable) ? [name] : [],
  );
  expect(names.toSorted()).toEqual([...tables.map(([name]) => name), "catalogue"].toSorted());
});

describe.each(tables)("%s", (name, inSqlite) => {
  const inPostgres = (postgres as unknown as Record<string, PgTable>)[name] as PgTable;

  test("has the same columns", () => {
    expect(columnsOf(inSqlite)).toEqual(columnsOf(inPostgres));
  });

  test("has the same constraints", () => {
    const { pets_name: onlySqlite, ...checks } = constraintsOf(
      sqliteConfig(inSqlite),
      new SQLiteSyncDialect(),
    ).checks;
    expect(onlySqlite === undefined).toBe(name !== "pets");
    expect({
      ...constraintsOf(sqliteConfig(inSqlite), new SQLiteSyncDialect()),
      checks,
    }).toEqual(constraintsOf(postgresConfig(inPostgres), new PgDialect()));
  });
});

test("JSON of a bare column is refused where the client would round it", () => {
  const bare = { changeId: 2 ** 63 };
  expect(() => postgres.petEvents.after.mapFromDriverValue(bare)).toThrow("columnsOf");
  const text = '{"changeId":9223372036854775807}';
  expect(sqlite.petEvents.after.mapFromDriverValue(text)).toEqual(
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
