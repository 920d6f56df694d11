/** A catalogue that no other process may use, while one command replaces or moves it. */
import { Database } from "bun:sqlite";
import { existsSync, readFileSync, statSync } from "node:fs";
import { AppError } from "../domain/errors.ts";
import { isBusy, isDamaged, isFull } from "../storage/sqlite/connection.ts";

interface Held {
  /** The highest id that the catalogue gave to an animal. */
  readonly lastPetId: bigint;
  release(): void;
}

/** The error of a disk without space for the catalogue. */
export function noSpace(catalogue: string, cause: unknown): AppError {
  return new AppError("unavailable", `There is no space on the disk for ${catalogue}.`, {
    cause,
    hint: "Free some space, then try again. Nothing was changed.",
  });
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
  const nothing: Held = { lastPetId: 0n, release: () => undefined };
  if (!existsSync(catalogue)) return nothing;
  const db = new Database(catalogue, { readwrite: true, create: false, safeIntegers: true });
  try {
    db.run("PRAGMA locking_mode = EXCLUSIVE");
    // Leaving WAL mode takes the database for itself; in WAL mode every open connection holds a
    // lock.
    db.run("PRAGMA journal_mode = DELETE");
    db.run("BEGIN EXCLUSIVE");
    return { lastPetId: lastPetId(db), release: () => db.close() };
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

function lastPetId(db: Database): bigint {
  try {
    const sql = "SELECT seq FROM sqlite_sequence WHERE name = 'pets'";
    return db.query<{ seq: bigint }, []>(sql).get()?.seq ?? 0n;
  } catch {
    return 0n;
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
