/** Drizzle over SQLite, apart from the database: the writer thread does without it. */
import type { Database, SQLQueryBindings, Statement } from "bun:sqlite";
import { drizzle } from "drizzle-orm/bun-sqlite";

type Builder = ReturnType<typeof drizzle>;
const builders = new WeakMap<Database, Builder>();

/**
 * The query builder over `db`, one for each connection. Statements are prepared once and kept; a
 * query built for each call costs ten times.
 */
export function query(db: Database): Builder {
  let builder = builders.get(db);
  if (builder === undefined) {
    builder = drizzle(db);
    builders.set(db, builder);
  }
  return builder;
}

/**
 * Writes statements, and has no connection. A module writes its own when it loads, which a start
 * does while another thread inspects the data folder.
 */
export const written = drizzle.mock();

/**
 * A statement that Drizzle wrote and SQLite runs as it is: its placeholders bind by position, its
 * rows come by column name. For the hottest few, where Drizzle's mapping of a row would cost more
 * than the row.
 */
export function statement<Row, Bindings extends SQLQueryBindings[]>(
  db: Database,
  text: string,
): Statement<Row, Bindings> {
  // The library types a tuple of bindings through a conditional type that TypeScript cannot see
  // through here.
  return db.prepare<Row, Bindings>(text) as unknown as Statement<Row, Bindings>;
}
