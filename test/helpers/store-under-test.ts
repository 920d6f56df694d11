/**
 * Which store the tests of the executable run on. With `TEST_STORE=postgres` every data folder that a test names
 * becomes a database of its own, so that the same tests hold for both stores.
 */
import type { Store } from "../../src/storage/contract.ts";
import { describeAddress, parseDatabaseAddress } from "../../src/storage/postgres/address.ts";
import { freshMs } from "../../src/storage/postgres/versions.ts";
import { openSqliteStore, type SqliteOptions } from "../../src/storage/sqlite/store.ts";
import { testDatabase, type TestDatabase } from "./postgres.ts";

export const isOnPostgres = process.env["TEST_STORE"] === "postgres";

const databases = new Map<string, Promise<TestDatabase>>();

/** Waits as long as another process's change may take to bind: no time in a data folder. */
export async function bound(): Promise<void> {
  if (isOnPostgres) await Bun.sleep(freshMs);
}

/** The address of the database that stands for `folder`. */
export async function databaseFor(folder: string): Promise<string> {
  let database = databases.get(folder);
  if (database === undefined) {
    database = testDatabase();
    databases.set(folder, database);
  }
  return (await database).url;
}

/** Drops every database that stood for a folder. */
export async function dropDatabases(): Promise<void> {
  for (const database of databases.values()) await (await database)[Symbol.asyncDispose]();
}

/** What the executable calls the store that stands for `folder`. */
export async function placeOf(folder: string): Promise<string> {
  if (!isOnPostgres) return folder;
  return describeAddress(parseDatabaseAddress(await databaseFor(folder)));
}

/** A command's arguments and environment, with the database in place of the data folder where one is under test. */
export async function onStoreUnderTest(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ args: readonly string[]; env: Readonly<Record<string, string>> }> {
  if (!isOnPostgres) return { args, env };
  const { REHOME_DATA: folder, ...others } = env;
  const flag = args.indexOf("--data");
  return {
    args:
      flag === -1
        ? args
        : args.with(flag, "--store").with(flag + 1, await databaseFor(args[flag + 1] ?? "")),
    env: folder === undefined ? env : { ...others, REHOME_STORE: await databaseFor(folder) },
  };
}

/** What a test may ask of the store under test. */
export type TestStoreOptions = Partial<SqliteOptions> & Pick<SqliteOptions, "clock">;

/** Opens the store under test: one of its own, in memory, unless `folder` names a place. */
export async function openTestStore(options: TestStoreOptions): Promise<Store> {
  return openSqliteStore({
    folder: ":memory:",
    random: () => 0,
    timeoutMs: 100,
    serving: false,
    ...options,
  });
}
