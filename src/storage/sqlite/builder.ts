/** Drizzle over SQLite, apart from the database: the writer thread does without it. */
import type { Database } from "bun:sqlite";
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
 * Writes the hottest statements, and has no connection. SQLite runs them as they are: Drizzle's
 * mapping of a row would cost more than the row. A module writes its own when it loads, while
 * another thread inspects the data folder.
 */
export const written = drizzle.mock();
