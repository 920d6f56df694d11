/**
 * How data are asked: async functions on a `Tx`, in Drizzle's builders and `sql`, written once for
 * both databases against PostgreSQL's types. The work awaits nothing but `tx`: SQLite's
 * transaction is rolled back otherwise.
 */
import { eq, getTableColumns, sql, type SQLWrapper, type Column } from "drizzle-orm";
import type { BunSQLDatabase } from "drizzle-orm/bun-sql";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Tables } from "./schema.ts";
import { dayMs } from "../domain/clock.ts";
import { AppError } from "../domain/errors.ts";

export type { Tables };

export type Db = Pick<BunSQLDatabase, "select" | "insert" | "update" | "delete">;

/** Drizzle's builders of `on` alone, without its own transactions. */
export function buildersOf(on: Db): Db {
  return {
    select: on.select.bind(on),
    insert: on.insert.bind(on),
    update: on.update.bind(on),
    delete: on.delete.bind(on),
  };
}

/** A transaction. Each of its functions throws once it has ended. */
export interface Tx extends Db {
  readonly t: Tables;
  readonly dialect: "sqlite" | "postgres";
  /**
   * The rows of a statement, by the names in it. Every integer is a bigint: cast what PostgreSQL
   * would make an int or a numeric. JSON is text: select it with `CAST(... AS text)`.
   */
  rows<T>(query: SQLWrapper): Promise<T[]>;
  /** Runs a statement, or a builder without `returning`. Returns how many rows it changed. */
  run(query: SQLWrapper): Promise<number>;
  /**
   * Adds rows by one prepared statement; all have the properties of the first one. Returns how many
   * it added.
   */
  insertAll<T extends PgTable>(table: T, rows: readonly T["$inferInsert"][]): Promise<number>;
  /** Locks the rows of a SELECT. An SQLite transaction holds the only lock there is. */
  forUpdate<Q>(query: Q): Q;
  /** What the transaction tells this process when it commits; see `changePets` and `nextEpoch`. */
  readonly notes: Notes;
}

export interface Notes {
  pets?: PetChange;
  epoch?: number;
}
/** Changes of any animals, or additions alone, under ids above all that were given. */
type PetChange = "any" | "additions";

export interface WorkOptions {
  /**
   * How long it may wait for others' changes, on PostgreSQL with its own time; the store's timeout
   * by default.
   */
  readonly timeoutMs?: number;
}

/** For what ends somebody's access: a long import that is under way commits first. */
export const patientWork: WorkOptions = { timeoutMs: 60_000 };

