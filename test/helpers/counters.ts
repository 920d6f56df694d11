/** Holds the locks of a store past it, and sees whether its counters changed. */
import { Database } from "bun:sqlite";
import { SQL } from "bun";
import { join } from "node:path";
import { databaseFor, isOnPostgres } from "./store-under-test.ts";

/** Holds what a process needs to change animals or keys, until it is disposed of. */
export async function holdCatalogue(folder: string): Promise<AsyncDisposable> {
  if (!isOnPostgres) {
    const catalogue = new Database(join(folder, "rehome.db"));
    catalogue.run("BEGIN IMMEDIATE");
    return { [Symbol.asyncDispose]: async () => catalogue.close() };
  }
  const sql = new SQL(await databaseFor(folder), { max: 1 });
  await sql.unsafe("BEGIN; SELECT FROM rehome.catalogue, rehome.key_epoch FOR UPDATE");
  return { [Symbol.asyncDispose]: () => sql.close() };
}

/** As another process that has the counters of a folder open. */
export async function countersOf(folder: string) {
  if (!isOnPostgres) {
    const limits = new Database(join(folder, "limits.db"));
    return {
      /** Takes the lock without which nobody can write them. */
      lock: async () => void limits.run("BEGIN IMMEDIATE"),
      unlock: async () => void limits.run("ROLLBACK"),
      /** Something that differs whenever they were written in between. */
      state: async () => limits.query("PRAGMA data_version").get(),
      [Symbol.asyncDispose]: async () => limits.close(),
    };
  }
  const sql = new SQL(await databaseFor(folder), { max: 1 });
  return {
    // Those who only read are let through, as in SQLite.
    lock: async () =>
      void (await sql.unsafe("BEGIN; LOCK TABLE rehome.rate_windows IN EXCLUSIVE MODE")),
    unlock: async () => void (await sql.unsafe("ROLLBACK")),
    // Where each row is and who wrote it: both are other ones after an update.
    state: () =>
      sql`SELECT 'window' AS kind, ctid::text, xmin::text FROM rehome.rate_windows
        UNION ALL SELECT 'day', ctid::text, xmin::text FROM rehome.usage_days ORDER BY 1, 2`.values(),
    [Symbol.asyncDispose]: () => sql.close(),
  };
}
