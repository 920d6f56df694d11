/** Copies of a database: VACUUM INTO, a check of all of it, and a name that it gets at the end. */
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { AppError } from "../../../domain/errors.ts";
import { reasonNotMade } from "../../../domain/system-error.ts";
import { flush } from "../../../storage/sqlite/backup.ts";
import { asAppError, isFull, openDatabase } from "../../../storage/sqlite/connection.ts";
import { migrationsOf } from "../../../storage/sqlite/files.ts";
import { requireFolder, requirePlainFiles } from "../../../storage/sqlite/folder.ts";
import { pendingMigrations } from "../../../storage/sqlite/migrate.ts";
import { examine, ofStore, reportingDamage } from "../examine-catalogue.ts";
import { whyNotWritable } from "../ownership.ts";
import { verify } from "./checks.ts";

export const partialEnding = ".partial";

/**
 * Copies one moment of the catalogue `source`, which may be in use, to the new file `target`. The
 * copy gets its name after its check. Never overwrites. It has no counters, so a restore gives no
 * used requests back. `prepare` changes the copy before it is checked.
 */
export function backup(source: string, target: string, prepare?: (copy: string) => void): void {
  requireFolder(dirname(source), constants.X_OK);
  requirePlainFiles([source]);
  if (!existsSync(source)) throw noCatalogue(source, "missing");
  if (existsSync(target)) throw alreadyThere(target);
  const pending = examine(source, (db) => pendingMigrations(db, source, migrationsOf.catalogue));
  // A first start that was cut short leaves a database without a table.
  if (pending.length === migrationsOf.catalogue.length) throw noCatalogue(source, "empty");
  requireWritable(source);
  const partial = emptyFile(target + partialEnding, target);
  try {
    reportingDamage(ofStore(source), () => copyInto(source, partial));
    prepare?.(partial);
    verifyCopy(partial, source);
    flush(partial);
    giveName(partial, target);
  } catch (error) {
    throw notCopied(target, error);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Checks the copy. A fault that the source has too is the source's. */
function verifyCopy(copy: string, source: string): void {
  const hint = "Check the disk of the copy, and make another one.";
  try {
    verify(copy, { what: `The copy of ${source}`, hint });
  } catch (error) {
    verify(source, ofStore(source));
    throw error;
  }
}

function copyInto(source: string, partial: string): void {
  const db = openDatabase(source, { synchronous: "full" });
  try {
    db.run("VACUUM INTO ?", [partial]);
  } finally {
    db.close();
  }
}

function notCopied(target: string, error: unknown): unknown {
  if (isFull(error)) {
    return new AppError("unavailable", `There is no space on the disk for ${target}.`, {
      cause: error,
      hint: "Free some space, or name a file on another disk.",
    });
  }
  return asAppError(error);
}

/** Throws for a catalogue in a folder that cannot be written: reading it needs files beside it. */
function requireWritable(source: string): void {
  const why = whyNotWritable(dirname(source));
  if (why === undefined) return;
  const needs = `reading needs to write to its folder: ${why}`;
  throw new AppError("unavailable", `${source} cannot be backed up: ${needs}.`, {
    hint: "Copy it, and its -wal if there is one, to a folder on another disk. There rehome backup verify tests it.",
  });
}

function noCatalogue(source: string, state: string): AppError {
  return new AppError("not_found", `There is no catalogue to back up: ${source} is ${state}.`, {
    hint: "Name the data folder with --data.",
  });
}

/** `name`, or the first of `name-2`, `name-3` ... that is free. */
export function freeName(name: string): string {
  for (let number = 2, free = name; ; number += 1) {
    if (!existsSync(free)) return free;
    free = `${name}-${number}`;
  }
}

/** A new file for its user alone, empty so that SQLite may fill it. Errors name it `shown`. */
export function emptyFile(path: string, shown = path): string {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return path;
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw new AppError("unavailable", `${shown} cannot be made: ${reasonNotMade(error)}.`, {
      cause: error,
      hint: isThere
        ? `Another process may be writing ${path}. If none is, delete that file.`
        : "Name a file in a folder that this user can write to.",
    });
  }
}

/** Gives a finished file its name, which must be free. There is either all of it or nothing. */
export function giveName(partial: string, name: string): void {
  try {
    // Unlike a rename, a link never takes the place of another file.
    linkSync(partial, name);
    unlinkSync(partial);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "EEXIST" || existsSync(name)) throw alreadyThere(name);
    // Some file systems, such as a USB stick's, have no links.
    renameSync(partial, name);
  }
  flush(dirname(resolve(name)));
}

export function alreadyThere(target: string): AppError {
  return new AppError(
    "invalid_request",
    `${target} exists, and a backup never overwrites a file.`,
    {
      hint: "Name a file that does not exist yet.",
    },
  );
}
