import { Database } from "bun:sqlite";
import { AppError } from "../../domain/errors.ts";
import { pendingAfter, type AppliedMigration, type Migration } from "../migration-history.ts";
import { copyMark, unfinishedCopy } from "../database.ts";
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { busyTimeoutMs, isDamaged } from "./connection.ts";
import { migrationsOf, type storeFiles } from "./files.ts";
import { requirePlainFiles } from "./folder.ts";

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
      const message = `The migration of ${path} would break references; nothing was changed.`;
      throw new AppError("internal_error", message);
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
    const message = `${path} is an SQLite database, but not one that rehome made.`;
    throw new AppError("unavailable", message, { hint: foreignHint });
  }
  const applied = db
    .query<AppliedMigration, []>("SELECT tag, hash FROM schema_migrations ORDER BY rowid")
    .all();
  return pendingAfter(applied, migrations, path);
}

export const catalogueAdvice =
  "Restore a backup with rehome restore FILE. To start over, move all files out of the data folder.";

export const limitsAdvice = "Move it away; all limits then count from zero.";

type Files = ReturnType<typeof storeFiles>;

/**
 * Looks at both databases of a data folder as every start does. Returns the migrations that each of
 * them lacks: all of them where there is no database yet. Throws `unavailable` for what a start
 * refuses, and changes nothing of it. A page that is damaged is found when it is read.
 */
export function inspectFolder(
  files: Files,
  mayBeCopy = false,
): Record<keyof Files, readonly Migration[]> {
  requirePlainFiles([files.catalogue, files.limits]);
  const limits = inspect(files.limits, migrationsOf.limits, limitsAdvice);
  requireCatalogue(files);
  const catalogue = inspect(files.catalogue, migrationsOf.catalogue, catalogueAdvice);
  if (!mayBeCopy) refuseCopy(files.catalogue, catalogue);
  return { catalogue, limits };
}

function inspect(
  path: string,
  migrations: readonly Migration[],
  advice: string,
): readonly Migration[] {
  if (!existsSync(path)) return migrations;
  return look(path, (db) => pendingMigrations(db, path, migrations), advice);
}

/** Runs `work`, which only reads, before the settings of our own are made on a database. */
function look<T>(path: string, work: (db: Database) => T, advice = catalogueAdvice): T {
  const db = new Database(path, { readwrite: true, create: false });
  try {
    db.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    return work(db);
  } catch (cause) {
    if (!isDamaged(cause)) throw cause;
    const message = `${path} is damaged: ${(cause as Error).message}.`;
    throw new AppError("unavailable", message, { cause, hint: advice });
  } finally {
    db.close();
  }
}

function refuseCopy(catalogue: string, pending: readonly Migration[]): void {
  // Where there is no schema yet, there is no mark.
  if (pending.length === migrationsOf.catalogue.length) return;
  const from = look(catalogue, (db) => {
    const hasMarks = db.query("SELECT 1 FROM sqlite_schema WHERE name = 'store_state'").get();
    if (hasMarks === null) return undefined;
    return db
      .query<{ value: string }, [string]>("SELECT value FROM store_state WHERE name = ?")
      .get(copyMark)?.value;
  });
  if (from !== undefined) throw unfinishedCopy(dirname(catalogue), from);
}

/**
 * Throws `unavailable` when the catalogue is missing or empty beside counters that were used, or
 * beside a log of its own: a new catalogue there would give out ids and quota again.
 */
function requireCatalogue({ catalogue, limits }: Files): void {
  if (sizeOf(catalogue) > 0) return;
  const left = sizeOf(`${catalogue}-wal`) > 0 ? `${catalogue}-wal` : limits;
  if (left === limits && !wasUsed(limits)) return;
  const state = existsSync(catalogue) ? "is empty" : "is missing";
  const message = `The catalogue ${catalogue} ${state}, but ${left} shows that there was one.`;
  throw new AppError("unavailable", message, { hint: catalogueAdvice });
}

function wasUsed(limits: string): boolean {
  if (sizeOf(limits) === 0) return false;
  return look(limits, (db) => {
    const hasTable = db.query("SELECT 1 FROM sqlite_schema WHERE name = 'rate_windows'").get();
    return hasTable !== null && db.query("SELECT 1 FROM rate_windows").get() !== null;
  });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
