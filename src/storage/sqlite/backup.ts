import type { Database } from "bun:sqlite";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  unlinkSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { AppError } from "../../domain/errors.ts";
import { reasonNotMade } from "../../domain/system-error.ts";
import type { Migration } from "../migrations.macro.ts";
import { isRunning } from "../system.ts";
import { asAppError, isFull, openDatabase } from "./connection.ts";
import { migrationsOf } from "./files.ts";
import { giveToOwner, mayWrite, ownership, requirePlainFiles, requireReachable } from "./folder.ts";
import { type Blame, checkPages, checkReferences, examine, reportingDamage } from "./inspect.ts";
import { pendingMigrations } from "./migrate.ts";

/** Rows by table. */
export type Counts = ReadonlyMap<string, number>;

/** How often a copy is made again because rows came and went while it was made. */
const attempts = 3;

/**
 * Copies one moment of the catalogue `source`, which may be in use, to the new file `target`. The
 * copy gets its name after its check. Never overwrites. It has no counters, so a restore gives no
 * used requests back. Returns its rows by table.
 */
export function backup(
  source: string,
  target: string,
  migrations: readonly Migration[] = migrationsOf.catalogue,
): Counts {
  requireReachable(dirname(source));
  requirePlainFiles([source]);
  if (!existsSync(source)) throw noCatalogue(source, "missing");
  if (existsSync(target)) throw alreadyThere(target);
  const pending = examine(source, (db) => pendingMigrations(db, source, migrations));
  // A first start that was cut short leaves a database without a table.
  if (pending.length === migrations.length) throw noCatalogue(source, "empty");
  clearPartials(dirname(resolve(target)));
  const partial = emptyFile(`${target}.${process.pid}.partial`, target);
  try {
    const rows = reportingDamage(source, () => copyVerified(source, partial, migrations));
    flush(partial);
    giveName(partial, target);
    return rows;
  } catch (error) {
    if (isFull(error)) {
      throw new AppError("unavailable", `There is no space on the disk for ${target}.`, {
        cause: error,
        hint: "Free some space, or name a file on another disk.",
      });
    }
    const folder = dirname(source);
    if (error instanceof AppError || mayWrite(folder)) throw asAppError(error);
    const why = `its folder ${ownership(folder)}, and reading needs to write there`;
    throw new AppError("unavailable", `${source} cannot be backed up: ${why}.`, {
      cause: error,
      hint: "Copy it, and its -wal if there is one, to a folder on another disk. There rehome backup verify tests it.",
    });
  } finally {
    rmSync(partial, { force: true });
  }
}

function noCatalogue(source: string, state: string): AppError {
  return new AppError("not_found", `There is no catalogue to back up: ${source} is ${state}.`, {
    hint: "Name the data folder with --data.",
  });
}

const partialName = /\.(\d+)\.partial$/;
/** How every SQLite database begins (sqlite.org/fileformat2.html, section 1.3). */
const databaseMark = "SQLite format 3\0";

/** Removes what backups into `folder` left unfinished whose process has ended. */
function clearPartials(folder: string): void {
  for (const name of namesIn(folder)) {
    const pid = Number(partialName.exec(name)?.[1] ?? 0);
    const path = join(folder, name);
    if (pid > 0 && !isRunning(pid) && isOurDatabase(path)) rmSync(path, { force: true });
  }
}

/** Nothing for a folder that is missing or may not be read: making the copy says that. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** True for a database, or the beginning of one, that this user made and nobody else may read. */
function isOurDatabase(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true || found.uid !== process.geteuid?.()) return false;
  if ((found.mode & 0o077) !== 0) return false;
  return databaseMark.startsWith(readStart(path, databaseMark.length));
}

function readStart(path: string, bytes: number): string {
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(bytes);
    return start.toString("latin1", 0, readSync(file, start, 0, bytes, 0));
  } finally {
    closeSync(file);
  }
}

/**
 * Keeps a copy of a database beside it before the migration `tag`, the first of `migrations` that
 * it lacks. Returns the copy's name.
 */
export function backupBefore(path: string, tag: string, migrations: readonly Migration[]): string {
  for (;;) {
    const target = freeName(`${path}.before-${tag}`);
    try {
      backup(path, target, migrations);
      giveToOwner(target, dirname(path));
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
  } catch (error) {
    throw new AppError("unavailable", `${shown} cannot be made: ${reasonNotMade(error)}.`, {
      cause: error,
      hint: "Name a file in a folder that this user can write to.",
    });
  }
  return path;
}

function copyVerified(source: string, partial: string, migrations: readonly Migration[]): Counts {
  const db = openDatabase(source, { synchronous: "full" });
  try {
    for (let attempt = 1; ; attempt += 1) {
      const before = countRows(db);
      db.run("VACUUM INTO ?", [partial]);
      const after = countRows(db);
      const blame = {
        what: `The copy of ${source}`,
        hint: "Check the catalogue with rehome doctor, and the disk of the copy.",
      };
      const copied = verified(partial, blame, migrations);
      if (liesBetween(copied, before, after)) return copied;
      if (attempt === attempts) {
        throw new AppError(
          "unavailable",
          `The copy of ${source} does not hold as many rows as the original; no backup was made.`,
          { hint: "Try again. If it fails again, check the disk." },
        );
      }
      rmSync(partial);
      emptyFile(partial);
    }
  } finally {
    db.close();
  }
}

/** Reads all of a backup: pages, indexes, references, history. Returns its rows by table. */
export function verified(
  path: string,
  blame: Blame = ofBackup(path),
  migrations: readonly Migration[] = migrationsOf.catalogue,
): Counts {
  const look = (db: Database) => {
    pendingMigrations(db, path, migrations, "Name a file that rehome backup made.");
    checkPages(db, path, "integrity_check");
    checkReferences(db);
    return countRows(db);
  };
  return examine(path, look, blame);
}

const ofBackup = (path: string): Blame => ({ what: path, hint: "Take an earlier backup." });

/** True when no table has more or fewer rows than it had before or after the copy was made. */
function liesBetween(copied: Counts, before: Counts, after: Counts): boolean {
  return [...before].every(([table, count]) => {
    const later = after.get(table) ?? 0;
    const rows = copied.get(table) ?? -1;
    return rows >= Math.min(count, later) && rows <= Math.max(count, later);
  });
}

/** The rows of our own tables, without that in which SQLite counts ids. */
function countRows(db: Database): Counts {
  const tables = db
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )
    .all();
  const countOf = (table: string) =>
    db.query<{ rows: number | bigint }, []>(`SELECT count(*) AS rows FROM "${table}"`).get()?.rows;
  return new Map(tables.map(({ name }) => [name, Number(countOf(name))]));
}

/** Returns once the file's bytes are on the disk. */
export function flush(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Gives a finished file its name, which must be free. There is either all of it or nothing. */
function giveName(partial: string, name: string): void {
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
