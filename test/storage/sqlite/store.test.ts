import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { systemClock } from "../../../src/domain/clock.ts";
import { openSqliteStore } from "../../../src/storage/sqlite/store.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

const open = (folder: string) =>
  openSqliteStore({ folder, clock: systemClock, random: () => 0, timeoutMs: 100, serving: true });

/** Lets the running event-loop turn end. */
const nextTurn = () => new Promise(setImmediate);

test("a store may be closed in the turn in which it was read", async () => {
  using folder = temporaryFolder();
  const store = open(folder.path);
  store.versions();
  await store.close();
  await nextTurn();
});

test("all reads of a turn see one state, and the next turn sees what another process did", async () => {
  using folder = temporaryFolder();
  const [reader, other] = [open(folder.path), open(folder.path)];
  const before = reader.versions();
  expect(await reader.pets.count()).toBe(0);
  // Another process commits while this turn is still running.
  const added = Bun.spawnSync([
    process.execPath,
    "-e",
    `const { Database } = require("bun:sqlite");
     new Database(${JSON.stringify(`${folder.path}/rehome.db`)})
       .run("INSERT INTO pets (name, category_id) VALUES ('Rex', 1)");`,
  ]);
  expect(added.exitCode).toBe(0);
  expect(reader.versions()).toBe(before);
  expect(await reader.pets.count()).toBe(0);
  await nextTurn();
  expect(reader.versions().pets).toBe(before.pets + 1);
  expect(await reader.pets.count()).toBe(1);
  await Promise.all([reader.close(), other.close()]);
});

test("animals that cannot be read are an unavailable store, and a retry makes sense", async () => {
  using folder = temporaryFolder();
  const before = open(folder.path);
  const name = "a".repeat(60_000);
  for (let n = 0; n < 20; n += 1) await before.pets.create({ name, categoryId: 1n });
  await before.close();
  const store = open(folder.path);
  const file = `${folder.path}/rehome.db`;
  const keptBytes = 30 * 4_096;
  writeFileSync(file, Buffer.alloc(statSync(file).size, readFileSync(file).subarray(0, keptBytes)));
  const unavailable = { kind: "unavailable", retryAfterSeconds: 1 };
  const failure = async (read: () => unknown) => {
    try {
      return await read();
    } catch (error) {
      return error;
    }
  };
  expect(await failure(() => store.pets.page({ limit: 20 }))).toMatchObject(unavailable);
  expect(await failure(() => store.pets.byId(15n))).toMatchObject(unavailable);
  await store.close();
});
