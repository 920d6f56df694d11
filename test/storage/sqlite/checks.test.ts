/** The checks of a store's files and of their disk. */
import { Database, SQLiteError } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { freeBytes, probe } from "../../../src/storage/sqlite/checks.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

test("a probe that fails leaves no transaction behind", () => {
  using folder = temporaryFolder();
  const place = join(folder.path, "data");
  mkdirSync(place);
  using db = new Database(join(place, "a.db"));
  db.run("CREATE TABLE a (b)");
  // Without its folder there is no place for its journal.
  renameSync(place, `${place}.1`);
  expect(() => probe(db, true)).toThrow(SQLiteError);
  expect(db.inTransaction).toBe(false);
});

test("what is free on a disk is counted in bytes", () => {
  using folder = temporaryFolder();
  const df = Bun.spawnSync(["df", "--output=avail", "-B1", folder.path]).stdout.toString();
  const bytes = Number(df.trim().split("\n").at(-1));
  expect(freeBytes(folder.path) / bytes).toBeCloseTo(1, 1);
});
