/**
 * PgBouncer between rehome and its database: a pool of sessions serves, one of transactions is
 * refused in words.
 */
import { expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callerOf } from "../../test/helpers/ask.ts";
import { rehome, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { freePort } from "../../test/helpers/free-port.ts";
import { until } from "../../test/helpers/until.ts";
import { testDatabase } from "../../test/helpers/postgres.ts";

const version = /PgBouncer (\d+)\.(\d+)/.exec(
  Bun.spawnSync(["/usr/sbin/pgbouncer", "--version"]).stdout.toString(),
);
const [major, minor] = [Number(version?.[1]), Number(version?.[2])];
const canKeepStatements = major > 1 || minor >= 21;

interface Pooler extends AsyncDisposable {
  /** The address of the database through the pooler. */
  readonly url: string;
}

async function pooled(database: string, mode: "session" | "transaction"): Promise<Pooler> {
  const folder = temporaryFolder();
  const { hostname, port, username, password, pathname } = new URL(database);
  const listenPort = await freePort();
  const name = pathname.slice(1);
  const file = join(folder.path, "pgbouncer.ini");
  writeFileSync(
    file,
    `[databases]
${name} = host=${hostname} port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 20
${canKeepStatements ? "max_prepared_statements = 0" : ""}
`,
  );
  chmodSync(folder.path, 0o755);
  // It refuses to be root.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = Bun.spawn(["/usr/sbin/pgbouncer", ...user, file], {
    stdout: "ignore",
    stderr: "ignore",
  });
  await until(() => listens(listenPort));
  return {
    url: `postgres://${username}:any@127.0.0.1:${listenPort}/${name}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      folder[Symbol.dispose]();
    },
  };
}

const listens = (port: number) =>
  Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }).then(
    (socket) => (socket.end(), true),
    () => false,
  );

/** The address is a variable: one on a command line is warned of. */
const createKey = (address: string, name = "a") =>
  rehome(["keys", "create", "--name", name, "--plan", "business", "--json"], {
    env: { REHOME_STORE: address },
  });

test("a pool of sessions serves", async () => {
  await using database = await testDatabase();
  await using pooler = await pooled(database.url, "session");
  const created = await createKey(pooler.url);
  expect(created.stderr).toBe("");
  const { key } = JSON.parse(created.stdout) as { key: string };
  await using server = await serve(undefined, ["--store", pooler.url]);
  const { get, create } = callerOf(server, key);
  const calls = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? get() : create()));
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses).toEqual(calls.map((_, at) => (at % 2 === 0 ? 200 : 201)));
  expect(await server.stop()).toBe(0);
});

test("a pool of transactions that does not keep statements apart is refused, with what to use", async () => {
  await using database = await testDatabase();
  await using pooler = await pooled(database.url, "transaction");
  const hint =
    "Try: Use PgBouncer 1.21 or newer with max_prepared_statements set, a pool in session mode, or the database's own address.\n";
  for (const name of ["a", "b"]) {
    const { exitCode, stdout, stderr } = await createKey(pooler.url, name);
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toEndWith(hint);
  }
  const server = await rehome(["serve", "--port", "0", "--store", pooler.url]);
  expect(server.exitCode).toBe(1);
  expect(server.stderr).toContain("is a pooler that does not support prepared statements");
  expect(server.stderr).toEndWith(hint);
});
