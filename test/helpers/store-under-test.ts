/**
 * Which store the tests run on. With `TEST_STORE=postgres` every data folder that a test names
 * becomes a database of its own, and so does every store that it opens in this process, so that the
 * same tests hold for both stores.
 */
import type { StoreObserver } from "../../src/cli/open.ts";
import type { Clock } from "../../src/domain/clock.ts";
import { parseDatabaseAddress } from "../../src/features/postgres/address.ts";
import { openPostgresStore } from "../../src/features/postgres/store.ts";
import { freshMs } from "../../src/features/postgres/versions.ts";
import type { Store } from "../../src/storage/contract.ts";
import { openSqliteStore, type SqliteOptions } from "../../src/storage/sqlite/store.ts";
import { testDatabase, type TestDatabase } from "./postgres.ts";

export const isOnPostgres = process.env["TEST_STORE"] === "postgres";

interface PostgresOptions extends StoreObserver {
  readonly timeoutMs: number;
  readonly clock?: Clock | undefined;
  readonly pollMs?: number;
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

/** The store of the postgres feature at `url`. */
export const openInPostgres = (url: string, { onProblem, ...options }: PostgresOptions) =>
  openPostgresStore({
    ...options,
    address: parseDatabaseAddress(url),
    systemClock: Date.now,
    onError: (error) => onProblem?.(error),
  });

const databases = new Map<string, Promise<TestDatabase>>();

/** Waits as long as another process's change may take to bind: no time in a data folder. */
export async function bound(): Promise<void> {
  if (isOnPostgres) await Bun.sleep(freshMs);
}

function databaseAt(folder: string, make = testDatabase): Promise<TestDatabase> {
  return databases.getOrInsertComputed(folder, () => make());
}

/** The address of the database that stands for `folder`. */
export async function databaseFor(folder: string): Promise<string> {
  return (await databaseAt(folder)).url;
}

/** Empties the database of `folder` for the next one. Nobody may have it open. */
export async function recycleDatabaseOf(folder: string): Promise<void> {
  const database = databases.get(folder);
  databases.delete(folder);
  if (database !== undefined) await empty(await database);
}

/** Drops the database that stands for `folder`, if there is one. */
async function dropDatabaseOf(folder: string): Promise<void> {
  const database = await databases.get(folder);
  databases.delete(folder);
  await database?.[Symbol.asyncDispose]();
}

/** Drops every database of this run. */
export async function dropDatabases(): Promise<void> {
  for (const folder of databases.keys()) await dropDatabaseOf(folder);
  for (const database of emptied.splice(0)) await database[Symbol.asyncDispose]();
}

/** The files that the last process leaves in a data folder; a database needs none. */
export const filesWhenClosed: readonly string[] = isOnPostgres
  ? []
  : ["limits.db", "rehome.db", "rehome.spare"];

/** A command's arguments and environment, on PostgreSQL with a database for the folder. */
export async function onStoreUnderTest(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ args: readonly string[]; env: Readonly<Record<string, string>> }> {
  if (!isOnPostgres) return { args, env };
  const { REHOME_DATA: variable, ...others } = env;
  const flag = args.indexOf("--data");
  const folder = flag === -1 ? variable : args[flag + 1];
  if (folder === undefined) return { args, env };
  // As a variable: an address on a command line holds a password, and is warned of.
  return {
    args: flag === -1 ? args : args.toSpliced(flag, 2),
    env: {
      REHOME_STORE_TIMEOUT: String(patientMs),
      ...others,
      REHOME_STORE: await databaseFor(folder),
    },
  };
}

/** What a test may ask of the store under test. */
export type TestStoreOptions = Partial<SqliteOptions> & Pick<SqliteOptions, "clock">;

const inMemory = ":memory:";
/** On a busy machine a database may take longer than the 2 s that a server waits by default. */
const patientMs = 20_000;

/** Opens the store under test: one of its own, unless `folder` names a place. */
export async function openTestStore(options: TestStoreOptions): Promise<Store> {
  if (isOnPostgres) return openInDatabase(options);
  const store = openSqliteStore({ folder: inMemory, timeoutMs: 100, serving: false, ...options });
  return closedByTest(store);
}

/** The store, which the end of the test closes if the test does not. */
function closedByTest(store: Store, afterwards = async () => {}): Store {
  const closeStore = store.close.bind(store);
  store.close = async () => {
    open.delete(store);
    store.close = async () => {};
    await closeStore();
    await afterwards();
  };
  if (isInTest) open.set(store, () => store.close());
  return store;
}

/** Databases that were emptied, which is less work than making one. */
const emptied: TestDatabase[] = [];
/** The stores of the test that runs, by what closes them. */
const open = new Map<Store, () => Promise<void>>();
let isInTest = false;

async function openInDatabase(options: TestStoreOptions): Promise<Store> {
  const { folder = inMemory } = options;
  const own = folder === inMemory ? await recycled() : undefined;
  const { url } = own ?? (await databaseAt(folder, recycled));
  const store = await openInPostgres(url, { timeoutMs: patientMs, pollMs: 5, ...options });
  return closedByTest(store, async () => own && empty(own));
}

async function recycled(): Promise<TestDatabase> {
  return emptied.pop() ?? (await testDatabase());
}

/** Makes the database like a new one that was migrated. Deleting is faster than TRUNCATE. */
async function empty(database: TestDatabase): Promise<void> {
  await database.sql.unsafe(`
    SET session_replication_role = replica;
    DO $$ DECLARE name text; BEGIN
      FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'rehome'
        AND tablename NOT IN ('schema_migrations', 'catalogue', 'key_epoch')
      LOOP EXECUTE 'DELETE FROM rehome.' || name; END LOOP;
    END $$;
    SET session_replication_role = DEFAULT;
    ALTER TABLE rehome.pets ALTER COLUMN id RESTART;
    ALTER TABLE rehome.key_events ALTER COLUMN id RESTART;
    UPDATE rehome.key_epoch SET epoch = 0;
    UPDATE rehome.catalogue SET version = 0, animals = 0;`);
  emptied.push(database);
}

/** Has `close` called, in place of the store's own, when the test ends that runs. */
export function closeAfterTest(store: Store, close: () => Promise<void>): void {
  if (open.has(store)) open.set(store, close);
}

/** Called before each test. */
export function beginTest(): void {
  isInTest = true;
}

/** Closes what the test left open: in a database that costs connections. */
export async function endTest(): Promise<void> {
  isInTest = false;
  for (const close of open.values()) await close();
}

/** Lets the event loop turn once, and every store of the test notice all changes until now. */
export async function changesNoticed(): Promise<void> {
  await new Promise((resolve) => void setImmediate(resolve));
  // The changes of a process queue: what it reported without waiting is stored before this one is.
  const stores = [...open.keys()];
  await Promise.all(stores.map((store) => store.keys.change("", noAction, (key) => key)));
  if (isOnPostgres) await Promise.all(stores.map(polledAnew));
  // On one data folder too a process may have looked just before another's commit.
  await Bun.sleep(staleMs);
}

/** More than a process may be behind another one on the same folder. */
const staleMs = 2;
const noticeTimeoutMs = 30_000;
const noAction = { action: "", actor: "", nowMs: 0 };

/** Resolves after a poll that began after the call. */
async function polledAnew({ windows }: Store): Promise<void> {
  // One may be under way that began before.
  const enough = windows.version() + 2;
  const deadlineMs = performance.now() + noticeTimeoutMs;
  while (windows.version() < enough) {
    if (performance.now() > deadlineMs) throw new Error("the database was not polled in time");
    await Bun.sleep(1);
  }
}
