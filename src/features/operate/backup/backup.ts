import type { Config } from "../../../config.ts";
import { AppError } from "../../../domain/errors.ts";
import { backup } from "../../../storage/sqlite/backup.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { refuseMovedFolder } from "../moved-folder.ts";
import { recordBackup } from "./last-backup.ts";
import { report, type BackupReport } from "./report.ts";

/**
 * Copies the catalogue in `folder`, which may be in use, to the new file `target`, and records that
 * in the folder. If the record cannot be written, the backup is still good; `onProblem` is called.
 */
export function backupStore(
  folder: string,
  target: string,
  nowMs: number,
  onProblem: (error: unknown) => void,
): BackupReport {
  const made = report(target, backup(storeFiles(folder).catalogue, target));
  try {
    recordBackup(folder, { atMs: nowMs, file: made.file, bytes: made.bytes });
  } catch (error) {
    onProblem(error);
  }
  return made;
}

/**
 * The data folder of a command that works on files. Throws when the settings name a database
 * server instead, and where the store was moved elsewhere.
 */
export function dataFolder(config: Config, command: string): string {
  if (config.store !== undefined || config.storeFile !== undefined) {
    throw new AppError(
      "invalid_request",
      `rehome ${command} works on a data folder, and the settings name a PostgreSQL database.`,
      { hint: "Use pg_dump and pg_restore for it, or unset REHOME_STORE and REHOME_STORE_FILE." },
    );
  }
  refuseMovedFolder(config.data, config);
  return config.data;
}
