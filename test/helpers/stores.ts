/** The store under test in places that several may open. */
import { afterEach, beforeEach } from "bun:test";
import type { Clock } from "../../src/domain/clock.ts";
import type { Store } from "../../src/storage/contract.ts";
import { openSqliteStore } from "../../src/storage/sqlite/store.ts";
import { temporaryFolder } from "./binary.ts";
import { hookTimeoutMs, testDatabase } from "./postgres.ts";
import { isOnPostgres, openInPostgres } from "./store-under-test.ts";

/** A place for a store's data. Each `open` is what another process on the same data would have. */
export interface StorePlace {
  /** What `--store` takes, or `--data`. */
  readonly flags: readonly string[];
  open(clock?: Clock): Promise<Store>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface StoreKind {
  readonly name: "sqlite" | "postgres";
  place(): Promise<StorePlace>;
}

/** Ten times what a server waits: the machine may be busy. */
const timeoutMs = 20_000;

const sqlite: StoreKind = {
  name: "sqlite",
  async place() {
    const folder = temporaryFolder();
    return {
      flags: ["--data", folder.path],
      open: async (clock = Date.now) =>
        openSqliteStore({
          folder: folder.path,
          clock,
          timeoutMs,
          serving: true,
        }),
      [Symbol.asyncDispose]: async () => folder[Symbol.dispose](),
    };
  },
};

const postgres: StoreKind = {
  name: "postgres",
  async place() {
    const database = await testDatabase();
    return {
      flags: ["--store", database.url],
      open: (clock) => openInPostgres(database.url, { timeoutMs, clock }),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  },
};

/** Both, for what goes from one to the other. */
export const bothStores: readonly StoreKind[] = [sqlite, postgres];

/** The store under test: see store-under-test.ts. */
export const storeKind: StoreKind = isOnPostgres ? postgres : sqlite;

type Close = () => Promise<void>;

/**
 * Opens an empty store before each test of a file, for `begin`, and closes it after the test: by
 * what `begin` returns, if that is something.
 */
export function openForEach(
  begin: (store: Store) => Close | void | Promise<Close>,
  clock?: Clock,
): void {
  let place: StorePlace;
  let close: Close;
  beforeEach(async () => {
    place = await storeKind.place();
    const store = await place.open(clock);
    close = (await begin(store)) ?? (() => store.close());
  }, hookTimeoutMs);
  afterEach(async () => {
    await close();
    await place[Symbol.asyncDispose]();
  }, hookTimeoutMs);
}
