import { expect, test } from "bun:test";
import { join } from "node:path";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readMigrations } from "../../../src/storage/migrations.macro.ts";
import { systemClock } from "../../../src/domain/clock.ts";
import { openDatabase } from "../../../src/storage/sqlite/database.ts";
import { migrate } from "../../../src/storage/sqlite/migrate.ts";
import { openSqliteStore } from "../../../src/storage/sqlite/store.ts";
import { inspectAhead } from "../../../src/storage/sqlite/writer-thread.ts";
import { temporaryFolder } from "../../helpers/binary.ts";
import { until } from "../../helpers/until.ts";

const open = (folder: string, more = {}) =>
  openSqliteStore({
    folder,
    clock: systemClock,
    random: () => 0,
    timeoutMs: 100,
    serving: true,
    ...more,
  });

test("the thread that found a folder in order writes to it", async () => {
  using folder = temporaryFolder();
  await open(folder.path).close();
  const inspected = await inspectAhead(folder.path);
  expect(inspected?.thread).toBeInstanceOf(Worker);
  const store = open(folder.path, { inspected });
  await store.started;
  expect(await store.pets.create({ name: "Rex", categoryId: 1n })).toBe(1n);
  await store.close();
});

test("only the folder is looked at, not where the program was called", async () => {
  using folder = temporaryFolder();
  using here = temporaryFolder();
  await open(folder.path).close();
  // The names in the message to the thread were taken for databases.
  for (const name of ["inspect", "0"]) mkdirSync(join(here.path, name));
  const before = process.cwd();
  process.chdir(here.path);
  try {
    const inspected = await inspectAhead(folder.path);
    expect(inspected?.thread).toBeInstanceOf(Worker);
    inspected?.thread.terminate();
  } finally {
    process.chdir(before);
  }
});

test("a folder without a catalogue is left to the start", async () => {
  using folder = temporaryFolder();
  expect(await inspectAhead(folder.path)).toBeUndefined();
  expect(await inspectAhead(":memory:")).toBeUndefined();
  expect(await inspectAhead(undefined)).toBeUndefined();
});

/** How many threads of this process are a Worker's. */
function workers(): number {
  const nameOf = (thread: string) => {
    try {
      return readFileSync(`/proc/self/task/${thread}/comm`, "utf8");
    } catch {
      return "it has ended";
    }
  };
  return readdirSync("/proc/self/task").filter((thread) => nameOf(thread) === "Worker\n").length;
}

test("so is one that a migration will change", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "rehome.db");
  const first = readMigrations("sqlite/catalogue").slice(0, 1);
  const db = openDatabase(path, { synchronous: "full" });
  migrate(db, path, first);
  db.close(true);
  const before = workers();
  for (let times = 0; times < 3; times += 1) {
    expect(await inspectAhead(folder.path)).toBeUndefined();
  }
  // Its thread is not needed.
  await until(() => workers() <= before);
});

test("so is a damaged one, and the start says what is wrong", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "rehome.db"), "animals of the town\n".repeat(500));
  const inspected = await inspectAhead(folder.path);
  expect(inspected).toBeUndefined();
  expect(() => open(folder.path, { inspected })).toThrow("not an SQLite database");
});
