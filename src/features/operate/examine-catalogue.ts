/**
 * A catalogue as a file that may be damaged, in use, or a stranger's: it is looked at, and held
 * against other processes, but not changed.
 */
import { constants, Database } from "bun:sqlite";
import { statSync, existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { AppError } from "../../domain/errors.ts";
import { windowMs } from "../../domain/windows.ts";
import { busyTimeoutMs, isDamaged, isBusy, isFull } from "../../storage/sqlite/connection.ts";
import { catalogueAdvice } from "../../storage/sqlite/migrate.ts";
import { movedStore } from "../../cli/open.ts";
import type { Config } from "../../config.ts";
import { storeFiles } from "../../storage/sqlite/files.ts";
import { copyMark, movedMark, unfinishedCopy } from "../../storage/database.ts";

const attempts = 3;
const attemptPauseMs = 20;

export interface Blame {
  readonly what: string;
  readonly hint: string;
}

export const ofStore = (path: string, hint = catalogueAdvice): Blame => ({ what: path, hint });

/** Runs `look` on the database, and changes nothing. Throws `unavailable` when it is damaged. */
export function examine<T>(path: string, look: (db: Database) => T, blame = ofStore(path)): T {
  for (let attempt = 1; ; attempt += 1) {
    const walBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
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

/** What a check found wrong with a file. */
export class Damage extends Error {}

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

interface Held {
  /** The catalogue, in a transaction; undefined if it is missing, empty or damaged. */
  readonly db: Database | undefined;
  release(): void;
}

/** The error of a disk without space for a file. */
export function noSpace(
  path: string,
  cause: unknown,
  hint = "Free some space, then try again. Nothing was changed.",
): AppError {
  return new AppError("unavailable", `There is no space on the disk for ${path}.`, { cause, hint });
}

/** Throws `unavailable` while another process uses the catalogue. */
export function requireUnused(catalogue: string): void {
  try {
    holdAlone(catalogue).release();
  } catch (error) {
    // The next open says what else is wrong with it.
    if (error instanceof AppError) throw error;
  }
}

/** Locks the catalogue against every other process. Its log is folded into it on the way. */
export function holdAlone(catalogue: string): Held {
  const nothing: Held = { db: undefined, release: () => undefined };
  if (!existsSync(catalogue) || statSync(catalogue).size === 0) return nothing;
  const db = new Database(catalogue, { readwrite: true, create: false, safeIntegers: true });
  try {
    db.run("PRAGMA locking_mode = EXCLUSIVE");
    // Leaving WAL mode takes the database for itself; in WAL mode every open connection holds a
    // lock.
    db.run("PRAGMA journal_mode = DELETE");
    db.run("BEGIN EXCLUSIVE");
    return { db, release: () => db.close() };
  } catch (error) {
    db.close();
    if (isBusy(error) || isLocked(catalogue)) {
      throw new AppError("unavailable", `${catalogue} is in use by another process.`, {
        cause: error,
        hint: "Stop rehome there, then try again.",
      });
    }
    if (isFull(error)) throw noSpace(catalogue, error);
    // A damaged catalogue is what restoring is for.
    if (isDamaged(error)) return nothing;
    throw error;
  }
}

/** True when Linux lists a lock on the file: a damaged database cannot be asked. */
function isLocked(path: string): boolean {
  try {
    const { ino } = statSync(path);
    return readFileSync("/proc/locks", "utf8").includes(`:${ino} `);
  } catch {
    return false;
  }
}

/**
 * Throws for a data folder that holds a part of a copy, and for one whose store was moved, unless
 * the settings say that it is meant.
 */
export function refuseMovedFolder(folder: string, config: Pick<Config, "movedStore">): void {
  const from = storedFact(folder, copyMark);
  if (from !== undefined) throw unfinishedCopy(folder, from);
  if (config.movedStore) return;
  const place = folderMovedTo(folder);
  if (place !== undefined) throw movedStore(folder, place);
}

/** Where the store in a data folder moved to; undefined for one that is in its place. */
export const folderMovedTo = (folder: string): string | undefined => storedFact(folder, movedMark);

/**
 * A fact that a data folder's store has of itself, read without opening the store or changing its
 * schema. Undefined also for one that cannot be read: that is for others to say.
 */
export function storedFact(folder: string, name: string): string | undefined {
  const { catalogue } = storeFiles(folder);
  if (!existsSync(catalogue)) return undefined;
  try {
    return factIn(catalogue, name);
  } catch {
    return undefined;
  }
}

/** A fact that a catalogue has of itself. Throws where it cannot be read. */
export function factIn(catalogue: string, name: string): string | undefined {
  const value = "SELECT value FROM store_state WHERE name = ?";
  return examine(catalogue, (db) => db.query<{ value: string }, [string]>(value).get(name)?.value);
}

/** When something happened in a store at last, to compare a clock with. For either database. */
export function newestRecordSql(schema: string): string {
  const selects = Object.entries({
    key_events: "at_ms",
    changes: "at_ms",
    schedule: "tried_at_ms",
    sessions: "seen_at_ms",
  }).map(([table, column]) => `SELECT max(${column}) AS at FROM ${schema}${table}`);
  return `SELECT max(at) AS newest FROM (${selects.join(" UNION ALL ")}) AS times`;
}

export const newestWindowSql = (schema: string): string =>
  `SELECT max(minute_label) * ${windowMs.minute} AS newest FROM ${schema}rate_windows`;