/** A catalogue, or its counters. Calls reject with `unavailable` without a database in time. */
export interface Database {
  /** Runs work that only reads, in one snapshot. It waits for no transaction. */
  read<T>(work: (tx: Tx) => Promise<T>, options?: WorkOptions): Promise<T>;
  /**
   * Runs work in a transaction. All of it is durable when the promise resolves, and nothing is
   * stored when it rejects. `work` is called again if the database refused it before anything was
   * done.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: WorkOptions): Promise<T>;
}

/**
 * The columns of a table for `select` and `returning`, with exact JSON: PostgreSQL's client rounds
 * an int64 in a bare column.
 */
export function columnsOf<T extends PgTable>(table: T): T["_"]["columns"] {
  const columns = getTableColumns(table);
  const exact = Object.entries(columns)
    .filter(([, column]) => column.getSQLType() === "json")
    .map(([name, column]) => [name, sql`CAST(${column} AS text)`.mapWith(column)] as const);
  return Object.assign({}, columns, Object.fromEntries(exact));
}

/**
 * Changes animals by `work`, which returns how many there are more. Every change of the table goes
 * through here, once in a transaction. On PostgreSQL a row's lock orders the changes of all
 * processes, and holds the number of animals.
 */
export async function changePets<T>(
  tx: Tx,
  change: PetChange,
  work: () => Promise<{ readonly result: T; readonly more: number }>,
): Promise<T> {
  tx.notes.pets = change;
  const isOrdered = tx.dialect === "postgres";
  if (isOrdered) await tx.run(sql`UPDATE rehome.catalogue SET version = version + 1`);
  if (change === "any") await countEdit(tx);
  const { result, more } = await work();
  if (isOrdered && more !== 0) {
    await tx.run(sql`UPDATE rehome.catalogue SET animals = animals + ${more}::bigint`);
  }
  return result;
}

async function countEdit(tx: Tx): Promise<void> {
  const { storeState } = tx.t;
  await tx
    .insert(storeState)
    .values({ name: editsMeta, value: "1" })
    .onConflictDoUpdate({
      target: storeState.name,
      set: { value: sql`CAST(CAST(${storeState.value} AS bigint) + 1 AS text)` },
    });
}

/**
 * Raises the epoch of the keys, and returns it. Its row stays locked, so that epochs become visible
 * in their order.
 */
export async function nextEpoch(tx: Tx): Promise<number> {
  const { keyEpoch } = tx.t;
  const [raised] = await tx
    .update(keyEpoch)
    .set({ epoch: sql`${keyEpoch.epoch} + 1` })
    .where(eq(keyEpoch.id, 1))
    .returning();
  if (raised === undefined) throw new Error("the epoch of the keys has no row");
  tx.notes.epoch = raised.epoch;
  return raised.epoch;
}

/** A longer time without a record is taken for a jump of the clock. */
const pauseMaxMs = 90 * dayMs;

/**
 * The time before which records go that are stored for `storedMs`, or undefined when none goes. A
 * clock that is ahead must delete nothing, so the time is told by records: by the newest one that
 * is not of the last hours, and only where no jump lies between what goes and what stays.
 */
export async function prunedBefore(
  tx: Tx,
  atMs: Column,
  nowMs: number,
  storedMs: number,
): Promise<number | undefined> {
  const toldMs = nowMs - Math.min(storedMs / 24, dayMs);
  const int = (ms: number) => sql`CAST(${ms} AS bigint)`;
  const [found] = await tx.rows<{ endMs: bigint }>(sql`
    SELECT "endMs" FROM (
      SELECT max(${atMs}) - ${int(storedMs)} AS "endMs" FROM ${atMs.table}
      WHERE ${atMs} <= ${int(toldMs)}
    ) AS told
    WHERE (SELECT min(${atMs}) FROM ${atMs.table} WHERE ${atMs} >= "endMs")
      - (SELECT max(${atMs}) FROM ${atMs.table} WHERE ${atMs} < "endMs") <= ${int(pauseMaxMs)}`);
  return found && Number(found.endMs);
}

// What a store says of itself, by name: its table `store_state`. It is not copied elsewhere.

/** The number of transactions that changed animals, other than by adding some at the end. */
export const editsMeta = "animal_edits";

/** The mark of a store from which everything was moved elsewhere: where to. */
export const movedMark = "moved_to";

/** The mark of a store that a copy fills: where from. It goes when the copy is whole. */
export const copyMark = "copied_from";

/** Where the store moved to, as messages show it; undefined for one that is in its place. */
export const movedTo = (tx: Tx): Promise<string | undefined> => getMeta(tx, movedMark);

/** The error of work on a store that holds a part of a copy: nobody may take it for the whole. */
export function unfinishedCopy(place: string, from: string): AppError {
  return new AppError("unavailable", `${place} holds a part of a copy of ${from}.`, {
    code: "unfinishedCopy",
    hint: `The copy was interrupted or still runs. Make it again with rehome store copy, or work on ${from}.`,
  });
}

export async function getMeta(tx: Tx, name: string): Promise<string | undefined> {
  const { storeState } = tx.t;
  const [found] = await tx.select().from(storeState).where(eq(storeState.name, name));
  return found?.value;
}
