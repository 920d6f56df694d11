/** What happens when a store is opened: the schema, and everything that a server may refuse. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { AppError } from "../../../src/domain/errors.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { postgresMigrations } from "../../../src/features/postgres/migrate.ts";
import { diagnosePostgres } from "../../../src/features/postgres/diagnose.ts";
import { openInPostgres } from "../../../test/helpers/store-under-test.ts";
import { hookTimeoutMs, testDatabase, type TestDatabase } from "../../../test/helpers/postgres.ts";

const authority = join(import.meta.dir, "../../../test/fixtures/tls/ca.crt");
let database: TestDatabase;

beforeEach(async () => {
  database = await testDatabase();
}, hookTimeoutMs);
afterEach(() => database[Symbol.asyncDispose](), hookTimeoutMs);

function open(change: (url: URL) => void = () => {}): Promise<Store> {
  const url = new URL(database.url);
  change(url);
  return openInPostgres(url.href, { timeoutMs: 20_000 });
}

async function refusal(change: (url: URL) => void = () => {}): Promise<AppError> {
  try {
    const store = await open(change);
    await store.close();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const password = new URL(database.url).password;
    expect(password.length).toBeGreaterThan(10);
    for (let at: unknown = error; at instanceof Error; at = at.cause) {
      expect(Bun.inspect(at)).not.toContain(password);
    }
    return error;
  }
  throw new Error("was opened");
}

test("eight processes that start together make the tables once", async () => {
  const opened = await Promise.all(Array.from({ length: 8 }, () => open()));
  const [row] = (await database.sql`
    SELECT count(*)::int AS n FROM rehome.schema_migrations`) as [{ n: number }];
  expect(row.n).toBe(postgresMigrations.length);
  for (const store of opened) expect(await store.pets.count()).toBe(0);
  await Promise.all(opened.map((store) => store.close()));
});

test("works for a user who may not create a schema, in one that was made for it", async () => {
  const role = `role_${crypto.randomUUID().replaceAll("-", "")}`;
  await database.sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'a password of its own'`);
  const asRole = (url: URL) => {
    url.username = role;
    url.password = "a password of its own";
  };
  const error = await refusal(asRole);
  expect(error.message).toContain("does not let this user create its tables");
  expect(error.hint).toContain("CREATE SCHEMA rehome AUTHORIZATION");
  await database.sql.unsafe(`CREATE SCHEMA rehome AUTHORIZATION ${role}`);
  const store = await open(asRole);
  expect(await store.pets.create({ name: "Rex", categoryId: 1n })).toBe(1n);
  await store.close();
  // Of several hosts it asks for the timeline, which any user may. Two names of one server are no
  // two primaries.
  const url = new URL(database.url);
  asRole(url);
  url.searchParams.set("host", `${url.hostname},${url.hostname}`);
  url.searchParams.set("port", url.port);
  expect((await diagnosePostgres(url.href, 20_000)).rivals).toEqual([]);
  await database.sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
});

describe("refuses in words", () => {
  test.each(["LATIN1", "SQL_ASCII"])("a database in %s", async (encoding) => {
    const name = `${new URL(database.url).pathname.slice(1)}_${encoding.toLowerCase()}`;
    await database.sql.unsafe(
      `CREATE DATABASE ${name} ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    );
    try {
      const there = (url: URL) => (url.pathname = `/${name}`);
      const error = await refusal(there);
      expect(error.code).toBe("databaseEncoding");
      expect(error.message).toEndWith(`has the encoding ${encoding}, not UTF8.`);
      expect(error.hint).toContain("ENCODING 'UTF8'");
      const url = new URL(database.url);
      there(url);
      const found = await diagnosePostgres(url.href, 20_000).catch((thrown: unknown) => thrown);
      expect((found as AppError).code).toBe(error.code);
    } finally {
      await database.sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  });

  test("a schema of the same name that is another program's, and leaves it alone", async () => {
    await database.sql`CREATE SCHEMA rehome`;
    await database.sql`CREATE TABLE rehome.pets (theirs int)`;
    expect((await refusal()).message).toContain("not one that rehome made");
    const tables = await database.sql`
      SELECT table_name FROM information_schema.tables WHERE table_schema = 'rehome'`;
    expect(tables).toHaveLength(1);
  });

  const readOnly = "-c default_transaction_read_only=on";
  test.each<[string, (url: URL) => void, string]>([
    ["a wrong password", (url) => (url.password = "wrong"), "refuses this user"],
    ["an unknown database", (url) => (url.pathname = "/nowhere"), "has no such database"],
    ["a port on which nothing listens", (url) => (url.port = "1"), "cannot be reached"],
    ["no right to write now", (url) => url.searchParams.set("options", readOnly), "is read-only"],
    ["a host that does not exist", (url) => (url.hostname = "no.invalid"), "cannot be reached"],
  ])("%s", async (_what, change, words) => {
    const error = await refusal(change);
    expect(error.message).toContain(words);
    expect(error.kind).toBe("unavailable");
    expect(error.hint).toBeDefined();
  });
});

describe("TLS", () => {
  const over = (sslmode: string, rootCert?: string) => (url: URL) => {
    url.hostname = "localhost";
    url.searchParams.set("sslmode", sslmode);
    if (rootCert !== undefined) url.searchParams.set("sslrootcert", rootCert);
  };
  const isEncrypted = async () => {
    const [row] = (await database.sql`
      SELECT count(*) FILTER (WHERE ssl)::int AS with, count(*) FILTER (WHERE NOT ssl)::int AS without
      FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
      WHERE datname = current_database() AND application_name = 'rehome'`) as [
      { with: number; without: number },
    ];
    return row.with > 0 && row.without === 0;
  };

  test.each([
    ["verify-full", authority],
    ["verify-ca", authority],
    ["require", undefined],
  ])("%s is encrypted", async (sslmode, rootCert) => {
    const store = await open(over(sslmode, rootCert));
    await store.pets.create({ name: "Rex", categoryId: 1n });
    await store.pets.byId(1n);
    expect(await isEncrypted()).toBe(true);
    await store.close();
  });

  test.each<[string, (url: URL) => void]>([
    ["nobody trusts", over("verify-full")],
    [
      "is another host's",
      (url) => {
        over("verify-full", authority)(url);
        url.hostname = "127.0.0.1";
      },
    ],
  ])(
    "refuses a server whose certificate %s, also where Node's variable says not to look",
    async (_what, change) => {
      const name = "NODE_TLS_REJECT_UNAUTHORIZED";
      process.env[name] = "0";
      try {
        const error = await refusal(change);
        expect(error.message).toContain("has a certificate that cannot be trusted");
        expect(error.hint).toContain("sslrootcert");
      } finally {
        delete process.env[name];
      }
    },
  );
});
