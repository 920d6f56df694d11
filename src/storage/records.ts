/** Whole rows of the declared tables, in and out, in the types of their columns. */
import { parseJson } from "../domain/exact-json.ts";
import { type Column, columnName, type Columns, type Table } from "./declare.ts";
import {
  insert,
  joined,
  json,
  jsonValue,
  raw,
  rows,
  sql,
  type Statement,
  type Steps,
  type Value,
} from "./statement.ts";

/** A row of a table by the properties of its columns. */
export type RecordOf<T> =
  T extends Table<infer C>
    ? {
        [P in keyof C]: C[P] extends Column<infer Data, infer N>
          ? N extends true
            ? Data
            : Data | null
          : never;
      }
    : never;

/** A row to be added: what has a default, or may be null, may be left out. */
type NewRecordOf<T> =
  T extends Table<infer C>
    ? { [P in keyof C as IsNeeded<C[P]> extends true ? P : never]: DataOf<C[P]> } & {
        [P in keyof C as IsNeeded<C[P]> extends true ? never : P]?: DataOf<C[P]> | null | undefined;
      }
    : never;
type DataOf<C> = C extends Column<infer Data> ? Data : never;
type IsNeeded<C> = C extends Column<unknown, true, false> ? true : false;

/** The rows of `table` that `rest` says: `WHERE ... ORDER BY ...`. */
export function* records<C extends Columns>(
  table: Table<C>,
  rest: Statement,
): Steps<RecordOf<Table<C>>[]> {
  const found = yield* rows<Readonly<Record<string, Value>>>(
    sql`SELECT ${selected(table)} FROM ${table} ${rest}`,
  );
  return found.map((row) => recordOf(table, row));
}

/** The first of the rows, or undefined. */
export function* record<C extends Columns>(
  table: Table<C>,
  rest: Statement,
): Steps<RecordOf<Table<C>> | undefined> {
  const [first] = yield* records(table, rest);
  return first;
}

/** All columns of a table for SELECT, as `recordOf` reads them. */
export function selected({ columns }: Table): Statement {
  const names = Object.entries(columns).map(([property, { kind }]) => {
    const name = `"${columnName(property)}"`;
    return kind === "json" ? `CAST(${name} AS text) AS ${name}` : name;
  });
  return raw(names.join(", "));
}

/** The record of a row that was selected by `selected`. */
export function recordOf<C extends Columns>(
  { columns }: Table<C>,
  row: Readonly<Record<string, Value>>,
): RecordOf<Table<C>> {
  const cells = Object.entries(columns).map(([property, { kind }]) => {
    const value = row[columnName(property)] ?? null;
    if (value === null) return [property, null];
    if (kind === "count") return [property, Number(value)];
    return [property, kind === "json" ? parseJson(value as string) : value];
  });
  return Object.fromEntries(cells) as RecordOf<Table<C>>;
}

/** Adds rows. All of them must have the same properties. */
export function* addRecords<C extends Columns>(
  table: Table<C>,
  added: readonly NewRecordOf<Table<C>>[],
): Steps<void> {
  const columns = Object.keys(added[0] ?? {});
  const cellsOf = (record: Readonly<Record<string, unknown>>) =>
    columns.map((property) => cell(table.columns[property], record[property]));
  yield* insert({ into: table, columns, rows: added.map(cellsOf) });
}

function cell(column: Column | undefined, value: unknown): Value {
  return column?.kind === "json" ? jsonValue(value) : ((value ?? null) as Value);
}

/** `name = value, ...` for an UPDATE. */
export function assignments<C extends Columns>(
  { columns }: Table<C>,
  values: Partial<NewRecordOf<Table<C>>>,
): Statement {
  return joined(
    Object.entries(values).map(([property, value]) => {
      const isJson = columns[property]?.kind === "json";
      const written = isJson ? json(value) : sql`${(value ?? null) as Value}`;
      return sql`${raw(`"${columnName(property)}"`)} = ${written}`;
    }),
  );
}
