/** The copy of a database that a migration is about to change. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { AppError } from "../../domain/errors.ts";
import { freeBytes } from "./folder.ts";
import { openDatabase } from "./connection.ts";

/**
 * Keeps a copy of a database beside it before the migration `tag`, the first that it lacks. Returns
 * the copy's name. Processes that start together each keep one.
 */
export function backupBefore(path: string, tag: string): string {
  const partial = `${path}.before-${tag}.${process.pid}.partial`;
  rmSync(partial, { force: true });
  try {
    // SQLite fills an empty file, which only its user may read.
    closeSync(openSync(partial, "wx", 0o600));
    vacuumInto(path, partial);
    flush(partial);
    return giveFreeName(partial, `${path}.before-${tag}`);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Writes one moment of a database, which may be in use, to an empty file. */
export function vacuumInto(path: string, file: string): void {
  const db = openDatabase(path, { synchronous: "full" });
  try {
    db.run("VACUUM INTO ?", [file]);
  } finally {
    db.close();
  }
}

/** Gives the file the name, or the first of `name-2`, `name-3` ... that is free. */
function giveFreeName(file: string, name: string): string {
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name}-${number}`;
    if (giveName(file, free)) return free;
  }
}

/**
 * Gives a finished file its name, unless that is taken. There is either all of it or nothing. Where
 * the disk has links, `file` stays too, for the caller to remove.
 */
export function giveName(file: string, name: string): boolean {
  try {
    // Unlike a rename, a link never takes the place of another file, or of a link that leads nowhere.
    linkSync(file, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST" || existsSync(name)) return false;
    // Some file systems, such as a USB stick's, have no links.
    renameSync(file, name);
  }
  flush(dirname(resolve(name)));
  return true;
}

export function flush(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Throws `unavailable` when there is no space for a migration: for the copy, and as much again for
 * what the migration writes.
 */
export function requireRoomToMigrate(database: string, free = freeBytes(dirname(database))): void {
  const needed = 2 * statSync(database).size;
  if (free >= needed) return;
  throw new AppError(
    "unavailable",
    `${database} cannot be updated: that needs ${mebibytes(needed)} MiB of free space on its disk, and there are ${mebibytes(free)}.`,
    { hint: "Free some space. Nothing was changed; the older program still works with it." },
  );
}

const mebibytes = (bytes: number) => Math.ceil(bytes / 1024 / 1024);
