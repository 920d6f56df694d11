/** The connections of one file. The writer thread starts with this alone, without Drizzle. */
import type { Database as Connection, SQLQueryBindings, Statement } from "bun:sqlite";
import { asAppError, isBusy, isOfValue } from "./connection.ts";

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

export type Prepare = (text: string) => Statement<unknown, SQLQueryBindings[]>;

interface LaneOptions {
  /** Called before each transaction or read, which it refuses by what it throws. */
  readonly onBegin?: () => void;
  /** Opens a connection with a busy_timeout of 0. Called at first use. */
  readonly open: () => Connection;
  readonly timeoutMs: number;
  readonly onCommit?: () => void;
}

/** Statements that a connection keeps prepared. */
const statementsMax = 256;

/** One connection for transactions, which queue. Nothing else may run on it. */
export class Lane {
  readonly #statements = new Map<string, ReturnType<Prepare>>();
  #connection: Connection | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly options: LaneOptions,
    private readonly begin: (connection: Connection) => void,
  ) {}

  /** Runs `work` on the connection, after what was asked for before it. */
  alone<T>(work: (connection: Connection) => T | Promise<T>): Promise<T> {
    const result = this.#last.then(async () => {
      try {
        this.options.onBegin?.();
        return await work((this.#connection ??= this.options.open()));
      } catch (error) {
        throw asAppError(error);
      }
    });
    this.#last = result.catch(() => {});
    return result;
  }

  /** Runs `work` in a transaction, which waits for others' locks until `timeoutMs` from now. */
  committed<T>(
    work: (prepare: Prepare, connection: Connection) => T | Promise<T>,
    timeoutMs = this.options.timeoutMs,
  ): Promise<T> {
    const deadlineMs = performance.now() + timeoutMs;
    return this.alone(async (connection) => {
      // Waits before the work begins, so that the work never begins twice.
      await whenFree(() => this.begin(connection), deadlineMs - performance.now());
      try {
        const result = await work((text) => this.#prepared(connection, text), connection);
        connection.run("COMMIT");
        this.options.onCommit?.();
        return result;
      } finally {
        if (connection.inTransaction) connection.run("ROLLBACK");
      }
    });
  }

  async close(): Promise<void> {
    await this.#last;
    this.#forget();
    // True: SQLite would keep the file open for a statement that was left.
    this.#connection?.close(true);
    this.#connection = undefined;
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

/** Transactions and reads have a connection each, opened at first use. */
export class Lanes {
  readonly writes: Lane;
  readonly reads: Lane;

  constructor({ onCommit = () => {}, ...options }: LaneOptions) {
    this.writes = new Lane({ ...options, onCommit }, (connection) =>
      connection.run("BEGIN IMMEDIATE"),
    );
    const open = () => {
      const connection = options.open();
      // A small cache: the system has the pages too, and a count would fill a large one for good.
      connection.run("PRAGMA query_only = ON; PRAGMA cache_size = -512");
      return connection;
    };
    this.reads = new Lane({ ...options, open }, beginRead);
  }

  /**
   * Adds each row by the INSERT `text`, in one transaction. Returns their ids in that order, and
   * the error of a row whose values SQLite refused.
   */
  insertAll(
    text: string,
    rows: readonly (readonly SQLQueryBindings[])[],
    timeoutMs?: number,
  ): Promise<(bigint | Error)[]> {
    return this.writes.committed((prepare) => {
      const insert = prepare(text);
      return rows.map((row) => {
        try {
          // A bigint, because the connection has safeIntegers; the library's type does not know.
          return insert.run(...row).lastInsertRowid as bigint;
        } catch (error) {
          if (isOfValue(error)) return error;
          throw error;
        }
      });
    }, timeoutMs);
  }

  /** Opens the connection for transactions before there is one, to learn whether it opens. */
  async open(): Promise<void> {
    await this.writes.alone(() => {});
  }

  async checkpoint(): Promise<void> {
    await this.writes.alone((connection) => connection.run("PRAGMA wal_checkpoint(PASSIVE)"));
  }

  async close(): Promise<void> {
    await Promise.all([this.writes.close(), this.reads.close()]);
  }
}

/** Takes the snapshot too, which BEGIN alone does not: the lock of a recovery may be in its way. */
function beginRead(connection: Connection): void {
  if (!connection.inTransaction) connection.run("BEGIN");
  connection.run("SELECT 1 FROM sqlite_schema LIMIT 1");
}
