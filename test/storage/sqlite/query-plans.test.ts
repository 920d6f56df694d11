/** How SQLite reads for each statement of the hot path: a page deep inside must cost what the first one costs. */
import { expect, spyOn, test } from "bun:test";
import type { Database } from "bun:sqlite";
import { openDatabase } from "../../../src/storage/sqlite/database.ts";
import { keyReader } from "../../../src/storage/sqlite/keys.ts";
import { migrate } from "../../../src/storage/sqlite/migrate.ts";
import { petReader } from "../../../src/storage/sqlite/pets.ts";
import { readMigrations } from "../../../src/storage/migrations.macro.ts";

/** The plans of all statements that `prepare` makes on a migrated database, by their SQL. */
function plansOf(prepare: (db: Database) => unknown): Map<string, string> {
  const db = openDatabase(":memory:", { synchronous: "full" });
  migrate(db, ":memory:", readMigrations("sqlite/catalogue"));
  const prepared = spyOn(db, "prepare");
  prepare(db);
  const statements = prepared.mock.calls.map(([sql]) => sql);
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
  const plans = [...plansOf(keyReader)].filter(([sql]) => !sql.includes('"key_epoch"'));
  expect(plans.length).toBeGreaterThan(2);
  for (const [sql, plan] of plans) expect(`${sql}: ${plan}`).not.toContain("SCAN");
});
