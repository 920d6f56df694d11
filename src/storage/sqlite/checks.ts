/** The checks of `/ready`. The messages are public: they have no path and no library's message. */
import { statfsSync } from "node:fs";
import { AppError } from "../../domain/errors.ts";
import type { StoreCheck } from "../contract.ts";
import type { Lanes } from "./lanes.ts";

/**
 * With less than this the next commit may fail. `rehome doctor` warns far earlier. A readiness
 * check must not, because the server still works.
 */
const freeMinBytes = 1024 * 1024;

const reasons: readonly (readonly [prefix: string, reason: string])[] = [
  ["SQLITE_FULL", "no space is left on the disk"],
  ["SQLITE_BUSY", "another process has held its lock for too long"],
  ["SQLITE_READONLY", "it is read-only"],
  ["SQLITE_CORRUPT", "it is damaged"],
  ["SQLITE_NOTADB", "it is damaged"],
  ["SQLITE_IOERR", "the disk reports an error"],
];

export async function attempt(name: string, work: () => unknown): Promise<StoreCheck> {
  try {
    await work();
    return { name, ok: true, detail: "writable" };
  } catch (error) {
    const sqliteError = error instanceof AppError ? error.cause : error;
    const { code = "" } = sqliteError as { code?: string };
    const [, reason = "it cannot be written"] =
      reasons.find(([prefix]) => code.startsWith(prefix)) ?? [];
    return { name, ok: false, detail: reason };
  }
}

/** Takes and leaves the write lock; with `write` it also commits a page that changes nothing. */
export async function probe(db: Lanes, write: boolean, timeoutMs?: number): Promise<void> {
  await db.writes.committed((prepare) => {
    // Nothing uses this number. For a row that is set to what it is, SQLite writes no page.
    if (write) prepare("PRAGMA user_version = 0").run();
  }, timeoutMs);
}

export function freeSpace(folder: string): StoreCheck {
  const ok = freeBytes(folder) >= freeMinBytes;
  const detail = ok ? "has room" : "no space is left on the disk";
  return { name: "disk", ok, detail };
}

export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
