/**
 * Drizzle's tables, made from their declarations. A connection has `safeIntegers`, which hands
 * every integer over as a bigint; Drizzle's own `integer()` is typed `number` and would lie about
 * that.
 */
import { getTableColumns, isNotNull } from "drizzle-orm";
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
import { checksOf } from "../constraints.ts";
import { type Column, columnName, type Columns, type Table } from "../declare.ts";

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

/** Drizzle's table for `declared`; `extra` is what only SQLite has of it. */
export function tableOf<const C extends Columns>(
  declared: Table<C>,
  extra: (at: Readonly<Record<keyof C, SQLiteColumn>>) => SQLiteTableExtraConfigValue[] = () => [],
) {
  const { name, columns, key } = declared;
  const builders = Object.entries(columns).map(([property, column]) => [
    property,
    builderOf(columnName(property), column, key.length === 1 && key[0] === property),
  ]);
  const made = sqliteTable(
    name,
    Object.fromEntries(builders) as { [P in keyof C]: BuilderOf<C[P]> },
    (at) => [...constraintsOf(declared, at as At), ...extra(at as Record<keyof C, SQLiteColumn>)],
  );
  tables.set(name, getTableColumns(made) as At);
  return made;
}

function builderOf(name: string, column: Column, isKey: boolean): SQLiteColumnBuilderBase {
  if (column.isGiven) return integer(name).primaryKey({ autoIncrement: true });
  const builder = kinds[column.kind](name);
  const { references, default: value } = column;
  if (isKey) builder.primaryKey();
  else if (column.notNull) builder.notNull();
  if (value !== undefined) builder.default(value as never);
  if (column.unique) builder.unique();
  if (references !== undefined)
    builder.references(() => tables.get(references)?.["id"] as SQLiteColumn);
  return builder;
}

function constraintsOf(declared: Table, at: At): SQLiteTableExtraConfigValue[] {
  const { key, indexes } = declared;
  const of = (property: string) => at[property] as SQLiteColumn;
  const all = (properties: readonly string[]) =>
    properties.map(of) as [SQLiteColumn, ...SQLiteColumn[]];
  return [
    ...checksOf(declared, at).map(({ name, rule }) => check(name, rule)),
    ...(key.length > 1 ? [primaryKey({ columns: all(key) })] : []),
    ...indexes.map(({ name: called, on, unique, whereNotNull }) => {
      const built = (unique ? uniqueIndex(called) : index(called)).on(...all(on));
      return whereNotNull === undefined ? built : built.where(isNotNull(of(whereNotNull)));
    }),
  ];
}
