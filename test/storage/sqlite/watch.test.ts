/** What is read of another process's changes. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openDatabase } from "../../../src/storage/sqlite/connection.ts";
import { migrationsOf } from "../../../src/storage/sqlite/files.ts";
import { migrate } from "../../../src/storage/sqlite/migrate.ts";
import { VersionReader } from "../../../src/storage/sqlite/watch.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

/** A reader, and another process on the same file. */
function opened(clock?: () => number) {
  const folder = temporaryFolder();
  const path = join(folder.path, "catalogue.db");
  const [db, other] = [1, 2].map(() => openDatabase(path, { synchronous: "normal" })) as [
    ReturnType<typeof openDatabase>,
    ReturnType<typeof openDatabase>,
  ];
  migrate(db, path, migrationsOf.catalogue);
  const versions = new VersionReader(db, clock);
  return {
    db,
    other,
    versions,
    [Symbol.dispose]() {
      for (const each of [db, other]) each.close();
      folder[Symbol.dispose]();
    },
  };
}

test("serves no request that begins 0.1 ms later", () => {
  let nowMs = 1;
  using place = opened(() => nowMs);
  const { other, versions } = place;
  const before = versions.read();
  other.run("UPDATE key_epoch SET epoch = epoch + 1");
  nowMs += 0.09;
  expect(versions.read()).toBe(before);
  nowMs += 0.02;
  expect(versions.read().keys).toBe(before.keys + 1);
});

test("a change by hand that counts no edit is an edit", async () => {
  using place = opened();
  const { other, versions } = place;
  const editsAfter = async (change: string) => {
    const { edits } = versions.read();
    other.run(change);
    versions.expire();
    return versions.read().edits - edits;
  };
  expect(await editsAfter("INSERT INTO pets (name, category_id) VALUES ('Rex', 1)")).toBe(0);
  expect(await editsAfter("UPDATE pets SET name = 'Mia'")).toBe(1);
});

test("an animal that is added while the numbers are read is an addition", () => {
  using place = opened();
  const { db, other } = place;
  const add = () => other.run("INSERT INTO pets (name, category_id) VALUES ('Rex', 1)");
  let between = () => {};
  const query = db.query.bind(db);
  Object.assign(db, {
    query(text: string) {
      const statement = query(text);
      const get = statement.get.bind(statement);
      const isOfNumbers = text.includes("key_epoch");
      return Object.assign(statement, {
        get() {
          if (isOfNumbers) between();
          return get();
        },
      });
    },
  });
  const versions = new VersionReader(db);
  const before = versions.read();
  add();
  between = () => {
    between = () => {};
    add();
  };
  for (const pets of [1, 2]) {
    versions.expire();
    expect(versions.read()).toEqual({ ...before, pets: before.pets + pets });
  }
});
