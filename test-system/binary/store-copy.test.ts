/** `rehome store copy` and `--store` beside servers. store-copy.md has the way there and back. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { callerOf } from "../../test/helpers/ask.ts";
import { makeKey, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { hookTimeoutMs, testDatabase, type TestDatabase } from "../../test/helpers/postgres.ts";
import { command } from "../../test/helpers/command.ts";

const folder = temporaryFolder();
let database: TestDatabase;
let key: string;
let password: string;

beforeAll(async () => {
  database = await testDatabase();
  ({ password } = new URL(database.url));
  ({ key } = await makeKey(folder.path));
  const copied = await command(["store", "copy", "--from", folder.path, "--to", database.url]);
  expect(copied.exitCode).toBe(0);
}, hookTimeoutMs);
afterAll(async () => {
  folder[Symbol.dispose]();
  await database[Symbol.asyncDispose]();
}, hookTimeoutMs);

test("a folder that a server uses is refused, as source and as target", async () => {
  using home = temporaryFolder();
  await using empty = await testDatabase();
  const used = join(home.path, "used");
  await makeKey(used);
  await using server = await serve(used);
  for (const places of [
    ["--from", used, "--to", empty.url],
    ["--from", empty.url, "--to", used],
  ]) {
    const refused = await command(["store", "copy", ...places]);
    expect([refused.exitCode, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain(`${join(used, "rehome.db")} is in use by another process.`);
  }
  expect((await fetch(`${server.origin}/ready`)).status).toBe(200);
  await server.stop();
  const copied = await command(["store", "copy", "--from", used, "--to", empty.url]);
  expect(copied).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("are equal") });
}, 120_000);

test("a database that a server uses is refused, as source and as target", async () => {
  using home = temporaryFolder();
  const other = join(home.path, "other");
  await makeKey(other);
  await using used = await testDatabase();
  const env = { REHOME_STORE: `${used.url}?application_name=shelter` };
  const made = await command(["keys", "create", "--name", "t", "--plan", "pro"], { env });
  expect(made.exitCode).toBe(0);
  const address = `${used.url}?application_name=shelter`;
  await using server = await serve(undefined, [], { env: { REHOME_STORE: address } });
  for (const places of [
    ["--from", address, "--to", join(home.path, "new")],
    ["--from", other, "--to", address],
  ]) {
    const refused = await command(["store", "copy", ...places]);
    expect([refused.exitCode, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toMatch(/postgres:\S+ is in use by another process\./);
    expect(refused.stderr).not.toContain(password);
  }
  expect((await fetch(`${server.origin}/ready`)).status).toBe(200);
}, 120_000);

test("a database is not copied onto itself by another address", async () => {
  await using used = await testDatabase();
  const env = { REHOME_STORE: used.url };
  expect((await command(["keys", "list"], { env })).exitCode).toBe(0);
  const again = `${used.url}?application_name=rehome`;
  const copied = await command(["store", "copy", "--from", used.url, "--to", again]);
  expect([copied.exitCode, copied.stderr]).toEqual([1, expect.stringContaining("is in use")]);
}, 120_000);

test("a database that is read-only is copied, and the command says that it has no mark", async () => {
  using home = temporaryFolder();
  await using source = await testDatabase();
  const add = ["pets", "add", "--name", "Rex", "--category", "1"];
  expect((await command(add, { env: { REHOME_STORE: source.url } })).exitCode).toBe(0);
  const name = new URL(source.url).pathname.slice(1);
  await source.sql.unsafe(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
  const to = join(home.path, "new");
  const copied = await command(["store", "copy", "--from", source.url, "--to", to]);
  expect([copied.exitCode, copied.stdout]).toEqual([1, ""]);
  expect(copied.stderr).toMatch(/^Error: postgres:\S+ could not be marked as moved\.$/m);
  expect(copied.stderr).toContain(`Everything is in ${to}, and both sides are equal.`);
  const list = await command(["pets", "list", "--data", to]);
  expect(list).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("Rex") });
}, 120_000);

test("a copy that was cut short between its two marks is made again by the same command", async () => {
  using home = temporaryFolder();
  await using database = await testDatabase();
  const { id } = await makeKey(home.path);
  const copy = () => command(["store", "copy", "--from", home.path, "--to", database.url]);
  expect((await copy()).exitCode).toBe(0);
  await database.sql`INSERT INTO rehome.store_state VALUES ('copied_from', ${home.path})`;
  const env = { REHOME_STORE: database.url };
  expect((await command(["keys", "list"], { env })).stderr).toContain("a part of a copy");
  expect((await copy()).exitCode).toBe(0);
  expect((await command(["keys", "list"], { env })).stdout).toContain(id);
}, 120_000);

describe("serve", () => {
  const onDatabase = (env: Record<string, string>) => serve(undefined, [], { env });

  test("takes the database from a flag, a variable or a file, and never shows its password", async () => {
    using other = temporaryFolder();
    const file = join(other.path, "address");
    writeFileSync(file, database.url);
    for (const env of [{ REHOME_STORE: database.url }, { REHOME_STORE_FILE: file }]) {
      // A busy machine answers late.
      await using server = await onDatabase({ ...env, REHOME_STORE_TIMEOUT: "30000" });
      expect((await callerOf(server, key).get()).status).toBe(200);
      expect(server.stdout()).toContain("postgres://rehome@127.0.0.1:");
      expect(server.stdout() + server.stderr()).not.toContain(password);
      expect(await server.stop()).toBe(0);
    }
  }, 120_000);
});

test("a place that holds something is refused", async () => {
  const to = ["--to", database.url, "--moved-store"];
  const { exitCode, stderr } = await command(["store", "copy", "--from", folder.path, ...to]);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("is not empty")]);
});
