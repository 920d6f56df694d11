import type { Database } from "bun:sqlite";
import { AppError } from "../../domain/errors.ts";
import { pendingAfter, type AppliedMigration, type Migration } from "../migration-history.ts";
import { copyMark } from "../store-state.ts";

/** Marks our files in SQLite's header (`file` and `PRAGMA application_id` show it): "reho". */
const applicationId = 0x7265_686f;

/**
 * Updates the database to the newest schema in one transaction, and returns the tags of the applied
 * migrations. Refuses a foreign, newer or divergent database before it writes; Drizzle's applier
 * compares only the newest time stamp. Processes that start together take turns. A database that it
 * makes for a copy of `copyOf` has the mark of one.
 */
export function migrate(
  db: Database,
  path: string,
  migrations: readonly Migration[],
  copyOf?: string,
): string[] {
  const pending = () => pendingMigrations(db, path, migrations);
  if (pending().length === 0) return [];
  // Table rebuilds drop a table that others refer to; inside a transaction this pragma has no
  // effect.
  db.run("PRAGMA foreign_keys = OFF");
  const apply = db.transaction(() => {
    const todo = pending();
    db.run(`PRAGMA application_id = ${applicationId}`);
    db.run(
      "CREATE TABLE IF NOT EXISTS schema_migrations (tag TEXT PRIMARY KEY, hash TEXT NOT NULL) STRICT",
    );
    for (const { tag, hash, sql } of todo) {
      db.run(sql);
      db.run("INSERT INTO schema_migrations (tag, hash) VALUES (?, ?)", [tag, hash]);
    }
    if (copyOf !== undefined && todo.length === migrations.length) {
      db.run("INSERT INTO store_state (name, value) VALUES (?, ?)", [copyMark, copyOf]);
    }
    if (db.query("PRAGMA foreign_key_check").get() !== null) {
      throw new AppError(
        "internal_error",
        `The migration of ${path} would break references; nothing was changed.`,
      );
    }
    return todo.map(({ tag }) => tag);
  });
  const applied = apply.immediate();
  db.run("PRAGMA foreign_keys = ON");
  return applied;
}

/**
 * The migrations still to be applied, after the history was compared with ours one by one.
 * `foreignHint` is the advice for a file that another program made.
 */
export function pendingMigrations(
  db: Database,
  path: string,
  migrations: readonly Migration[],
  foreignHint = "Choose another data folder with --data, or move that file away.",
): Migration[] {
  const tables = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all();
  if (tables.length === 0) return [...migrations];
  const header = db.query<{ application_id: number | bigint }, []>("PRAGMA application_id").get();
  if (Number(header?.application_id) !== applicationId) {
    throw new AppError(
      "unavailable",
      `${path} is an SQLite database, but not one that rehome made.`,
      { hint: foreignHint },
    );
  }
  const applied = db
    .query<AppliedMigration, []>("SELECT tag, hash FROM schema_migrations ORDER BY rowid")
    .all();
  return pendingAfter(applied, migrations, path);
}
