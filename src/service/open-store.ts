import { AppError } from "../domain/errors.ts";
import type { Store } from "../storage/contract.ts";
import { openSqliteStore, type SqliteOptions } from "../storage/sqlite/store.ts";

export interface StoreObserver extends Pick<SqliteOptions, "onCommit" | "onBusy"> {
  readonly onBan?: () => void;
}

/** A kind of store that an address names, instead of a data folder. */
export interface StoreKind {
  readonly schemes: readonly string[];
  readonly open: (address: string, options: SqliteOptions) => Promise<Store>;
}

/**
 * Opens the store that `options` name: the one at `address`, or the data folder. Throws AppError in
 * words when it cannot be used.
 */
export async function openStore(
  address: string | undefined,
  options: SqliteOptions,
  kinds: readonly StoreKind[],
): Promise<Store> {
  if (address === undefined) return openSqliteStore(options);
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(address)?.[1]?.toLowerCase() ?? "";
  const kind = kinds.find(({ schemes }) => schemes.includes(scheme)) ?? kinds[0];
  if (kind !== undefined) return kind.open(address, options);
  throw new AppError("invalid_request", "This program keeps its data in a folder only.", {
    hint: "Name the folder with --data, and leave out --store and --store-file.",
  });
}
