/** The words in which tables.ts declares tables, whichever database keeps them. */

/** The data of each kind of column. A count is an exact number; an int64 takes all 64 bits. */
interface KindData {
  readonly int64: bigint;
  readonly count: number;
  readonly text: string;
  readonly json: unknown;
  readonly bytes: Uint8Array;
}
export type ColumnKind = keyof KindData;

export interface Column<Data = unknown, NotNull extends boolean = boolean, HasDefault = boolean> {
  readonly kind: ColumnKind;
  readonly notNull: NotNull;
  /** True for a number that the database gives: 1, 2, 3, ... and none twice. */
  readonly isGiven?: true;
  /** True if an insert may leave it out. */
  readonly hasDefault: HasDefault;
  readonly default?: Data;
  /** The only values that a text takes. */
  readonly values?: readonly string[];
  readonly unique?: true;
  /** The table whose key the value is. */
  readonly references?: string;
  /** For the type alone. */
  readonly data?: Data;
}
export type Columns = Readonly<Record<string, Column>>;

interface Index<Name extends string> {
  readonly name: string;
  readonly on: readonly Name[];
  readonly unique?: true;
  /** Leaves out the rows in which this column is null. */
  readonly whereNotNull?: Name;
}

interface Declared<C extends Columns, Name extends string> {
  readonly name: string;
  readonly columns: C;
  /** The primary key; `id` by default. */
  readonly key?: readonly Name[];
  readonly indexes?: readonly Index<Name>[];
  /** A table of one row, whose id is 1. */
  readonly singleRow?: true;
  /** What must hold for each row, by the name of the CHECK: SQL with `{property}` for a column. */
  readonly checks?: Readonly<Record<string, string>>;
  /** What a person calls the rows. Undefined if they belong to one place and are not copied. */
  readonly title?: string;
  /** A table of a session's own, see `createTemporary`. */
  readonly temporary?: true;
  /** In SQLite: the rows are kept in the order of a key that is no number. */
  readonly clustered?: true;
}

export interface Table<C extends Columns = Columns> extends Declared<C, string> {
  readonly key: readonly string[];
  readonly indexes: readonly Index<string>[];
}

export function table<const C extends Columns>(declared: Declared<C, keyof C & string>): Table<C> {
  const { key = ["id"], indexes = [] } = declared;
  return { ...declared, key, indexes };
}

/** The name of a column in the database: `createdAtMs` is created_at_ms. */
export function columnName(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const column =
  <K extends ColumnKind>(kind: K) =>
  <Data extends KindData[K] = KindData[K]>(): Column<Data, true, false> => ({
    kind,
    notNull: true,
    hasDefault: false,
  });
export const int64 = column("int64");
export const count = column("count");
export const text = column("text");
export const json = column("json");
export const bytes = column("bytes");

export const oneOf = <Value extends string>(
  values: readonly Value[],
): Column<Value, true, false> => ({
  ...text<Value>(),
  values,
});
export const nullable = <Data>(of: Column<Data, true, false>): Column<Data, false, false> => ({
  ...of,
  notNull: false,
});
export const defaulting = <Data>(
  of: Column<Data, true, false>,
  value: Data,
): Column<Data, true, true> => ({
  ...of,
  hasDefault: true,
  default: value,
});
export const given = (): Column<bigint, true, true> => ({
  ...int64(),
  hasDefault: true,
  isGiven: true,
});
export const unique = <Data>(of: Column<Data, true, false>): Column<Data, true, false> => ({
  ...of,
  unique: true,
});
/** The key of a row of another table. */
export const keyOf = <Data>(
  { name }: { readonly name: string },
  of: Column<Data, true, false>,
): Column<Data, true, false> => ({ ...of, references: name });
