/**
 * PostgreSQL for tests: one server for the whole run, a database of its own for each that asks. `REHOME_TEST_POSTGRES` names
 * another server by the address of a user who may create databases.
 */
import { SQL } from "bun";
import { join } from "node:path";

interface TestServer {
  readonly url: string;
  /** The process that accepts connections, where the server is ours. */
  readonly pid: number | undefined;
}

let started: Promise<TestServer> | undefined;

/** The server of this run, started when the first test asks. It ends with this process. */
function sharedServer(): Promise<TestServer> {
  const named = process.env["REHOME_TEST_POSTGRES"];
  started ??= named === undefined ? startServer() : Promise.resolve({ url: named, pid: undefined });
  return started;
}

/** A server for one test that stops, freezes or restarts it. `stop` ends it and removes its data. */
export async function startServer(): Promise<TestServer & { stop(): Promise<void> }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "postgres-server.ts")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  child.unref();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  if (value === undefined) throw new Error("the PostgreSQL server for the tests did not start");
  const { url, pid } = JSON.parse(new TextDecoder().decode(value)) as { url: string; pid: number };
  return {
    url,
    pid,
    async stop() {
      await child.stdin.end();
      await child.exited;
    },
  };
}

export interface TestDatabase {
  /** The address of the database, as `--store` takes it. */
  readonly url: string;
  /** A connection of the test's own, past the store. */
  readonly sql: SQL;
  [Symbol.asyncDispose](): Promise<void>;
}

let databases = 0;

/** An empty database on the run's server, or on the one at `server`. */
export async function testDatabase(server?: string): Promise<TestDatabase> {
  const base = server ?? (await sharedServer()).url;
  databases += 1;
  const name = `rehome_test_${process.pid}_${databases}_${Math.random().toString(36).slice(2)}`;
  const admin = new SQL(base, { max: 1 });
  await admin.unsafe(`CREATE DATABASE ${name}`);
  const url = new URL(base);
  url.pathname = `/${name}`;
  const sql = new SQL(url.href, { max: 1, bigint: true });
  return {
    url: url.href,
    sql,
    async [Symbol.asyncDispose]() {
      await sql.close();
      await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.close();
    },
  };
}
