import type { Store } from "../storage/contract.ts";
import { parseDatabaseAddress } from "../storage/postgres/address.ts";
import { openPostgresStore } from "../storage/postgres/store.ts";
import { openSqliteStore, type SqliteOptions } from "../storage/sqlite/store.ts";

/** What a server wants to know of its store's work. */
export type StoreObserver = Pick<SqliteOptions, "onCommit" | "onBusy">;

export interface StoreOptions extends SqliteOptions {
  /** The address of a PostgreSQL database; without it the store is the folder. */
  readonly address: string | undefined;
}

/** Opens the store that `options` name. Throws AppError in words when it cannot be used. */
export async function openStore({ address, ...options }: StoreOptions): Promise<Store> {
  if (address === undefined) return openSqliteStore(options);
  const { timeoutMs, onProblem, onCommit } = options;
  return openPostgresStore({
    address: parseDatabaseAddress(address),
    timeoutMs,
    onError: (error) => onProblem?.(error),
    ...(onCommit === undefined ? {} : { onCommit }),
  });
}

/** In place of a data folder: a store that ends with the process. */
export const inMemory = ":memory:";
