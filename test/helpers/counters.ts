/** Holds the counters' lock past the store, makes writing fail, sees whether they changed. */
import { Database } from "bun:sqlite";
import { SQL } from "bun";
import { join } from "node:path";
import { databaseFor, isOnPostgres } from "./store-under-test.ts";

/** Where in the transaction of a take the writing fails. */
type Breaking = "after the update" | "in COMMIT";

/** Another process that has the counters of a folder open. */
interface Counters extends AsyncDisposable {
  /** Takes the lock without which nobody can write them. */
  lock(): Promise<void>;
  unlock(): Promise<void>;
  /** Makes every update of them fail, until `mend` is called. */
  break(point: Breaking): Promise<void>;
  mend(): Promise<void>;
  /** Something that differs whenever they were written in between. */
  state(): Promise<unknown>;
}

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

export async function countersOf(folder: string): Promise<Counters> {
  return isOnPostgres ? postgresCounters(await databaseFor(folder)) : sqliteCounters(folder);
}

function sqliteCounters(folder: string): Counters {
  const limits = new Database(join(folder, "limits.db"));
  const trigger = (work: string) =>
    limits.run(`CREATE TRIGGER broken AFTER UPDATE ON rate_windows BEGIN ${work}; END`);
  return {
    lock: async () => void limits.run("BEGIN IMMEDIATE"),
    unlock: async () => void limits.run("ROLLBACK"),
    async break(point) {
      if (point === "after the update") {
        trigger("SELECT RAISE(ABORT, 'killed')");
        return;
      }
      limits.run("CREATE TABLE parent (id INTEGER PRIMARY KEY)");
      limits.run(
        "CREATE TABLE child (id INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)",
      );
      trigger("INSERT INTO child VALUES (7)");
    },
    mend: async () => void limits.run("DROP TRIGGER broken"),
    state: async () => limits.query("PRAGMA data_version").get(),
    [Symbol.asyncDispose]: async () => limits.close(),
  };
}

function postgresCounters(url: string): Counters {
  const sql = new SQL(url, { max: 1 });
  return {
    // Those who only read are let through, as in SQLite.
    lock: async () =>
      void (await sql.unsafe("BEGIN; LOCK TABLE rehome.rate_windows IN EXCLUSIVE MODE")),
    unlock: async () => void (await sql.unsafe("ROLLBACK")),
    async break(point) {
      const isLate = point === "in COMMIT";
      await sql.unsafe(`
        CREATE FUNCTION rehome.fail() RETURNS trigger LANGUAGE plpgsql
          AS $$ BEGIN RAISE 'killed'; END $$;
        CREATE ${isLate ? "CONSTRAINT" : ""} TRIGGER broken AFTER UPDATE ON rehome.rate_windows
          ${isLate ? "DEFERRABLE INITIALLY DEFERRED" : ""} FOR EACH ROW EXECUTE FUNCTION rehome.fail()`);
    },
    mend: async () => void (await sql.unsafe("DROP FUNCTION rehome.fail CASCADE")),
    // Where each row is and who wrote it: both are other ones after an update.
    state: () =>
      sql`SELECT 'window' AS kind, ctid::text, xmin::text FROM rehome.rate_windows
        UNION ALL SELECT 'day', ctid::text, xmin::text FROM rehome.usage_days ORDER BY 1, 2`.values(),
    [Symbol.asyncDispose]: () => sql.close(),
  };
}
