import type { Store } from "../storage/contract.ts";
import { backup, type BackupReport } from "../storage/sqlite/backup.ts";
import { recordBackup } from "../storage/sqlite/last-backup.ts";
import { storeFiles } from "../storage/sqlite/files.ts";
import { openSqliteStore, type SqliteOptions } from "../storage/sqlite/store.ts";

/** What a server wants to know of its store's work. */
export type StoreObserver = Pick<SqliteOptions, "onCommit" | "onBusy" | "onBan">;

export interface StoreOptions extends SqliteOptions {
  /** The address of a PostgreSQL database; without it the store is the folder. */
  readonly address: string | undefined;
}

/** Opens the store that `options` name. Throws AppError in words when it cannot be used. */
export async function openStore({ address, ...options }: StoreOptions): Promise<Store> {
  if (address === undefined) return openSqliteStore(options);
  const { timeoutMs, clock: systemClock, onProblem, onCommit, onBan } = options;
  // Loaded where it is wanted: most installations never need it, and a start is not to wait for it.
  const [{ openPostgresStore }, { parseDatabaseAddress }] = await Promise.all([
    import("../storage/postgres/store.ts"),
    import("../storage/postgres/address.ts"),
  ]);
  return openPostgresStore({
    address: parseDatabaseAddress(address),
    timeoutMs,
    systemClock,
    onError: (error) => onProblem?.(error),
    ...(onCommit === undefined ? {} : { onCommit }),
    ...(onBan === undefined ? {} : { onBan }),
  });
}

export { inMemory } from "../storage/sqlite/files.ts";
export type { BackupReport } from "../storage/sqlite/backup.ts";
export {
  requireBackup,
  restore as restoreStore,
  type RestoreReport,
} from "../storage/sqlite/restore.ts";

/** The file of the catalogue in a data folder. */
export function catalogueFile(folder: string): string {
  return storeFiles(folder).catalogue;
}

/**
 * Copies the catalogue in `folder`, which may be in use, to the new file `target`, and notes that in the folder. A note that
 * cannot be written does not make the backup a worse one; `onProblem` is told.
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
