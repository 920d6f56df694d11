import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { Awaitable, Session, TransactionOptions } from "../contract.ts";
import { type ColumnKind, columnName } from "../declare.ts";
import { asAppError, busyTimeoutMs, isBusy, openDatabase, translating } from "./connection.ts";
import { storeFiles } from "./files.ts";
import {
  type Answer,
  countEdit,
  type Dialect,
  type Insertion,
  type Statement,
  type Step,
  type Steps,
  written,
} from "../statement.ts";

const columnTypes = {
  int64: "INTEGER",
  count: "INTEGER",
  text: "TEXT",
  json: "TEXT",
  bytes: "BLOB",
} as const satisfies Record<ColumnKind, string>;

const dialect: Dialect = {
  name: "sqlite",
  placeholder: () => "?",
  jsonPlaceholder: () => "?",
  table: ({ name }) => `"${name}"`,
  columnType: ({ kind }) => columnTypes[kind],
  tableOptions: " STRICT",
};

/** Runs a transaction's steps on `db` in their order, in whatever transaction is open there. */
export function perform<T>(db: Database, steps: Steps<T>): T {
  let { done, value } = steps.next();
  while (!done) ({ done, value } = steps.next(answer(db, value as Step)));
  return value as T;
}

/** Runs `work` in a transaction of its own on `db`, with the write lock from its beginning. */
export function transactOn<T>(db: Database, work: () => Steps<T>): T {
  return db.transaction(() => perform(db, work())).immediate();
}

/** A statement in SQLite's words, and its parameters. */
export function inSqlite(statement: Statement): ReturnType<typeof written> {
  return written(statement, dialect);
}

function answer(db: Database, step: Step): Answer {
  switch (step.kind) {
    case "rows": {
      const { text, values } = inSqlite(step.statement);
      return db.query<object, SQLQueryBindings[]>(text).all(...values);
    }
    case "count": {
      const { text, values } = inSqlite(step.statement);
      return db.query<unknown, SQLQueryBindings[]>(text).run(...values).changes;
    }
    case "insert":
      return insertAll(db, step.insertion);
    case "epoch": {
      const raise = "UPDATE key_epoch SET epoch = epoch + 1 RETURNING epoch";
      return Number(db.query<{ epoch: bigint }, []>(raise).get()?.epoch);
    }
    // There is one writer at a time, so that changes need no order.
    case "animals":
      return step.change === "any" ? answer(db, { kind: "count", statement: countEdit }) : 0;
    // The count is read from an index.
    case "counted":
      return 0;
  }
}

function insertAll(db: Database, { into, columns, rows, ifAbsent }: Insertion): number {
  const names = columns.map((property) => `"${columnName(property)}"`).join(", ");
  const marks = columns.map(() => "?").join(", ");
  const otherwise = ifAbsent ? " ON CONFLICT DO NOTHING" : "";
  const add = db.query<unknown, SQLQueryBindings[]>(
    `INSERT INTO "${into.name}" (${names}) VALUES (${marks})${otherwise}`,
  );
  let added = 0;
  for (const row of rows) added += add.run(...row).changes;
  return added;
}

/** Pause before a lock is asked for again. */
const retryPauseMs = 3;

/** Runs `work`, again for `timeoutMs` while another process holds the lock. The thread goes on. */
export function withoutBlocking<T>(work: () => T, timeoutMs: number): Awaitable<T> {
  try {
    return work();
  } catch (error) {
    if (!isBusy(error)) throw asAppError(error);
    return tryAgain(work, performance.now() + timeoutMs);
  }
}

async function tryAgain<T>(work: () => T, deadlineMs: number): Promise<T> {
  for (;;) {
    await Bun.sleep(retryPauseMs);
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw asAppError(error);
    }
  }
}

/** The engine of the features that are not asked in Drizzle yet, on connections of its own. */
export function legacyEngine(
  files: ReturnType<typeof storeFiles>,
  { serving, timeoutMs }: { readonly serving: boolean; readonly timeoutMs: number },
) {
  const opened = new Map<string, Database>();
  const on = (counters = false) => {
    const path = counters ? files.limits : files.catalogue;
    return opened.getOrInsertComputed(path, () =>
      openDatabase(path, { synchronous: "full", busyTimeoutMs: serving ? 0 : busyTimeoutMs }),
    );
  };
  const writing = <T>(write: () => T, notice: () => void): Awaitable<T> => {
    const noticed = () => {
      notice();
      const result = write();
      notice();
      return result;
    };
    return withoutBlocking(noticed, serving ? timeoutMs : busyTimeoutMs);
  };
  return {
    read: <T>(work: () => Steps<T>, { counters }: TransactionOptions = {}): T =>
      translating(() => perform(on(counters), work())),
    transact: <T>(
      work: () => Steps<T>,
      { counters }: TransactionOptions = {},
      notice: () => void,
    ): Awaitable<T> => writing(() => transactOn(on(counters), work), notice),
    writing,
    close() {
      for (const db of opened.values()) db.close(true);
    },
  };
}

/** Page cache of a session, in KiB: an index that is walked in order needs little. */
const sessionCacheKib = 8_192;

interface SessionOptions {
  readonly folder: string;
  /** True on a thread that serves: no statement may block it for a lock. */
  readonly serving: boolean;
}

/**
 * Opens a session on the files of `folder`.
 * Temporary tables are in a file without a name, so that they take no lock on the catalogue and
 * cannot be left behind. Writes go through `writing`, so that the store sees them at once.
 */
export function openSession(
  { folder, serving }: SessionOptions,
  writing: <T>(write: () => T) => Awaitable<T>,
): Session {
  const db = openDatabase(storeFiles(folder).catalogue, {
    synchronous: "full",
    busyTimeoutMs: serving ? 0 : busyTimeoutMs,
  });
  db.run("PRAGMA temp_store = FILE");
  for (const schema of ["main", "temp"])
    db.run(`PRAGMA ${schema}.cache_size = -${sessionCacheKib}`);
  return {
    dialect: "sqlite",
    read: (work) => translating(() => perform(db, work())),
    aside: (work) => translating(() => db.transaction(() => perform(db, work()))()),
    transact: (work) => writing(() => transactOn(db, work)),
    close() {
      db.close();
    },
  };
}
