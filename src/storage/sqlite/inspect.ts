/** What a start looks at in a data folder before it opens it, and what it refuses there. */
import { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../domain/errors.ts";
import type { Migration } from "../migration-history.ts";
import { copyMark, unfinishedCopy } from "../store-state.ts";
import { busyTimeoutMs, isDamaged } from "./connection.ts";
import { migrationsOf, type storeFiles } from "./files.ts";
import { requirePlainFiles } from "./folder.ts";
import { pendingMigrations } from "./migrate.ts";

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
  } catch (error) {
    if (!isDamaged(error)) throw error;
    const why = (error as Error).message;
    throw new AppError("unavailable", `${path} is damaged: ${why}.`, {
      cause: error,
      hint: advice,
    });
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
  throw new AppError(
    "unavailable",
    `The catalogue ${catalogue} ${state}, but ${left} shows that there was one.`,
    { hint: catalogueAdvice },
  );
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
