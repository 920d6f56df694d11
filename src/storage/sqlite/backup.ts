/** Copies of a database: VACUUM INTO, a check of all of it, and a name that it gets at the end. */
import type { Database } from "bun:sqlite";
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { AppError } from "../../domain/errors.ts";
import { reasonNotMade } from "../../domain/system-error.ts";
import type { Migration } from "../migration-history.ts";
import { asAppError, isFull, openDatabase } from "./connection.ts";
import { migrationsOf } from "./files.ts";
import { requireFolder, requirePlainFiles, whyNotWritable } from "./folder.ts";
import {
  type Blame,
  checkPages,
  checkReferences,
  examine,
  ofStore,
  reportingDamage,
} from "./inspect.ts";
import { pendingMigrations, refuseForeignSchema } from "./migrate.ts";

export const partialEnding = ".partial";

interface BackupOptions {
  readonly migrations?: readonly Migration[];
  readonly partialName?: string;
  /** Changes the copy before it is checked. */
  readonly prepare?: ((copy: string) => void) | undefined;
}

/**
 * Copies one moment of the catalogue `source`, which may be in use, to the new file `target`. The
 * copy gets its name after its check. Never overwrites. It has no counters, so a restore gives no
 * used requests back.
 */
export function backup(
  source: string,
  target: string,
  {
    migrations = migrationsOf.catalogue,
    partialName = target + partialEnding,
    prepare,
  }: BackupOptions = {},
): void {
  requireFolder(dirname(source), constants.X_OK);
  requirePlainFiles([source]);
  if (!existsSync(source)) throw noCatalogue(source, "missing");
  if (existsSync(target)) throw alreadyThere(target);
  const pending = examine(source, (db) => pendingMigrations(db, source, migrations));
  // A first start that was cut short leaves a database without a table.
  if (pending.length === migrations.length) throw noCatalogue(source, "empty");
  const partial = emptyFile(partialName, target);
  try {
    reportingDamage(ofStore(source), () => copyInto(source, partial));
    prepare?.(partial);
    verify(partial, {
      migrations,
      blame: {
        what: `The copy of ${source}`,
        hint: "Check the catalogue with rehome doctor, and the disk of the copy.",
      },
    });
    flush(partial);
    giveName(partial, target);
  } catch (error) {
    throw notCopied(source, target, error);
  } finally {
    rmSync(partial, { force: true });
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

function notCopied(source: string, target: string, error: unknown): unknown {
  if (isFull(error)) {
    return new AppError("unavailable", `There is no space on the disk for ${target}.`, {
      cause: error,
      hint: "Free some space, or name a file on another disk.",
    });
  }
  const folder = dirname(source);
  const why = error instanceof AppError ? undefined : whyNotWritable(folder);
  if (why === undefined) return asAppError(error);
  const needs = `reading needs to write to its folder: ${why}`;
  return new AppError("unavailable", `${source} cannot be backed up: ${needs}.`, {
    cause: error,
    hint: "Copy it, and its -wal if there is one, to a folder on another disk. There rehome backup verify tests it.",
  });
}

function noCatalogue(source: string, state: string): AppError {
  return new AppError("not_found", `There is no catalogue to back up: ${source} is ${state}.`, {
    hint: "Name the data folder with --data.",
  });
}

/**
 * Keeps a copy of a database beside it before the migration `tag`, the first of `migrations` that
 * it lacks. Returns the copy's name.
 */
export function backupBefore(path: string, tag: string, migrations: readonly Migration[]): string {
  for (;;) {
    const target = freeName(`${path}.before-${tag}`);
    try {
      // Processes that start together each copy to a file of their own.
      backup(path, target, {
        migrations,
        partialName: `${target}.${process.pid}${partialEnding}`,
      });
      return target;
    } catch (error) {
      // Another process that starts too may have taken the name meanwhile.
      if (!(error instanceof AppError) || error.kind !== "invalid_request") throw error;
    }
  }
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

export const ofBackup = (path: string): Blame => ofStore(path, "Take an earlier backup.");

/** Reads all of a backup: schema, pages, indexes, references. Throws when something is wrong. */
export function verify(
  path: string,
  {
    blame = ofBackup(path),
    migrations = migrationsOf.catalogue,
  }: { blame?: Blame; migrations?: readonly Migration[] } = {},
): void {
  requirePlainFiles([path]);
  const hint = "Name a file that rehome backup made.";
  examine(path, (db) => checkAll(db, path, migrations, hint), blame);
}

/** Checks all of an open database. Returns the migrations that it lacks. Throws for a fault. */
export function checkAll(
  db: Database,
  path: string,
  migrations: readonly Migration[],
  foreignHint?: string,
): readonly Migration[] {
  const pending = pendingMigrations(db, path, migrations, foreignHint);
  // Before a check that computes what a stranger's schema has.
  refuseForeignSchema(db, path, migrations.slice(0, migrations.length - pending.length));
  checkPages(db, path, "integrity_check");
  checkReferences(db);
  return pending;
}

export function flush(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
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

function alreadyThere(target: string): AppError {
  return new AppError(
    "invalid_request",
    `${target} exists, and a backup never overwrites a file.`,
    {
      hint: "Name a file that does not exist yet.",
    },
  );
}
