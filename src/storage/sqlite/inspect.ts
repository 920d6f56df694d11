import { constants, Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { AppError } from "../../domain/errors.ts";
import type { Migration } from "../migration-history.ts";
import { copyMark, unfinishedCopy } from "../store-state.ts";
import { busyTimeoutMs, isDamaged } from "./connection.ts";
import { migrationsOf, type storeFiles } from "./files.ts";
import { ownership, requirePlainFiles, whyNotWritable } from "./folder.ts";
import { pendingMigrations } from "./migrate.ts";

/** A database up to this size is read through at each start (some 50 ms); in a backup, any is. */
const checkedMaxBytes = 32 * 1024 * 1024;

const attempts = 3;
const attemptPauseMs = 20;

export interface Blame {
  readonly what: string;
  readonly hint: string;
}

const catalogueAdvice =
  "Restore a backup with rehome restore FILE. To start over, move all files out of the data folder.";

export const limitsAdvice = "Move it away; all limits then count from zero.";

export const ofStore = (path: string, hint = catalogueAdvice): Blame => ({ what: path, hint });

/**
 * Looks at a database before it is opened for writing, and leaves it as it is. Returns the
 * migrations that it lacks: all of them where there is no database yet. Throws `unavailable` when
 * it is damaged, not ours, newer, or cannot be written; `advice` says what to do about damage.
 */
function inspect(
  path: string,
  migrations: readonly Migration[],
  advice?: string,
): readonly Migration[] {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return migrations;
  const why =
    whyNotWritable(path) ?? ((file.mode & 0o200) === 0 ? `it ${ownership(path)}` : undefined);
  if (why !== undefined) {
    throw new AppError("unavailable", `${path} is read-only: ${why}.`, {
      hint: "Make it writable for the owner of its folder, and run rehome as that owner.",
    });
  }
  const isWhole = file.size <= checkedMaxBytes;
  const look = (db: Database) => {
    const pending = pendingMigrations(db, path, migrations);
    checkLength(db, path);
    if (isWhole) checkPages(db, path, "quick_check");
    return pending;
  };
  return examine(path, look, ofStore(path, advice));
}

/**
 * Looks at both databases of a data folder as every start does, and changes nothing. Returns the
 * migrations that each of them lacks. Throws `unavailable` for what a start refuses.
 */
export function inspectFolder(
  files: ReturnType<typeof storeFiles>,
  { mayBeCopy = false }: { readonly mayBeCopy?: boolean | undefined } = {},
): Record<keyof typeof files, readonly Migration[]> {
  requirePlainFiles([files.catalogue, files.limits]);
  const limits = inspect(files.limits, migrationsOf.limits, limitsAdvice);
  requireCatalogue(files);
  const catalogue = inspect(files.catalogue, migrationsOf.catalogue);
  if (!mayBeCopy) refuseCopy(files.catalogue, catalogue);
  return { catalogue, limits };
}

/** Throws for a catalogue that holds a part of a copy. */
function refuseCopy(catalogue: string, pending: readonly Migration[]): void {
  // Where there is no schema yet, there is no mark.
  if (pending.length === migrationsOf.catalogue.length) return;
  const from = examine(catalogue, (db) => {
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
function requireCatalogue(files: ReturnType<typeof storeFiles>): void {
  const { catalogue, limits } = files;
  const size = sizeOf(catalogue);
  if (size > 0) return;
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
  return examine(limits, (db) => {
    const pending = pendingMigrations(db, limits, migrationsOf.limits);
    if (pending.length === migrationsOf.limits.length) return false;
    return db.query("SELECT 1 FROM rate_windows").get() !== null;
  });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Throws when pages are missing at the end. SQLite sees that by itself only where there is no log:
 * with one it goes by the log's length, and reads what is missing as zeros.
 */
function checkLength(db: Database, path: string): void {
  const numberOf = (pragma: string) =>
    Number(Object.values(db.query<Record<string, number>, []>(`PRAGMA ${pragma}`).get() ?? {})[0]);
  const pageBytes = numberOf("page_size");
  const framesMax = sizeOf(`${path}-wal`) / (walFrameHeaderBytes + pageBytes);
  const pages = numberOf("page_count");
  const missing = pages - sizeOf(path) / pageBytes;
  if (missing > framesMax) {
    throw new Damage(`${Math.ceil(missing)} of its ${pages} pages are missing`);
  }
}

/** Before each page in a log (sqlite.org/fileformat2.html, section 4.1). */
const walFrameHeaderBytes = 24;

/** Runs `look` on the database, and changes nothing. Throws `unavailable` when it is damaged. */
export function examine<T>(path: string, look: (db: Database) => T, blame = ofStore(path)): T {
  for (let attempt = 1; ; attempt += 1) {
    const walBytes = sizeOf(`${path}-wal`);
    try {
      // Without a log nobody need be asked for a lock, and nothing is left beside the file.
      return withDatabase(path, walBytes === 0 ? "immutable=1" : "mode=ro", look);
    } catch (error) {
      if (!isDamaged(error) && !(error instanceof Damage)) throw error;
      if (attempt === attempts) throw asDamage(blame, error);
      // Without a lock, what another process was just writing looks like damage.
      Bun.sleepSync(attemptPauseMs);
    }
  }
}

function withDatabase<T>(path: string, how: string, look: (db: Database) => T): T {
  const address = resolve(path).split("/").map(encodeURIComponent).join("/");
  const db = new Database(
    `file:${address}?${how}`,
    constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI,
  );
  try {
    // A check reads each page once: to keep them costs a server memory for good.
    db.run(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA cache_size = 32`);
    distrust(db);
    return look(db);
  } finally {
    db.close();
  }
}

/** For a file that a stranger may have made: no function of its schema runs, no page is trusted. */
export function distrust(db: Database): void {
  db.run("PRAGMA trusted_schema = OFF");
  db.run("PRAGMA cell_size_check = ON");
  db.run("PRAGMA mmap_size = 0");
}

class Damage extends Error {}

function asDamage({ what: whose, hint }: Blame, error: unknown): AppError {
  const { code, message } = error as Error & { code?: string };
  const what =
    code === "SQLITE_NOTADB"
      ? "is not an SQLite database, or its beginning is damaged"
      : `is damaged: ${message}`;
  return new AppError("unavailable", `${whose} ${what}.`, { cause: error, hint });
}

/** What `work` returns. Throws `unavailable` when it finds an open database damaged. */
export function reportingDamage<T>(blame: Blame, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw isDamaged(error) || error instanceof Damage ? asDamage(blame, error) : error;
  }
}

/**
 * Checks the rules of all tables too: SQLite does not know them in a file that it only reads. Nor
 * may an id be near the greatest one: nothing could be added after it.
 */
export function checkRules(db: Database, blame: Blame): void {
  reportingDamage(blame, () => {
    checkPages(db, blame.what, "quick_check");
    const isSpent = `typeof(seq) <> 'integer' OR seq > ${Number.MAX_SAFE_INTEGER}`;
    const spent = db.query<{ name: string }, []>(
      `SELECT name FROM sqlite_sequence WHERE ${isSpent}`,
    );
    for (const { name } of spent.all()) throw new Damage(`the ids of ${name} are used up`);
  });
}

/** Throws for a fault. `quick_check` reads all pages, `integrity_check` also compares indexes. */
export function checkPages(
  db: Database,
  path: string,
  check: "quick_check" | "integrity_check",
): void {
  const rows = db.query<Record<string, string>, []>(`PRAGMA ${check}(1)`).all();
  const [finding = `${check} of ${path} said nothing`] = Object.values(rows[0] ?? {});
  if (finding !== "ok") throw new Damage(finding.replaceAll("\n", " ").replace(/\.$/, ""));
}

export function checkReferences(db: Database): void {
  if (db.query("PRAGMA foreign_key_check").get() !== null) {
    throw new Damage("it has rows with broken references");
  }
}
