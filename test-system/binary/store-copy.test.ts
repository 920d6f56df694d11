/** `rehome store copy` and `--store`, beside servers of the compiled executable. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copiedSchema } from "../../src/features/postgres/moving/command.ts";
import { makeKey, roomy, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { documentedJson } from "../../test/helpers/json-contract.ts";
import { hookTimeoutMs, testDatabase, type TestDatabase } from "../../test/helpers/postgres.ts";
import { command } from "../../test/helpers/command.ts";

const folder = temporaryFolder();
let database: TestDatabase;
let key: string;
let password: string;

beforeAll(async () => {
  database = await testDatabase();
  ({ password } = new URL(database.url));
  ({ key } = await makeKey(folder.path, ...roomy));
  const animals = Array.from({ length: 4_000 }, (_, at) =>
    JSON.stringify({ name: `Pet ${at + 1}`, categoryId: 7, status: "available" }),
  );
  const imported = await command(["pets", "import", "-", "--data", folder.path], {
    stdin: animals.join("\n"),
  });
  expect(imported.exitCode).toBe(0);
}, hookTimeoutMs);
afterAll(async () => {
  folder[Symbol.dispose]();
  await database[Symbol.asyncDispose]();
}, hookTimeoutMs);

const listed = async (origin: string) => {
  const answer = await fetch(`${origin}/v1/pets?limit=100&after=3900`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return { status: answer.status, body: await answer.text() };
};

test("a folder moves to a database and back, and the key that somebody holds goes on working", async () => {
  const from = ["--from", folder.path];
  const there = await command(["store", "copy", ...from, "--to", database.url, "--json"]);
  expect(there).toMatchObject({ exitCode: 0, stderr: "" });
  const report = documentedJson(copiedSchema, there.stdout) as {
    to: string;
    parts: { title: string; rows: number }[];
  };
  expect(report.parts.find(({ title }) => title === "animals")?.rows).toBe(4_000);
  expect(there.stdout).not.toContain(password);

  using other = temporaryFolder();
  await using second = await testDatabase();
  const again = ["store", "copy", ...from, "--to", second.url, "--moved-store"];
  expect((await command(again)).exitCode).toBe(0);
  const addressFile = join(other.path, "address");
  writeFileSync(addressFile, `${second.url}\n`);
  const back = join(other.path, "data");
  const returned = await command(["store", "copy", "--from-file", addressFile, "--to", back]);
  expect(returned.stderr).toContain("From now on rehome refuses to work on postgres://");
  expect(returned.stdout).toContain("4,000  animals");
  expect(returned.stdout).not.toMatch(/^ +0 /m);
  expect(returned.stdout).toContain("both sides are equal");

  await using first = await serve(folder.path, ["--moved-store"]);
  const expected = await listed(first.origin);
  expect(expected.status).toBe(200);
  await using third = await serve(back);
  expect(await listed(third.origin)).toEqual(expected);
}, 120_000);

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

describe("a store that moved", () => {
  const moved = async (target: () => string) => {
    const home = temporaryFolder();
    const old = join(home.path, "old");
    const { id } = await makeKey(old);
    const copied = await command(["store", "copy", "--from", old, "--to", target()]);
    expect(copied.exitCode).toBe(0);
    return { home, old, id, [Symbol.dispose]: () => home[Symbol.dispose]() };
  };

  test("is refused by every command and by serve, with the address that it moved to", async () => {
    await using target = await testDatabase();
    using at = await moved(() => target.url);
    const { host, username, pathname, password: secret } = new URL(target.url);
    const place = `postgres://${username}@${host}${pathname}`;
    const { path } = at.home;
    for (const args of [
      ["serve", "--port", "0"],
      ["keys", "revoke", at.id],
      ["backup", join(path, "b.db")],
      ["restore", join(at.old, "rehome.db"), "--yes"],
    ]) {
      const refused = await command([...args, "--data", at.old]);
      expect([args[0], refused.exitCode, refused.stdout]).toEqual([args[0], 1, ""]);
      expect(refused.stderr).toContain(`The store in ${at.old} was moved to ${place}`);
      expect(refused.stderr).not.toContain(secret);
    }
    await using third = await testDatabase();
    const copied = await command(["store", "copy", "--from", at.old, "--to", third.url]);
    expect(copied.stderr).toContain("was moved to");
    const doctor = await command(["doctor", "--data", at.old, "--port", "1"]);
    expect(doctor).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/fail +moved/) });
    const meant = await command(["keys", "list", "--data", at.old, "--moved-store"]);
    expect(meant).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(at.id) });
  }, 120_000);

  test("is refused in a database too", async () => {
    await using source = await testDatabase();
    using at = await moved(() => source.url);
    const back = join(at.home.path, "back");
    const env = { REHOME_STORE: source.url };
    expect((await command(["keys", "list"], { env })).exitCode).toBe(0);
    const copied = await command(["store", "copy", "--from", source.url, "--to", back]);
    expect(copied.exitCode).toBe(0);
    const refused = await command(["keys", "revoke", at.id, "--yes"], { env });
    expect([refused.exitCode, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain(`was moved to ${back}`);
    const doctor = await command(["doctor", "--port", "1"], { env });
    expect(doctor).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/fail +moved/) });
    const list = await command(["keys", "list", "--data", back]);
    expect(list.stdout).toContain("active");
  }, 120_000);
});

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

test("a former copy is not written over, and named with what to do, both ways", async () => {
  using home = temporaryFolder();
  await using database = await testDatabase();
  const folder = join(home.path, "data");
  const { id } = await makeKey(folder);
  const copy = (from: string, to: string) => command(["store", "copy", "--from", from, "--to", to]);
  expect((await copy(folder, database.url)).exitCode).toBe(0);
  const back = await copy(database.url, folder);
  expect(back).toMatchObject({ exitCode: 2, stdout: "" });
  expect(back.stderr).toContain(`${folder} has the former copy of this store.`);
  for (const name of ["rehome.db", "limits.db"]) rmSync(join(folder, name));
  expect((await copy(database.url, folder)).exitCode).toBe(0);
  const again = await copy(folder, database.url);
  expect(again.stderr).toContain("ALTER SCHEMA rehome RENAME TO");
  const list = await command(["keys", "list", "--data", folder]);
  expect(list).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(id) });
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
      expect((await listed(server.origin)).status).toBe(200);
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
