/** The copy of a database that a migration is about to change. */
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
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
    const name = `${path}.before-${tag}`;
    let free = name;
    for (let number = 2; !giveName(partial, free); number += 1) free = `${name}-${number}`;
    return free;
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

/**
 * Gives a finished file its name, unless that is taken. There is either all of it or nothing. Where
 * the disk has links, `file` stays too, for the caller to remove.
 */
export function giveName(file: string, name: string): boolean {
  try {
    // Unlike a rename, a link takes the place of no other file, nor of a link that leads nowhere.
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
