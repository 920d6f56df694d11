import { AppError } from "../domain/errors.ts";
import type { Store } from "../storage/contract.ts";
import { openSqliteStore, type SqliteOptions } from "../storage/sqlite/store.ts";

export interface StoreObserver extends Pick<SqliteOptions, "onCommit" | "onBusy"> {
  readonly onBan?: () => void;
}

/** Opens the store at an address, which is instead of a data folder. */
export type OpenAddress = (address: string, options: SqliteOptions) => Promise<Store>;

/**
 * Opens the store that `options` name: the one at `address`, or the data folder. Throws AppError in
 * words when it cannot be used.
 */
export async function openStore(
  address: string | undefined,
  options: SqliteOptions,
  openAddress: OpenAddress | undefined,
): Promise<Store> {
  if (address === undefined) return openSqliteStore(options);
  if (openAddress !== undefined) return openAddress(address, options);
  throw new AppError("invalid_request", "This program keeps its data in a folder only.", {
    hint: "Name the folder with --data, and leave out --store and --store-file.",
  });
}
