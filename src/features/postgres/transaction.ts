import type { SQL } from "bun";
import { getTableColumns, getTableName, type SQLWrapper } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sql";
import { PgDialect } from "drizzle-orm/pg-core";
import { jsonText } from "../../domain/exact-json.ts";
import {
  buildersOf,
  type Database,
  type Notes,
  type Tx,
  type WorkOptions,
} from "../../storage/database.ts";
import { postgresTables, schemaName } from "../../storage/schema.postgres.ts";
import { repeatable, type Runner } from "./connections.ts";
import { isHarmless } from "./failures.ts";

const dialect = new PgDialect();

/** What runs a statement: a connection, or a transaction on one. */
type Client = Pick<SQL, "unsafe">;

interface Connections {
  readonly reads: Runner<{ readonly sql: SQL }>;
  readonly changes: Runner<{ readonly sql: SQL }>;
  /** For changes that may take long: one that waits for them in vain must not end them. */
  readonly longChanges: Runner<{ readonly sql: SQL }>;
}

interface PostgresDatabaseOptions {
  /** How long work may take that says nothing else. */
  readonly timeoutMs: number;
  readonly onCommit: (notes: Notes) => void;
}

/** All data of a store. Reads share some connections; transactions queue for one, or the other. */
export function postgresDatabase(
  { reads, changes, longChanges }: Connections,
  { timeoutMs: usualMs, onCommit }: PostgresDatabaseOptions,
): Database {
  return {
    read: (work, { timeoutMs = usualMs }: WorkOptions = {}) =>
      reads.run(
        ({ sql }) =>
          sql.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY", (client) =>
            work(txOn(client, {})),
          ),
        { ...repeatable, deadlineMs: performance.now() + timeoutMs },
      ),
    async transaction(work, { timeoutMs = usualMs }: WorkOptions = {}) {
      let notes: Notes = {};
      const queue = timeoutMs > usualMs ? longChanges : changes;
      const result = await queue.run(
        ({ sql }) =>
          sql.begin(async (client) => {
            notes = {};
            await limitLocks(client, timeoutMs);
            return work(txOn(client, notes));
          }),
        { mayRepeat: isHarmless, deadlineMs: performance.now() + timeoutMs },
      );
      onCommit(notes);
      return result;
    },
  };
}

/**
 * The part of a transaction's time in which it may not wait for a lock, so that the server's
 * lock_timeout comes before our deadline, which drops the connection. At most a quarter of the
 * time.
 */
const lockMarginMs = 250;

export function lockTimeout(timeoutMs: number): string {
  return String(Math.ceil(Math.max(timeoutMs - lockMarginMs, timeoutMs * 0.75)));
}

/**
 * The transaction waits for a lock at most `timeoutMs`. The server releases its locks when this
 * process is silent for that long.
 */
async function limitLocks(client: Client, timeoutMs: number): Promise<void> {
  await client.unsafe(
    `SELECT set_config('lock_timeout', $1, true),
      set_config('idle_in_transaction_session_timeout', $2, true)`,
    [lockTimeout(timeoutMs), String(timeoutMs)],
  );
}

/** Runs a statement on its own. Integers come as bigints. */
export async function send<T>(client: Client, query: SQLWrapper): Promise<T[] & { count: number }> {
  const { sql, params } = dialect.sqlToQuery(query.getSQL());
  return (await client.unsafe(sql, params)) as T[] & { count: number };
}

function txOn(client: Client, notes: Notes): Tx {
  const insertAll: Tx["insertAll"] = async (table, rows) => {
    const all = Object.entries(getTableColumns(table));
    const columns = all.filter(([property]) => Object.hasOwn(rows[0] ?? {}, property));
    if (columns.length === 0) return 0;
    const names = columns.map(([, { name }]) => `"${name}"`);
    // JSON goes as text: Bun's client would make JSON of it once more.
    const isJson = columns.map(([, column]) => column.getSQLType() === "json");
    const arrays = columns.map(
      ([, column], at) => `$${at + 1}::${isJson[at] ? "text" : column.getSQLType()}[]`,
    );
    const { count } = (await client.unsafe(
      `INSERT INTO "${schemaName}"."${getTableName(table)}" (${names.join(", ")})
       OVERRIDING SYSTEM VALUE
       SELECT ${names.map((name, at) => (isJson[at] ? `${name}::json` : name)).join(", ")}
       FROM unnest(${arrays.join(", ")}) AS given (${names.join(", ")})`,
      columns.map(([property], at) =>
        rows.map((row) => {
          const value = (row as Record<string, unknown>)[property] ?? null;
          return isJson[at] && value !== null ? jsonText(value) : value;
        }),
      ),
    )) as { count: number };
    return count;
  };
  return {
    ...buildersOf(drizzle({ client: client as SQL })),
    t: postgresTables,
    dialect: "postgres",
    notes,
    insertAll,
    rows: <T>(query: SQLWrapper) => send<T>(client, query),
    run: async (query) => (await send(client, query)).count,
    forUpdate: <Q>(query: Q) => (query as { for(strength: "update"): Q }).for("update"),
  };
}
