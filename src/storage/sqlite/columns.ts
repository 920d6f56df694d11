/**
 * Drizzle's tables, made from their declarations. Migrations and the texts of statements come from
 * them, and no values go through them.
 */
import { getTableColumns } from "drizzle-orm";
import {
  blob,
  check,
  index,
  integer,
  primaryKey,
  type SQLiteColumn,
  type SQLiteColumnBuilderBase,
  sqliteTable,
  type SQLiteTableExtraConfigValue,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import type { Columns, Table } from "../declare.ts";
import { tableParts } from "../table-parts.ts";

const kinds = {
  int64: (name: string) => integer(name),
  count: (name: string) => integer(name),
  text: (name: string) => text(name),
  json: (name: string) => text(name, { mode: "json" }),
  bytes: (name: string) => blob(name),
} as const;

/** A table's columns by their properties. */
type At = Readonly<Record<string, SQLiteColumn>>;
/** The tables made so far, for references among them. */
const tables = new Map<string, At>();

const parts = tableParts<SQLiteColumnBuilderBase, SQLiteColumn, SQLiteTableExtraConfigValue>(
  {
    kinds,
    given: (_, name) => integer(name).primaryKey({ autoIncrement: true }),
    check,
    primaryKey,
    index,
    uniqueIndex,
  },
  tables,
);

/** Drizzle's table for `declared`; `extra` is what only SQLite has of it. */
export function tableOf<const C extends Columns>(
  declared: Table<C>,
  extra: (at: Readonly<Record<keyof C, SQLiteColumn>>) => SQLiteTableExtraConfigValue[] = () => [],
) {
  const made = sqliteTable(
    declared.name,
    parts.columns(declared) as Record<keyof C & string, SQLiteColumnBuilderBase>,
    (at) => [
      ...parts.constraints(declared, at as At),
      ...extra(at as Record<keyof C, SQLiteColumn>),
    ],
  );
  tables.set(declared.name, getTableColumns(made) as At);
  return made;
}
