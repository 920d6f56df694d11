import { backup, type BackupReport } from "../../../storage/sqlite/backup.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { recordBackup } from "./last-backup.ts";

/**
 * Copies the catalogue in `folder`, which may be in use, to the new file `target`, and notes that
 * in the folder. A note that cannot be written does not make the backup a worse one; `onProblem` is
 * told.
 */
export function backupStore(
  folder: string,
  target: string,
  nowMs: number,
  onProblem: (error: unknown) => void,
): BackupReport {
  const made = backup(storeFiles(folder).catalogue, target);
  try {
    recordBackup(folder, { atMs: nowMs, file: made.file, bytes: made.bytes });
  } catch (error) {
    onProblem(error);
  }
  return made;
}
