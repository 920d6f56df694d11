/**
 * How SQLite reads for each statement of the hot path: a page deep inside must cost what the first
 * one costs.
 */
import { expect, spyOn, test } from "bun:test";
import type { Database } from "bun:sqlite";
import { openDatabase } from "../../../src/storage/sqlite/database.ts";
import { keyStore } from "../../../src/storage/keys.ts";
import type { KeyHash } from "../../../src/storage/contract.ts";
import { perform } from "../../../src/storage/sqlite/engine.ts";
import { migrate } from "../../../src/storage/sqlite/migrate.ts";
import { petReader } from "../../../src/storage/sqlite/pets.ts";
import type { Steps } from "../../../src/storage/statement.ts";
import { readMigrations } from "../../../src/storage/migrations.macro.ts";

/** The plans of all statements that `prepare` makes on a migrated database, by their SQL. */
function plansOf(prepare: (db: Database) => unknown): Map<string, string> {
  const db = openDatabase(":memory:", { synchronous: "full" });
  migrate(db, ":memory:", readMigrations("sqlite/catalogue"));
  const prepared = [spyOn(db, "prepare"), spyOn(db, "query")] as const;
  prepare(db);
  const statements = prepared.flatMap(({ mock }) => mock.calls.map(([sql]) => sql));
  const plan = (sql: string) =>
    db
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...Array<null>(sql.split("?").length - 1).fill(null))
      .map((row) => (row as { detail: string }).detail)
      .join("; ");
  return new Map(statements.map((sql) => [sql, plan(sql)]));
}

const petPlans = plansOf(petReader);
const planFor = (plans: Map<string, string>, part: string) => {
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

test("no statement about a key scans more than the one epoch row", () => {
  const plans = plansOf((db) => {
    const read = <T>(work: () => Steps<T>) => perform(db, work());
    const keys = keyStore({ read, transact: read });
    void keys.byHash(new Uint8Array(32) as KeyHash);
    void keys.byId("key_1");
    void keys.changedSince(0);
  });
  expect(plans.size).toBe(3);
  for (const [sql, plan] of plans) expect(`${sql}: ${plan}`).not.toContain("SCAN");
});
