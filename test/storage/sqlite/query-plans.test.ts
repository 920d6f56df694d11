/**
 * How SQLite reads for each statement of the hot path: a page deep inside must cost what the first
 * one costs.
 */
import { expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import type { KeyHash } from "../../../src/storage/contract.ts";
import { keyStore } from "../../../src/storage/keys.ts";
import { openDatabase } from "../../../src/storage/sqlite/connection.ts";
import { migrationsOf } from "../../../src/storage/sqlite/files.ts";
import { migrate } from "../../../src/storage/sqlite/migrate.ts";
import { hotReads } from "../../../src/storage/sqlite/pets.ts";
import { SqliteDatabase } from "../../../src/storage/sqlite/transaction.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

test("each statement about animals and keys searches by an index, and scans one row at most", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "rehome.db");
  using native = openDatabase(path, { synchronous: "off" });
  migrate(native, path, migrationsOf.catalogue);
  const statements = new Set<string>();
  const open = () => {
    const opened = openDatabase(path, { synchronous: "off" });
    const prepare = opened.prepare.bind(opened);
    spyOn(opened, "prepare").mockImplementation((sql) => {
      statements.add(sql);
      return prepare(sql);
    });
    return opened;
  };
  using connection = open();
  const db = new SqliteDatabase({ open, timeoutMs: 0 });
  const keys = keyStore(
    { db, counters: db },
    { secretByHash: async () => ({ keyId: "key_1", expiresAtMs: null }) },
  );
  const hash = new Uint8Array(32) as KeyHash;
  await hotReads(connection).secret(hash);
  await keys.byHash(hash);
  await keys.changedSince(0);
  await db.close();

  const plans = [...statements].map((sql) => {
    const nulls = Array<null>(sql.split("?").length - 1).fill(null);
    const rows = native.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...nulls);
    return [sql, rows.map((row) => (row as { detail: string }).detail).join("; ")] as const;
  });
  for (const [sql, plan] of plans) expect(`${sql}: ${plan}`).not.toContain("SCAN");
  const planOf = (part: string) =>
    plans.filter(([sql]) => sql.includes(part)).map(([, plan]) => plan);
  const byKey = "SEARCH pets USING INTEGER PRIMARY KEY";
  expect(planOf('where "pets"."id" > ? order by')).toEqual([`${byKey} (rowid>?)`]);
  expect(planOf('"pets"."id" = ?')).toEqual([`${byKey} (rowid=?)`]);
  expect(planOf('"pets"."status" = ?')).toEqual([
    "SEARCH pets USING COVERING INDEX pets_by_status (status=? AND id>?)",
  ]);
  expect(plans).toHaveLength(6);
});
