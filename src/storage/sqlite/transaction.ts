/**
 * Async transactions on bun:sqlite, which is synchronous: to await a builder runs it at once. What
 * would break a transaction is refused or made impossible here, see each function.
 */
import type { Database as Connection, SQLQueryBindings, Statement } from "bun:sqlite";
import { getTableColumns, getTableName, type SQLWrapper } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import {
  buildersOf,
  type Database,
  type Db,
  type Notes,
  type Tables,
  type Tx,
  type WorkOptions,
} from "../database.ts";
import * as schema from "../schema.sqlite.ts";
import { asAppError, isBusy } from "./connection.ts";

/** Statements are written once, against PostgreSQL's types. The tests run them on both. */
const sqlite = { t: schema, on: drizzle } as unknown as {
  readonly t: Tables;
  on(client: { prepare: Prepare }): Db;
};
const dialect = new SQLiteSyncDialect();

/** Pause before a lock that another connection holds is asked for again. */
const retryPauseMs = 1;

/** Runs `work`, again while another connection holds its lock. The event loop goes on meanwhile. */
export async function whenFree<T>(work: () => T, timeoutMs: number, onBusy = () => {}): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error;
    }
    onBusy();
    await Bun.sleep(retryPauseMs);
  }
}

/** Prepares a statement, once for the connection. */
export type Prepare = (text: string) => Statement<unknown, SQLQueryBindings[]>;

interface SqliteDatabaseOptions {
  /** Called before each transaction or read, which it refuses by what it throws. */
  readonly onBegin?: () => void;
  /** Opens a connection with a busy_timeout of 0. Called at first use. */
  readonly open: () => Connection;
  readonly timeoutMs: number;
  readonly onCommit?: (notes: Notes) => void;
}

/** Statements that a connection keeps prepared. */
const statementsMax = 256;

/** One connection for transactions, which queue. Nothing else may run on it. */
class Lane {
  readonly #options: SqliteDatabaseOptions;
  readonly #begin: (connection: Connection) => void;
  readonly #statements = new Map<string, ReturnType<Prepare>>();
  #connection: Connection | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: SqliteDatabaseOptions, begin: (connection: Connection) => void) {
    this.#options = options;
    this.#begin = begin;
  }

  /** Runs `work` on the connection, after what was asked for before it. */
  alone<T>(work: (connection: Connection) => T | Promise<T>): Promise<T> {
    const result = this.#last.then(async () => {
      try {
        this.#options.onBegin?.();
        return await work((this.#connection ??= this.#options.open()));
      } catch (error) {
        throw asAppError(error);
      }
    });
    this.#last = result.catch(() => {});
    return result;
  }

  transaction<T>(work: (tx: Tx) => Promise<T>, timeoutMs?: number): Promise<T> {
    const notes: Notes = {};
    const timed = (connection: Connection) => this.#inTime(connection, work, notes);
    return this.#committed(notes, timed, timeoutMs);
  }

  /** Runs synchronous `work` in a transaction. */
  native<T>(work: (prepare: Prepare) => T): Promise<T> {
    return this.#committed({}, (connection) => work((text) => this.#prepared(connection, text)));
  }

  async close(): Promise<void> {
    await this.#last;
    this.#forget();
    // True: SQLite would keep the file open for a statement that was left.
    this.#connection?.close(true);
    this.#connection = undefined;
  }

  #committed<T>(
    notes: Notes,
    work: (connection: Connection) => T | Promise<T>,
    timeoutMs = this.#options.timeoutMs,
  ): Promise<T> {
    return this.alone(async (connection) => {
      // Waits before the work begins, so that the work never begins twice.
      await whenFree(() => this.#begin(connection), timeoutMs);
      try {
        const result = await work(connection);
        connection.run("COMMIT");
        this.#options.onCommit?.(notes);
        return result;
      } finally {
        if (connection.inTransaction) connection.run("ROLLBACK");
      }
    });
  }

  /** Rejects at the next macrotask. From then on `tx` is of no use to the work. */
  async #inTime<T>(connection: Connection, work: (tx: Tx) => Promise<T>, notes: Notes): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setImmediate(() =>
      reject(new Error("A transaction may await its own statements only.")),
    );
    let hasEnded = false;
    const requireOpen = () => {
      // SQLite ends a transaction by itself when the disk fails in it.
      if (hasEnded || !connection.inTransaction) throw new Error("The transaction has ended.");
    };
    try {
      return await Promise.race([work(this.#tx(connection, requireOpen, notes)), late]);
    } finally {
      hasEnded = true;
      clearImmediate(timer);
    }
  }

  /** The transaction's functions; `requireOpen` is called before each statement. */
  #tx(connection: Connection, requireOpen: () => void, notes: Notes): Tx {
    const prepare = (text: string) => {
      requireOpen();
      return this.#prepared(connection, text);
    };
    const written = (query: SQLWrapper) => {
      const { sql, params } = dialect.sqlToQuery(query.getSQL());
      return { statement: prepare(sql), params: params as SQLQueryBindings[] };
    };
    return {
      ...buildersOf(sqlite.on({ prepare })),
      t: sqlite.t,
      dialect: "sqlite",
      notes,
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

  #prepared(connection: Connection, text: string): ReturnType<Prepare> {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    if (this.#statements.size >= statementsMax) this.#forget();
    const statement = connection.prepare<unknown, SQLQueryBindings[]>(text);
    this.#statements.set(text, statement);
    return statement;
  }

  #forget(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#statements.clear();
  }
}

/** The data of one file. Transactions and reads have a connection each, opened at first use. */
export class SqliteDatabase implements Database {
  readonly t = sqlite.t;
  readonly dialect = "sqlite";
  readonly #writes: Lane;
  readonly #reads: Lane;

  constructor({ onCommit = () => {}, ...options }: SqliteDatabaseOptions) {
    this.#writes = new Lane({ ...options, onCommit }, (connection) =>
      connection.run("BEGIN IMMEDIATE"),
    );
    const open = () => {
      const connection = options.open();
      // A small cache: the system has the pages too, and a count would fill a large one for good.
      connection.run("PRAGMA query_only = ON; PRAGMA cache_size = -512");
      return connection;
    };
    this.#reads = new Lane({ ...options, open }, beginRead);
  }

  readonly read = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => this.#reads.transaction(work);

  readonly transaction = <T>(
    work: (tx: Tx) => Promise<T>,
    { timeoutMs }: WorkOptions = {},
  ): Promise<T> => this.#writes.transaction(work, timeoutMs);

  /** Runs native statements in a transaction, among the others in their order. */
  native<T>(work: (prepare: Prepare) => T): Promise<T> {
    return this.#writes.native(work);
  }

  /** Opens the connection for transactions before there is one, to learn whether it opens. */
  async open(): Promise<void> {
    await this.#writes.alone(() => {});
  }

  /** Moves the log into the file, as far as nobody reads it. */
  async checkpoint(): Promise<void> {
    await this.#writes.alone((connection) => connection.run("PRAGMA wal_checkpoint(PASSIVE)"));
  }

  async close(): Promise<void> {
    await Promise.all([this.#writes.close(), this.#reads.close()]);
  }
}

/** Takes the snapshot too, which BEGIN alone does not: the lock of a recovery may be in its way. */
function beginRead(connection: Connection): void {
  if (!connection.inTransaction) connection.run("BEGIN");
  connection.run("SELECT 1 FROM sqlite_schema LIMIT 1");
}
