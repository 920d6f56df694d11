/**
 * Two versions on one store. TEST_FORMER names an older executable, which serves while this one
 * updates the schema. Without it this executable is the older one, and a later one is what it would
 * leave in the store: a table, a column and a line in the history of the schema.
 */
import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { SQL } from "bun";
import { join } from "node:path";
import { callerOf, until } from "../../test/helpers/ask.ts";
import {
  executable,
  perDay,
  rehome,
  roomy,
  type RunningBinary,
  serve,
  temporaryFolder,
} from "../../test/helpers/binary.ts";
import { databaseFor, isOnPostgres } from "../../test/helpers/store-under-test.ts";

const former = process.env["TEST_FORMER"];
const limit = 400;

/** Does what a later program's migration may do. */
async function migrate(folder: string): Promise<void> {
  const statements = (schema: string) => [
    `CREATE TABLE ${schema}later (id bigint PRIMARY KEY)`,
    `ALTER TABLE ${schema}pets ADD COLUMN later text`,
    `INSERT INTO ${schema}schema_migrations (tag, hash) VALUES ('9999_later', 'later')`,
  ];
  if (isOnPostgres) {
    await using sql = new SQL(await databaseFor(folder), { max: 1 });
    await sql.unsafe(statements("rehome.").join(";"));
    return;
  }
  using db = new Database(join(folder, "rehome.db"));
  db.run("PRAGMA busy_timeout = 5000");
  db.transaction(() => statements("").forEach((each) => db.run(each))).immediate();
}

test("a server goes on while a newer program updates the schema, and loses and admits nothing", async () => {
  using folder = temporaryFolder();
  const path = former ?? (await executable());
  const data = ["--data", folder.path];
  await using first = await serve(folder.path, [], { path });
  const makeKey = async (label: string, args: readonly string[]) => {
    const words = ["keys", "create", "--name", label, ...args, ...data];
    return (await rehome(words, { path })).stdout.trim();
  };
  const key = await makeKey("counted", perDay(limit));
  const reader = await makeKey("reader", roomy);
  const servers: RunningBinary[] = [first];
  const names = new Set<string>();
  let sent = 0;
  const refusals: string[] = [];
  let isMigrated = false;
  const create = async (origin: string): Promise<void> => {
    const animal = `animal ${(sent += 1)}`;
    const reply = await callerOf({ origin }, key).create(animal);
    const said = (await reply.json()) as { code?: string };
    if (reply.status === 201) names.add(animal);
    else if (reply.status === 429) refusals.push(animal);
    else expect([reply.status, said.code]).toEqual([503, "unavailable"]);
  };
  const loading = Array.from({ length: 4 }, async (_, client) => {
    while (refusals.length < 40) {
      // The last half is for both.
      if (!isMigrated && names.size > limit / 2) await Bun.sleep(5);
      else await create((servers[client % servers.length] ?? first).origin);
    }
  });
  await until(() => names.size > limit / 4);
  if (former === undefined) await migrate(folder.path);
  else servers.push(await serve(folder.path));
  isMigrated = true;
  await Promise.all(loading);

  expect(names.size).toBeLessThanOrEqual(limit);
  // What each server took ahead and did not use is the most that may be missing.
  expect(names.size).toBeGreaterThan(limit * 0.9);
  const animals = await callerOf(first, reader).animals();
  const stored = new Set(animals.map((animal) => animal.name));
  expect([...names].filter((each) => !stored.has(each))).toEqual([]);
  const list = await rehome(["keys", "list", ...data], { path });
  expect(list.exitCode).toBe(1);
  expect(list.stderr).toContain("was made by a newer rehome");
  for (const server of servers) expect(await server.stop()).toBe(0);
});
