import type { Store } from "../storage/contract.ts";
import { openSqliteStore, type SqliteOptions } from "../storage/sqlite/store.ts";

/** What a server wants to know of its store's work. */
export type StoreObserver = Pick<SqliteOptions, "onCommit" | "onBusy">;

/** Opens the store that `options` name. Throws AppError in words when it cannot be used. */
export async function openStore(options: SqliteOptions): Promise<Store> {
  return openSqliteStore(options);
}

/** In place of a data folder: a store that ends with the process. */
export const inMemory = ":memory:";
