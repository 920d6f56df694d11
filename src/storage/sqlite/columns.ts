/**
 * Drizzle's tables, made from their declarations. A connection has `safeIntegers`, which hands
 * every integer over as a bigint; Drizzle's own `integer()` is typed `number` and would lie about
 * that.
 */
import { getTableColumns } from "drizzle-orm";
import {
  check,
  customType,
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
import { type Column, type Columns, type Table } from "../declare.ts";
import { tableParts } from "../table-parts.ts";

const kinds = {
  int64: customType<{ data: bigint; driverData: bigint }>({ dataType: () => "integer" }),
  count: customType<{ data: number; driverData: number | bigint }>({
    dataType: () => "integer",
    fromDriver: Number,
  }),
  text: (name: string) => text(name),
  json: customType<{ data: unknown; driverData: string }>({
    dataType: () => "text",
    toDriver: (value) => JSON.stringify(value),
    fromDriver: (value) => JSON.parse(value) as unknown,
  }),
  bytes: customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "blob" }),
} as const;

type BuilderOf<C> =
  C extends Column<infer Data, infer NotNull, infer HasDefault>
    ? SQLiteColumnBuilderBase<
        {
          name: string;
          dataType: "custom";
          columnType: "SQLiteCustomColumn";
          data: Data;
          driverParam: unknown;
          enumValues: undefined;
        },
        { notNull: NotNull; hasDefault: HasDefault }
      >
    : never;

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
    parts.columns(declared) as { [P in keyof C]: BuilderOf<C[P]> },
    (at) => [
      ...parts.constraints(declared, at as At),
      ...extra(at as Record<keyof C, SQLiteColumn>),
    ],
  );
  tables.set(declared.name, getTableColumns(made) as At);
  return made;
}
