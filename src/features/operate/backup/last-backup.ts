import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { giveToOwner } from "../../../storage/sqlite/folder.ts";

/** The last backup that was made of a data folder. */
interface BackupRecord {
  readonly atMs: number;
  /** The whole path that it was written to. It may be elsewhere by now. */
  readonly file: string;
  readonly bytes: number;
}

const recordFile = (folder: string) => join(folder, "last-backup.json");

/** Records in the data folder that a backup was made, for the doctor. */
export function recordBackup(folder: string, record: BackupRecord): void {
  const file = recordFile(folder);
  const partial = `${file}.${process.pid}.partial`;
  const text = JSON.stringify({ ...record, file: resolve(record.file) });
  rmSync(partial, { force: true });
  try {
    // A file that is there, or a link that somebody put there meanwhile, is not written to.
    writeFileSync(partial, `${text}\n`, { mode: 0o600, flag: "wx" });
    giveToOwner(partial, folder);
    renameSync(partial, file);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** The last backup that was noted, or undefined when there is no note that can be read. */
export function lastBackup(folder: string): BackupRecord | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(recordFile(folder), "utf8"));
    const { atMs, file, bytes } = note as Partial<Record<keyof BackupRecord, unknown>>;
    const isRecord =
      typeof atMs === "number" && typeof file === "string" && typeof bytes === "number";
    return isRecord ? { atMs, file, bytes } : undefined;
  } catch {
    return undefined;
  }
}
