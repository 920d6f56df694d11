/** `rehome store copy` beside servers. store-copy.md has the way there and back. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { makeKey, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { hookTimeoutMs, testDatabase, type TestDatabase } from "../../test/helpers/postgres.ts";
import { command } from "../../test/helpers/command.ts";

let home: ReturnType<typeof temporaryFolder>;
let data: string;
let database: TestDatabase;
beforeEach(async () => {
  home = temporaryFolder();
  data = join(home.path, "data");
  database = await testDatabase();
}, hookTimeoutMs);
afterEach(async () => {
  home[Symbol.dispose]();
  await database[Symbol.asyncDispose]();
}, hookTimeoutMs);

const copy = (from: string, to: string) => command(["store", "copy", "--from", from, "--to", to]);
const there = (...words: string[]) => command(words, { env: { REHOME_STORE: database.url } });

test("a place that a server uses is refused, as source and as target", async () => {
  const address = `${database.url}?application_name=shelter`;
  await makeKey(data);
  expect((await there("keys", "list")).exitCode).toBe(0);
  for (const [used, args, env] of [
    [data, [], { REHOME_DATA: data }],
    [address, [], { REHOME_STORE: address }],
  ] as const) {
    await using server = await serve(undefined, args, { env });
    const other = join(home.path, "other");
    await makeKey(other);
    await using empty = await testDatabase();
    for (const places of [
      [used, used === data ? empty.url : join(home.path, "new")],
      [used === data ? empty.url : other, used],
    ] as const) {
      const refused = await copy(...places);
      expect([refused.exitCode, refused.stdout]).toEqual([1, ""]);
      expect(refused.stderr).toMatch(/(?:rehome\.db|postgres:\S+) is in use by another process\./);
      expect(refused.stderr).not.toContain(new URL(database.url).password);
    }
    expect((await fetch(`${server.origin}/ready`)).status).toBe(200);
    expect(await server.stop()).toBe(0);
  }
});

test("a database that is read-only is copied, and the command says that it has no mark", async () => {
  const add = ["pets", "add", "--name", "Rex", "--category", "1"];
  expect((await there(...add)).exitCode).toBe(0);
  const name = new URL(database.url).pathname.slice(1);
  await database.sql.unsafe(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
  const copied = await copy(database.url, data);
  expect([copied.exitCode, copied.stdout]).toEqual([1, ""]);
  expect(copied.stderr).toMatch(/^Error: postgres:\S+ could not be marked as moved\.$/m);
  expect(copied.stderr).toContain(`Everything is in ${data}, and both sides are equal.`);
  const list = await command(["pets", "list", "--data", data]);
  expect(list).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("Rex") });
});

test("a copy that was cut short between its two marks is made again by the same command", async () => {
  const { id } = await makeKey(data);
  expect((await copy(data, database.url)).exitCode).toBe(0);
  await database.sql`INSERT INTO rehome.store_state VALUES ('copied_from', ${data})`;
  expect((await there("keys", "list")).stderr).toContain("a part of a copy");
  expect((await copy(data, database.url)).exitCode).toBe(0);
  expect((await there("keys", "list")).stdout).toContain(id);
  const again = ["store", "copy", "--from", data, "--to", database.url, "--moved-store"];
  const { exitCode, stderr } = await command(again);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("is not empty")]);
});
