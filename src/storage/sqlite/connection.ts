import { Database, SQLiteError } from "bun:sqlite";
import { AppError } from "../../domain/errors.ts";
import { reasonOf } from "../../domain/system-error.ts";

/** How long a command or the writer waits for another process's write before it gives up. */
export const busyTimeoutMs = 5_000;

/** How long the write-ahead log of a catalogue grows before it begins anew. */
const logBytes = 16 * 1024 * 1024;
const defaultPageBytes = 4_096;

interface OpenOptions {
  /** What a commit outlives: a killed process with `normal`, a power cut too with `full`. */
  readonly synchronous: "full" | "normal" | "off";
  /** How long a statement may block for another process's lock; 0 on a thread that serves. */
  readonly busyTimeoutMs?: number;
  readonly pageSizeBytes?: number;
}

/**
 * Opens a database with every setting that correctness needs; SQLite's own defaults are other ones.
 * Integers come as bigints, and a missing parameter is an error. Creates the file if it is missing.
 */
export function openDatabase(path: string, options: OpenOptions): Database {
  const db = new Database(path, {
    create: true,
    readwrite: true,
    safeIntegers: true,
    strict: true,
  });
  db.run(`PRAGMA busy_timeout = ${options.busyTimeoutMs ?? busyTimeoutMs}`);
  if (options.pageSizeBytes !== undefined) db.run(`PRAGMA page_size = ${options.pageSizeBytes}`);
  useWriteAheadLog(db);
  db.run(`PRAGMA synchronous = ${options.synchronous.toUpperCase()}`);
  db.run("PRAGMA foreign_keys = ON");
  // A log that a burst made long is cut back when it is checkpointed.
  db.run(`PRAGMA journal_size_limit = ${logBytes}`);
  // A log that begins anew looks like an edit by hand, and ends all pages in memory: seldom.
  db.run(`PRAGMA wal_autocheckpoint = ${logBytes / defaultPageBytes}`);
  return db;
}

/** In WAL mode readers wait for no writer. The switch ignores busy_timeout, so ask first. */
function useWriteAheadLog(db: Database): void {
  const mode = db.query<{ journal_mode: string }, []>("PRAGMA journal_mode").get();
  if (mode?.journal_mode === "wal" || mode?.journal_mode === "memory") return;
  const attempts = 100;
  for (let attempt = 1; ; attempt += 1) {
    try {
      db.run("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!isBusy(error) || attempt === attempts) throw error;
      Bun.sleepSync(5);
    }
  }
}

const hasCode = (error: unknown, code: RegExp) =>
  error instanceof SQLiteError && code.test(error.code ?? "");

export const isBusy = (error: unknown) => hasCode(error, /^SQLITE_BUSY/);

/** True when the disk had no room for what was written, or for the shared memory beside it. */
export const isFull = (error: unknown) => hasCode(error, /^SQLITE_(FULL|IOERR_SHMSIZE)$/);

export const isDamaged = (error: unknown) => hasCode(error, /^SQLITE_(CORRUPT|NOTADB)/);

/** True when SQLite refused the values of a statement. The transaction goes on without it. */
export function isOfValue(error: unknown): error is Error {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return hasCode(cause, /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH)/);
}

const checkDisk = "Check the disk and the system's log.";

function explain(error: SQLiteError): readonly [why: string, hint: string] {
  if (isFull(error)) {
    const hint = "Free some space; rehome doctor says how much there is.";
    return ["there is no space left on its disk", hint];
  }
  if (isBusy(error)) {
    const hint =
      "Nothing was changed. Find the process with fuser -v on the .db files, and try again.";
    return ["another process holds its lock", hint];
  }
  if (isDamaged(error)) {
    return [error.message, "Find out what is damaged with rehome doctor, and restore a backup."];
  }
  return [error.message, checkDisk];
}

export function notOpened(folder: string, error: unknown): unknown {
  const isOfDatabase = error instanceof SQLiteError;
  // What a call of the system fails with when it makes the files.
  if (!isOfDatabase && (error as { syscall?: string }).syscall === undefined) return error;
  const [why, hint] = isOfDatabase ? explain(error) : [reasonOf(error), checkDisk];
  const message = `The store in ${folder} cannot be opened: ${why}.`;
  return new AppError("unavailable", message, { cause: error, hint });
}

/** Runs `work`. A failure of the database becomes AppError `unavailable`. */
export function translating<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asAppError(error);
  }
}

export function asAppError(error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error;
  const [why, hint] = explain(error);
  const message = "The store cannot be used at the moment.";
  return new AppError("unavailable", message, { cause: error, why, hint });
}
