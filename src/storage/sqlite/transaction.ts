/**
 * Async transactions on bun:sqlite, which is synchronous: to await a builder runs it at once. What
 * would break a transaction is refused or made impossible here, see each function.
 */
import type { SQLQueryBindings } from "bun:sqlite";
import { getTableColumns, getTableName, type SQLWrapper } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { buildersOf, type Database, type Tx, type WorkOptions } from "../database.ts";
import { buildersOn, sqliteTables } from "../schema.sqlite.ts";
import type { IdempotentCreate, StoredCreate } from "../contract.ts";
import { addOnce } from "../idempotent-create.ts";
import { isOfValue } from "./connection.ts";
import { type Lane, Lanes, type Prepare } from "./lanes.ts";

const dialect = new SQLiteSyncDialect();

export class SqliteDatabase extends Lanes implements Database {
  readonly read = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => transactionOn(this.reads, work);

  readonly transaction = <T>(
    work: (tx: Tx) => Promise<T>,
    { timeoutMs }: WorkOptions = {},
  ): Promise<T> => transactionOn(this.writes, work, timeoutMs);
}

/**
 * Runs `work` in a transaction. Rejects at the next macrotask; from then on `tx` is of no use to
 * the work.
 */
function transactionOn<T>(
  lane: Lane,
  work: (tx: Tx) => Promise<T>,
  timeoutMs?: number,
): Promise<T> {
  return lane.committed(async (prepare, connection) => {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setImmediate(() =>
      reject(new Error("A transaction may await its own statements only.")),
    );
    let hasEnded = false;
    const prepareInTime = (text: string) => {
      // SQLite ends a transaction by itself when the disk fails in it.
      if (hasEnded || !connection.inTransaction) throw new Error("The transaction has ended.");
      return prepare(text);
    };
    try {
      return await Promise.race([work(txOn(prepareInTime)), late]);
    } finally {
      hasEnded = true;
      clearImmediate(timer);
    }
  }, timeoutMs);
}

/**
 * Adds animals that are added once. Where SQLite refuses the values of one, its error is in its
 * place: the animal is the first thing that a create adds, so nothing else is left of it.
 */
export function addAllOnce(
  lane: Lane,
  creates: readonly IdempotentCreate[],
  timeoutMs?: number,
): Promise<(StoredCreate | Error)[]> {
  const work = async (tx: Tx) => {
    const added: (StoredCreate | Error)[] = [];
    for (const create of creates) {
      try {
        added.push(await addOnce(tx, create));
      } catch (error) {
        if (!isOfValue(error)) throw error;
        added.push(error);
      }
    }
    return added;
  };
  return transactionOn(lane, work, timeoutMs);
}

function txOn(prepare: Prepare): Tx {
  const written = (query: SQLWrapper) => {
    const { sql, params } = dialect.sqlToQuery(query.getSQL());
    return { statement: prepare(sql), params: params as SQLQueryBindings[] };
  };
  return {
    ...buildersOf(buildersOn({ prepare })),
    t: sqliteTables,
    dialect: "sqlite",
    notes: {},
    async rows<T>(query: SQLWrapper): Promise<T[]> {
      const { statement, params } = written(query);
      return statement.all(...params) as T[];
    },
    async run(query: SQLWrapper): Promise<number> {
      const { statement, params } = written(query);
      return statement.run(...params).changes;
    },
    async insertAll(table, rows) {
      const all = Object.entries(getTableColumns(table));
      const columns = all.filter(([property]) => Object.hasOwn(rows[0] ?? {}, property));
      if (columns.length === 0) return 0;
      const names = columns.map(([, { name }]) => `"${name}"`).join(", ");
      const marks = columns.map(() => "?").join(", ");
      const add = prepare(`INSERT INTO "${getTableName(table)}" (${names}) VALUES (${marks})`);
      let added = 0;
      for (const row of rows) {
        const cells = columns.map(([property, column]) => {
          const value = (row as Record<string, unknown>)[property] ?? null;
          return (value === null ? null : column.mapToDriverValue(value)) as SQLQueryBindings;
        });
        added += add.run(...cells).changes;
      }
      return added;
    },
    forUpdate: (query) => query,
  };
}
