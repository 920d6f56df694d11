/**
 * How SQLite reads for each statement of the hot path: a page deep inside must cost what the first
 * one costs.
 */
import { expect, spyOn, test } from "bun:test";
import type { Database as Connection } from "bun:sqlite";
import { join } from "node:path";
import type { KeyHash } from "../../../src/storage/contract.ts";
import { keyStore } from "../../../src/storage/keys.ts";
import { openDatabase } from "../../../src/storage/sqlite/connection.ts";
import { migrationsOf } from "../../../src/storage/sqlite/files.ts";
import { migrate } from "../../../src/storage/sqlite/migrate.ts";
import { hotReads } from "../../../src/storage/sqlite/pets.ts";
import { SqliteDatabase } from "../../../src/storage/sqlite/transaction.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

/** The plans of all statements that `use` prepares on a migrated database, by their SQL. */
async function plansOf(
  use: (open: () => Connection) => unknown,
): Promise<ReadonlyMap<string, string>> {
  using folder = temporaryFolder();
  const path = join(folder.path, "rehome.db");
  using db = openDatabase(path, { synchronous: "off" });
  migrate(db, path, migrationsOf.catalogue);
  const statements: string[] = [];
  await use(() => {
    const opened = openDatabase(path, { synchronous: "off" });
    const prepare = opened.prepare.bind(opened);
    spyOn(opened, "prepare").mockImplementation((sql) => {
      statements.push(sql);
      return prepare(sql);
    });
    return opened;
  });
  const plan = (sql: string) =>
    db
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...Array<null>(sql.split("?").length - 1).fill(null))
      .map((row) => (row as { detail: string }).detail)
      .join("; ");
  return new Map(statements.map((sql) => [sql, plan(sql)]));
}

const petPlans = await plansOf((open) => hotReads(open()));
const planFor = (plans: ReadonlyMap<string, string>, part: string) => {
  const [match, ...others] = [...plans].filter(([sql]) => sql.includes(part));
  expect(others).toEqual([]);
  return match?.[1];
};

test("a page of all animals is a walk along the primary key from `after` on", () => {
  expect(planFor(petPlans, 'where "pets"."id" > ? order by')).toBe(
    "SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)",
  );
});

test("a page of one status is read from the covering index alone", () => {
  expect(planFor(petPlans, '"pets"."status" = ?')).toBe(
    "SEARCH pets USING COVERING INDEX pets_by_status (status=? AND id>?)",
  );
});

test("an animal is found by its primary key", () => {
  expect(planFor(petPlans, '"pets"."id" = ?')).toBe(
    "SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)",
  );
});

test("no statement about a key scans more than the one epoch row", async () => {
  const plans = await plansOf(async (open) => {
    const connection = open();
    const db = new SqliteDatabase({ open, timeoutMs: 0 });
    const secretByHash = async () => ({ keyId: "key_1", expiresAtMs: null });
    const keys = keyStore({ db, counters: db }, { secretByHash });
    await hotReads(connection).secret(new Uint8Array(32) as KeyHash);
    await keys.byHash(new Uint8Array(32) as KeyHash);
    await keys.changedSince(0);
    await db.close();
    connection.close();
  });
  expect(plans.size).toBe(6);
  for (const [sql, plan] of plans) expect(`${sql}: ${plan}`).not.toContain("SCAN");
});
