import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { movedStore } from "../../cli/open.ts";
import type { Config } from "../../config.ts";
import { movedMark } from "../../storage/store-state.ts";
import { storeFiles } from "../../storage/sqlite/files.ts";
import { examine } from "../../storage/sqlite/inspect.ts";
import { storeState } from "../../storage/tables.ts";

/** Throws for a data folder whose store was moved, unless the settings say that it is meant. */
export function refuseMovedFolder(folder: string, config: Pick<Config, "movedStore">): void {
  if (config.movedStore) return;
  const place = folderMovedTo(folder);
  if (place !== undefined) throw movedStore(folder, place);
}

/**
 * Where the store in a data folder moved to, looked up without opening the store or changing its
 * schema. Undefined also for one that cannot be read: that is for others to say.
 */
export function folderMovedTo(folder: string): string | undefined {
  const { catalogue } = storeFiles(folder);
  if (!existsSync(catalogue)) return undefined;
  try {
    return examine(catalogue, markIn);
  } catch {
    return undefined;
  }
}

function markIn(db: Database): string | undefined {
  const tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ?";
  if (db.query(tables).get(storeState.name) === null) return undefined;
  const value = `SELECT value FROM ${storeState.name} WHERE name = ?`;
  return db.query<{ value: string }, [string]>(value).get(movedMark)?.value;
}
