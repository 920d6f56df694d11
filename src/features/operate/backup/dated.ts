/** A folder of dated backups, of which the newest are kept. */
import { existsSync, readdirSync, statSync, unlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { isoSeconds } from "../../../domain/clock.ts";
import { AppError } from "../../../domain/errors.ts";
import { reasonOf } from "../../../domain/system-error.ts";

/** What a dated backup is called: rehome-20261122T021900Z.db. The names sort by their times. */
export const datedName = /^rehome-\d{8}T\d{6}Z(?:-\d+)?\.db$/;

/** A free name in `folder` for a backup made at `nowMs`, in UTC. */
export function datedFile(folder: string, nowMs: number): string {
  const time = isoSeconds(nowMs).replaceAll(/[-:]/g, "");
  for (let number = 1; ; number += 1) {
    const path = join(folder, `rehome-${time}${number === 1 ? "" : `-${number}`}.db`);
    if (!existsSync(path)) return path;
  }
}

/** True if `path` is a folder. Throws `unavailable` if this user may not look at it. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch (error) {
    throw new AppError("unavailable", `${path} cannot be reached: ${reasonOf(error)}.`, {
      cause: error,
      hint: "Name a folder that this user can write to.",
    });
  }
}

/**
 * Removes all dated backups of the folder but the newest `keepCount`, and returns their paths.
 * `newest` was made just now. A name with a later time is older: the clock was wrong then, or is
 * now. Other files stay. Throws `unavailable` when one cannot be removed.
 */
export function removeOlder(folder: string, keepCount: number, newest: string): string[] {
  const names = readdirSync(folder).filter((name) => datedName.test(name));
  // Without the ending, so that the second of one second comes after the first.
  const ordered = names.toSorted((a, b) => (a.slice(0, -3) < b.slice(0, -3) ? -1 : 1));
  const end = ordered.indexOf(basename(newest)) + 1;
  const byAge = [...ordered.slice(end), ...ordered.slice(0, end)];
  const older = byAge.slice(0, Math.max(0, names.length - keepCount));
  const paths = older.map((name) => join(folder, name));
  for (const path of paths) remove(path);
  return paths;
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    throw new AppError("unavailable", `${path} cannot be removed: ${reasonOf(error)}.`, {
      cause: error,
      hint: "The new backup is complete. Give the older ones to the account that makes the backups.",
    });
  }
}
