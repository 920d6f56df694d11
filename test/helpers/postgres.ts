/**
 * PostgreSQL for tests: one server for the whole run, a database of its own for each that asks.
 * `TEST_SERVER` names another one by the address of a user who may create databases and roles.
 */
import { SQL } from "bun";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** For hooks that may have to start the server: the runner's own bound for hooks is 5 s. */
export const hookTimeoutMs = 120_000;

let started: Promise<{ readonly url: string }> | undefined;

/**
 * The server of the whole suite or of whoever runs a part of it; else one of this run, started when
 * the first test asks, which ends with this process.
 */
export function sharedServer() {
  const named = process.env["TEST_SERVER"];
  started ??= named === undefined ? startServer() : Promise.resolve({ url: named });
  return started;
}

interface Announcement {
  readonly url: string;
  readonly folder: string;
  readonly pid: number;
  readonly standby?: string;
}

export type OwnServer = Awaited<ReturnType<typeof startServer>>;

/** A server of its own for a file of tests. `settings` are such as `fsync=on`. */
export async function startServer(...settings: readonly string[]) {
  const program = join(import.meta.dir, "postgres-server.ts");
  const child = Bun.spawn([process.execPath, program, ...settings], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  child.unref();
  const reader = child.stdout.getReader();
  const announcement = async () => {
    const { value } = await reader.read();
    if (value === undefined) throw new Error("the PostgreSQL server for the tests did not start");
    return JSON.parse(new TextDecoder().decode(value)) as Announcement;
  };
  let told = await announcement();
  const order = async (line: string) => {
    void child.stdin.write(`${line}\n`);
    await child.stdin.flush();
    told = await announcement();
  };
  return {
    url: told.url,
    /** Has the cluster as it was made: who names it in TEST_CLUSTER need not make another one. */
    folder: told.folder,
    /** Ends the server with `signal` and starts it again. Resolves once it answers. */
    restart: (signal: NodeJS.Signals) => order(signal),
    /** Makes a standby that commits wait for, and returns its URL: `via` leads here. */
    async replicate(via: number): Promise<string> {
      await order(`REPLICATE ${via}`);
      if (told.standby === undefined) throw new Error("the standby did not start");
      return told.standby;
    },
    /** Kills the server with all its processes, as a machine does that loses its power. */
    kill: () => signalFamily(told.pid, "SIGKILL"),
    /** Makes the standby the server. */
    promote: () => order("PROMOTE"),
    /** Starts what was the server before a promotion again, as if nothing had happened. */
    comeBack: () => order("COME-BACK"),
    /** Stops the server with all its processes, so that it answers nothing and closes nothing. */
    freeze: () => signalFamily(told.pid, "SIGSTOP"),
    thaw: () => signalFamily(told.pid, "SIGCONT"),
    /** Ends it and removes its data. */
    async stop() {
      await child.stdin.end();
      await child.exited;
    },
  };
}

/** Sends a signal to a process and its children, the parent first. */
function signalFamily(pid: number, signal: NodeJS.Signals): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  process.kill(pid, signal);
  for (const child of children.split(" ").filter(Boolean).map(Number)) {
    try {
      process.kill(child, signal);
    } catch {
      // A child that had nothing to do any more has ended.
    }
  }
}

export type TestDatabase = Awaited<ReturnType<typeof testDatabase>>;

let databases = 0;

/** An empty database on the run's server, or on the one at `server`. */
export async function testDatabase(server?: string) {
  const base = server ?? (await sharedServer()).url;
  databases += 1;
  const name = `tests_${process.pid}_${databases}_${Math.random().toString(36).slice(2)}`;
  await asAdmin(base, `CREATE DATABASE ${name}`);
  const url = new URL(base);
  url.pathname = `/${name}`;
  const sql = new SQL(url.href, { max: 1, bigint: true });
  return {
    /** The address of the database, as `--store` takes it. */
    url: url.href,
    /** A connection of the test's own, past the store. */
    sql,
    async [Symbol.asyncDispose]() {
      await sql.close();
      await asAdmin(base, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** Runs one statement on a connection of its own: a run has many databases. */
async function asAdmin(base: string, statement: string): Promise<void> {
  const admin = new SQL(base, { max: 1 });
  try {
    await admin.unsafe(statement);
  } finally {
    await admin.close();
  }
}
