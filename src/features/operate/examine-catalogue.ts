/** A catalogue as a file that may be damaged, or a stranger's: it is looked at, never changed. */
import { constants, Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { AppError } from "../../domain/errors.ts";
import { busyTimeoutMs, isDamaged } from "../../storage/sqlite/connection.ts";
import { catalogueAdvice } from "../../storage/sqlite/inspect.ts";

const attempts = 3;
const attemptPauseMs = 20;

export interface Blame {
  readonly what: string;
  readonly hint: string;
}

export const ofStore = (path: string, hint = catalogueAdvice): Blame => ({ what: path, hint });

function walSize(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Runs `look` on the database, and changes nothing. Throws `unavailable` when it is damaged. */
export function examine<T>(path: string, look: (db: Database) => T, blame = ofStore(path)): T {
  for (let attempt = 1; ; attempt += 1) {
    const walBytes = walSize(path);
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
