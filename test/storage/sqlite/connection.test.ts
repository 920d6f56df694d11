/** How a database is opened, and what its failures are taken for. */
import { Database, SQLiteError } from "bun:sqlite";
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../../src/domain/errors.ts";
import {
  asAppError,
  isBusy,
  isDamaged,
  isFull,
  openDatabase,
} from "../../../src/storage/sqlite/connection.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

const databaseModule = join(import.meta.dir, "../../../src/storage/sqlite/connection.ts");

test.each([
  ["full", 2n],
  ["normal", 1n],
] as const)(
  "with synchronous %s, a log, references that bind and a log that is cut back",
  (synchronous, level) => {
    using folder = temporaryFolder();
    using db = openDatabase(`${folder.path}/a.db`, { synchronous, pageSizeBytes: 1_024 });
    const pragma = (name: string) => Object.values(db.query(`PRAGMA ${name}`).get() ?? {})[0];
    expect({
      journal: pragma("journal_mode"),
      synchronous: pragma("synchronous"),
      references: pragma("foreign_keys"),
      busyTimeoutMs: pragma("busy_timeout"),
      pageBytes: pragma("page_size"),
      logBytes: pragma("journal_size_limit"),
    }).toEqual({
      journal: "wal",
      synchronous: level,
      references: 1n,
      busyTimeoutMs: 5_000n,
      pageBytes: 1_024n,
      logBytes: 16_777_216n,
    });
  },
);

test("integers come with every digit, and a parameter that is missing is an error", () => {
  using db = openDatabase(":memory:", { synchronous: "full" });
  expect(db.query("SELECT 9223372036854775807 AS n").get()).toEqual({ n: 2n ** 63n - 1n });
  expect(() => db.query("SELECT $a AS a").get({})).toThrow("a");
});

const failure = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

test("a lock, a full disk and damage are told apart; outside each is an unavailable store", () => {
  using folder = temporaryFolder();
  const path = `${folder.path}/a.db`;
  using holder = openDatabase(path, { synchronous: "full" });
  holder.run("BEGIN IMMEDIATE");
  using other = openDatabase(path, { synchronous: "full", busyTimeoutMs: 0 });
  const busy = failure(() => other.run("BEGIN IMMEDIATE"));

  using small = openDatabase(":memory:", { synchronous: "full" });
  small.run("PRAGMA max_page_count = 2");
  small.run("CREATE TABLE a (b)");
  const full = failure(() => small.run("INSERT INTO a VALUES (zeroblob(100000))"));

  writeFileSync(`${folder.path}/b.db`, "no database ".repeat(100));
  const damaged = failure(() => new Database(`${folder.path}/b.db`).run("SELECT * FROM a"));

  const kinds = [isBusy, isFull, isDamaged];
  const found = [busy, full, damaged].map((error) => kinds.map((is) => is(error)));
  expect(found).toEqual([
    [true, false, false],
    [false, true, false],
    [false, false, true],
  ]);
  for (const error of [busy, full, damaged]) {
    expect(error).toBeInstanceOf(SQLiteError);
    const shown = asAppError(error);
    expect(shown).toBeInstanceOf(AppError);
    expect(shown).toMatchObject({ kind: "unavailable", cause: error });
  }
  const unknown = new Error("of another kind");
  expect(kinds.map((is) => is(unknown))).toEqual([false, false, false]);
  expect(asAppError(unknown)).toBe(unknown);
});

test("a database that another process just makes is waited for", async () => {
  using folder = temporaryFolder();
  const path = `${folder.path}/a.db`;
  using other = new Database(path);
  other.run("CREATE TABLE a (b)");
  other.run("BEGIN IMMEDIATE");
  const opening = `
    const { openDatabase } = await import(${JSON.stringify(databaseModule)});
    console.log("opens");
    openDatabase(${JSON.stringify(path)}, { synchronous: "full" });`;
  const child = Bun.spawn([process.execPath, "-e", opening], { stdout: "pipe" });
  await child.stdout.getReader().read();
  await Bun.sleep(100);
  other.run("COMMIT");
  expect(await child.exited).toBe(0);
});
