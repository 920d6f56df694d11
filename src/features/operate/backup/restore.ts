import { Database } from "bun:sqlite";
import { accessSync, constants, existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isoSeconds } from "../../../domain/clock.ts";
import { AppError } from "../../../domain/errors.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import {
  emptyFile,
  flush,
  freeName,
  verified,
  type Counts,
} from "../../../storage/sqlite/backup.ts";
import { isFull } from "../../../storage/sqlite/connection.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { giveToOwner, prepareFolder, requirePlainFiles } from "../../../storage/sqlite/folder.ts";
import { examine } from "../../../storage/sqlite/inspect.ts";
import { holdAlone, noSpace } from "../../hold-catalogue.ts";
import { report, type BackupReport } from "./report.ts";

interface RestoreReport extends BackupReport {
  /** Where the catalogue is that was there before, if there was one. */
  readonly replaced: string | undefined;
}

/**
 * Replaces the catalogue in `folder` with the backup `file`, and keeps the old one. Checks the
 * backup and its copy first. Throws `unavailable` when a process uses the store. New ids follow
 * those of the old catalogue, and counters stay.
 */
export function restore(file: string, folder: string, nowMs: number): RestoreReport {
  const rows = backupRows(file);
  prepareFolder(folder);
  const { catalogue } = storeFiles(folder);
  requirePlainFiles([catalogue]);
  try {
    return replaceWith(rows, { file, folder, catalogue, nowMs });
  } catch (error) {
    throw notRestored(catalogue, error);
  }
}

/** Where a restore makes its copy, beside the catalogue. */
export const restoring = (catalogue: string) => `${catalogue}.restoring`;

interface Replacement {
  readonly file: string;
  readonly folder: string;
  readonly catalogue: string;
  readonly nowMs: number;
}

/** Puts the backup in the place of the catalogue. `rows` are those of the backup. */
function replaceWith(rows: Counts, { file, folder, catalogue, nowMs }: Replacement): RestoreReport {
  const partial = restoring(catalogue);
  const held = holdAlone(catalogue);
  try {
    rmSync(partial, { force: true });
    emptyFile(partial);
    examine(file, (db) => db.run("VACUUM INTO ?", [partial]));
    continueIds(partial, held.lastPetId);
    const copied = verified(partial);
    for (const [table, count] of rows) {
      if (copied.get(table) !== count) {
        throw new AppError("unavailable", `The copy of ${file} has too few rows of ${table}.`);
      }
    }
    flush(partial);
    giveToOwner(partial, folder);
    const replaced = replace(partial, catalogue, nowMs);
    return { ...report(catalogue, rows), replaced };
  } finally {
    held.release();
    rmSync(partial, { force: true });
  }
}

function notRestored(catalogue: string, error: unknown): AppError {
  if (isFull(error)) return noSpace(catalogue, error);
  if (error instanceof AppError) return error;
  const message = `${catalogue} could not be replaced: ${reasonOf(error)}.`;
  return new AppError("unavailable", message, {
    cause: error,
    hint: "Check the disk and the system's log, then try again.",
  });
}

/** Throws when `file` cannot be read, or is a folder, a pipe or a device. */
export function requireBackup(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw new AppError("not_found", `There is no backup ${file}.`, {
        hint: "Make one with rehome backup FILE.",
      });
    }
    throw new AppError("unavailable", `The backup ${file} cannot be read: ${reasonOf(error)}.`, {
      cause: error,
      hint: "Copy it to a folder that this user can read, such as /tmp.",
    });
  }
  if (!statSync(file).isFile()) throw noBackup(file, "is not a file");
}

/** Reads the backup `file` through. Returns its rows by table. Throws when it is not a backup. */
export function backupRows(file: string): Counts {
  requireBackup(file);
  const rows = verified(file);
  if (rows.size === 0) throw noBackup(file, "holds no catalogue");
  return rows;
}

function noBackup(file: string, why: string): AppError {
  return new AppError("unavailable", `${file} ${why}; it is not a backup.`, {
    hint: "Name a file that rehome backup made.",
  });
}

/** Keeps the old catalogue under another name. At each moment there is a whole one. */
function replace(partial: string, catalogue: string, nowMs: number): string | undefined {
  const kept = freeName(`${catalogue}.replaced-${isoSeconds(nowMs).replaceAll(":", "")}`);
  // What a damaged or lost database left beside itself belongs to it, and would be taken for the
  // new one's.
  for (const suffix of ["-wal", "-shm"]) {
    if (existsSync(catalogue + suffix)) renameSync(catalogue + suffix, kept + suffix);
  }
  const replaced = existsSync(catalogue) ? kept : undefined;
  if (replaced !== undefined) keep(catalogue, replaced);
  renameSync(partial, catalogue);
  flush(dirname(catalogue));
  return replaced;
}

function keep(catalogue: string, replaced: string): void {
  try {
    linkSync(catalogue, replaced);
  } catch {
    // Some file systems, such as a USB stick's, have no links.
    renameSync(catalogue, replaced);
  }
}

/** Lets ids go on after `last`, so that no id ever means two animals. */
function continueIds(path: string, last: bigint): void {
  const db = new Database(path, { readwrite: true, create: false, safeIntegers: true });
  try {
    db.run(
      "INSERT INTO sqlite_sequence (name, seq) SELECT 'pets', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'pets')",
    );
    db.run("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'pets'", [last]);
  } finally {
    db.close(true);
  }
}
