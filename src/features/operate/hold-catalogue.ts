/** A catalogue as a file: whether another process uses it, and where its store moved to. */
import { Database } from "bun:sqlite";
import { existsSync, readFileSync, statSync } from "node:fs";
import { movedStore } from "../../cli/open.ts";
import type { Config } from "../../config.ts";
import { AppError } from "../../domain/errors.ts";
import { isBusy, isDamaged, isFull } from "../../storage/sqlite/connection.ts";
import { storeFiles } from "../../storage/sqlite/files.ts";
import { examine } from "./examine-catalogue.ts";
import { copyMark, movedMark, unfinishedCopy } from "../../storage/store-state.ts";

interface Held {
  /** The catalogue, in a transaction; undefined if it is missing, empty or damaged. */
  readonly db: Database | undefined;
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
    const value = "SELECT value FROM store_state WHERE name = ?";
    return examine(
      catalogue,
      (db) => db.query<{ value: string }, [string]>(value).get(name)?.value,
    );
  } catch {
    return undefined;
  }
}
