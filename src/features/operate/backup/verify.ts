import { keyState, keyStates, type KeyState } from "../../../domain/api-key.ts";
import type { Clock } from "../../../domain/clock.ts";
import { petStatuses, type PetStatus } from "../../../domain/pet.ts";
import { inMemory, migrationsOf } from "../../../storage/sqlite/files.ts";
import { examine } from "../../../storage/sqlite/inspect.ts";
import { pendingMigrations } from "../../../storage/sqlite/migrate.ts";
import { openSqliteStore } from "../../../storage/sqlite/store.ts";
import { report, type BackupReport } from "./report.ts";
import { backupRows } from "./restore.ts";

const pageSize = 1_000;

interface BackupContents extends BackupReport {
  /** Animals by status; `none` are those without one. */
  readonly statuses: Readonly<Record<PetStatus | "none", number>>;
  readonly states: Readonly<Record<KeyState, number>>;
  /** The newest change of a key, or undefined if there was none. */
  readonly newestMs: number | undefined;
  /** Migrations that a start would apply. */
  readonly pending: readonly string[];
}

/**
 * Checks the backup `file`, starts a store from it in memory with all migrations, and returns what
 * it contains. The file is not changed. Throws AppError when it is not a backup, or is damaged.
 */
export async function verifyBackup(file: string, clock: Clock): Promise<BackupContents> {
  const rows = backupRows(file);
  const pending = examine(file, (db) => pendingMigrations(db, file, migrationsOf.catalogue));
  const store = openSqliteStore({
    folder: inMemory,
    image: file,
    clock,
    timeoutMs: 0,
    serving: false,
  });
  try {
    const statuses = zeros([...petStatuses, "none"]);
    for (let after: bigint | undefined; ;) {
      const page = await store.pets.page({ limit: pageSize, status: undefined, after });
      for (const { status } of page) statuses[status ?? "none"] += 1;
      after = page.at(-1)?.id;
      if (page.length < pageSize) break;
    }
    const states = zeros(keyStates);
    let newestMs: number | undefined;
    for (const key of await store.keys.list()) {
      states[keyState(key, clock())] += 1;
      const last = (await store.keys.events(key.id)).at(-1)?.atMs ?? 0;
      newestMs = Math.max(newestMs ?? 0, last);
    }
    return {
      ...report(file, rows),
      statuses,
      states,
      newestMs,
      pending: pending.map(({ tag }) => tag),
    };
  } finally {
    await store.close();
  }
}

function zeros<T extends string>(names: readonly T[]): Record<T, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<T, number>;
}
