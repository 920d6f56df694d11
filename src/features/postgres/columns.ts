/** Drizzle's tables for PostgreSQL, made from their declarations. */
import { getTableColumns } from "drizzle-orm";
import {
  bigint,
  check,
  customType,
  index,
  type PgColumn,
  type PgColumnBuilderBase,
  pgSchema,
  type PgTableExtraConfigValue,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { type Column, type ColumnKind, type Columns, type Table } from "../../storage/declare.ts";
import { tableParts } from "../../storage/table-parts.ts";

export const schemaName = "rehome";
/** The type of each kind of column. */
export const columnTypes = {
  int64: "bigint",
  count: "bigint",
  text: "text",
  json: "json",
  bytes: "bytea",
} as const satisfies Record<ColumnKind, string>;
/** The type of an array that holds values of each kind of column; JSON goes as text. */
export const arrayTypes = { ...columnTypes, json: "text" } as const;
/** A schema of their own: the tables meet no other program's, on any search path. */
export const rehome = pgSchema(schemaName);

const kinds = {
  int64: (name: string) => bigint(name, { mode: "bigint" }),
  count: (name: string) => bigint(name, { mode: "number" }),
  text: (name: string) => text(name),
  /**
   * The members keep their order. Bun's client turns the value into JSON by itself; Drizzle's own
   * `json()` would do it first, and a string with JSON in it would be stored.
   */
  json: customType<{ data: unknown; driverData: unknown }>({ dataType: () => "json" }),
  bytes: customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" }),
} as const;

type BuilderOf<C> =
  C extends Column<infer Data, infer NotNull, infer HasDefault>
    ? PgColumnBuilderBase<
        {
          name: string;
          dataType: "custom";
          columnType: "PgCustomColumn";
          data: Data;
          driverParam: unknown;
          enumValues: undefined;
        },
        { notNull: NotNull; hasDefault: HasDefault }
      >
    : never;

/** A table's columns by their properties. */
type At = Readonly<Record<string, PgColumn>>;
/** The tables made so far, for references among them. */
const tables = new Map<string, At>();

const parts = tableParts<PgColumnBuilderBase, PgColumn, PgTableExtraConfigValue>(
  {
    kinds,
    given(table, name) {
      // From a sequence, which never gives a number twice. A failed insert leaves a gap.
      const sequence = { name: `${table}_${name}_seq`, cache: 1 };
      return kinds.int64(name).primaryKey().generatedAlwaysAsIdentity(sequence);
    },
    check,
    primaryKey,
    index,
    uniqueIndex,
  },
  tables,
);

/** Drizzle's table for `declared`; `extra` is what only PostgreSQL has of it. */
export function tableOf<const C extends Columns>(
  declared: Table<C>,
  extra: (at: Readonly<Record<keyof C, PgColumn>>) => PgTableExtraConfigValue[] = () => [],
) {
  const made = rehome.table(
    declared.name,
    parts.columns(declared) as { [P in keyof C]: BuilderOf<C[P]> },
    (at) => [...parts.constraints(declared, at as At), ...extra(at as Record<keyof C, PgColumn>)],
  );
  tables.set(declared.name, getTableColumns(made) as At);
  return made;
}
