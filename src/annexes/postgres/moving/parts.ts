/**
 * Everything that a store keeps, part by part, as rows that both databases understand: what moving from one store to
 * another reads and writes. It sees what the rest of the contract hides, such as the hashes of secrets.
 */
import type { Awaitable } from "../../../storage/contract.ts";
import { type ColumnKind, columnName, type Table } from "../../../storage/declare.ts";
import { limitsTables } from "../../../storage/limits-tables.ts";
import { apiKeys, catalogueTables, pets } from "../../../storage/tables.ts";

export type Cell = bigint | string | Uint8Array | null;
/** A row of a part: its cells in the order of the part's columns. */
export type Row = readonly Cell[];

export type Column = { readonly name: string; readonly type: ColumnKind };

export interface Part {
  /** The table in both databases. */
  readonly table: string;
  readonly columns: readonly Column[];
  /** The columns of the primary key. */
  readonly key: readonly string[];
  /** What a person calls its rows. */
  readonly title: string;
}

function partOf({ name, title, columns, key }: Table): Part | undefined {
  if (title === undefined) return undefined;
  return {
    table: name,
    title,
    key: key.map(columnName),
    columns: Object.entries(columns).map(([property, { kind }]) => ({
      name: columnName(property),
      type: kind,
    })),
  };
}

/** Every part, in an order in which each refers only to those before it. The largest is the last. */
export const parts: readonly Part[] = [...limitsTables, ...catalogueTables].flatMap(
  (table) => partOf(table) ?? [],
);
const named = ({ name }: Table) => parts.find(({ table }) => table === name) as Part;
export const petsPart = named(pets);
export const keysPart = named(apiKeys);

/** The tables whose keys the database gives. */
export const numberedTables: readonly string[] = catalogueTables
  .filter(({ columns }) => Object.values(columns).some(({ isGiven }) => isGiven))
  .map(({ name }) => name);

/** The last numbers that were given out, so that the other store goes on behind them. */
export interface LastNumbers {
  /** By table. */
  readonly keys: Readonly<Record<string, bigint>>;
  readonly epoch: bigint;
}

export interface TransferStore {
  /** At most `limit` rows in the order of their key, above the key `after` where one is given. */
  read(part: Part, after: readonly Cell[] | undefined, limit: number): Awaitable<Row[]>;
  /** Adds rows in one transaction; one whose key is there already is left as it is. */
  write(part: Part, rows: readonly Row[]): Awaitable<void>;
  /** The highest id of an animal, or 0. */
  lastPet(): Awaitable<bigint>;
  lastNumbers(): Awaitable<LastNumbers>;
  /** Ends a transfer into this store: numbers go on behind `last`, and whoever serves from it reads everything again. */
  finish(last: LastNumbers): Awaitable<void>;
}
