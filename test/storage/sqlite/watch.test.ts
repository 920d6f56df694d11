/** The snapshot that all reads of an event-loop turn are made in, and the files that are read. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { migrationsOf } from "../../../src/storage/sqlite/files.ts";
import { openDatabase } from "../../../src/storage/sqlite/connection.ts";
import { migrate } from "../../../src/storage/sqlite/migrate.ts";
import { VersionReader } from "../../../src/storage/sqlite/watch.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

const endOfTurn = () => new Promise((resolve) => void setImmediate(resolve));

function opened() {
  const db = openDatabase(":memory:", { synchronous: "full" });
  migrate(db, ":memory:", migrationsOf.catalogue);
  db.run("UPDATE key_epoch SET epoch = 7");
  return { db, versions: new VersionReader(db) };
}

test("that SQLite gave up itself, as it does when a read fails, is no failure at the turn's end", async () => {
  const { db, versions } = opened();
  versions.read();
  db.run("ROLLBACK");
  await endOfTurn();
  versions.read();
  expect(db.inTransaction).toBe(true);
  db.run("ROLLBACK");
  expect(() => versions.endTurn()).not.toThrow();
  await endOfTurn();
});

test("serves no request that begins 0.1 ms later", () => {
  const ageMaxMs = 0.1;
  using folder = temporaryFolder();
  const path = join(folder.path, "catalogue.db");
  const opens = () => openDatabase(path, { synchronous: "normal" });
  const [db, other] = [opens(), opens()];
  migrate(db, path, migrationsOf.catalogue);
  let nowMs = 1;
  const versions = new VersionReader(db, () => nowMs);
  const before = versions.read();
  other.run("UPDATE key_epoch SET epoch = epoch + 1");
  nowMs += 0.9 * ageMaxMs;
  versions.beginRequest();
  expect(versions.read()).toBe(before);
  nowMs += 0.2 * ageMaxMs;
  // What is under way goes on with what it saw.
  expect(versions.read()).toBe(before);
  versions.beginRequest();
  expect(versions.read().keys).toBe(before.keys + 1);
  versions.endTurn();
  for (const each of [db, other]) each.close();
});

test("a change by hand that counts no edit is an edit", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "catalogue.db");
  const opens = () => openDatabase(path, { synchronous: "normal" });
  const [db, other] = [opens(), opens()];
  migrate(db, path, migrationsOf.catalogue);
  const versions = new VersionReader(db);
  const editsAfter = async (change: string) => {
    const { edits } = versions.read();
    other.run(change);
    await endOfTurn();
    return versions.read().edits - edits;
  };
  expect(await editsAfter("INSERT INTO pets (name, category_id) VALUES ('Rex', 1)")).toBe(0);
  expect(await editsAfter("UPDATE pets SET name = 'Mia'")).toBe(1);
  versions.endTurn();
  for (const each of [db, other]) each.close();
});
