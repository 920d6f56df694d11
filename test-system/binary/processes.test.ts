/** Several processes at one address: one service to a caller, and one program to an operator. */
import { expect, test } from "bun:test";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import {
  cleanEnvironment,
  executable,
  metricsOf,
  rehome,
  serve,
  served,
  temporaryFolder,
} from "../../test/helpers/binary.ts";
import { callerOf, until } from "../../test/helpers/ask.ts";
import { childrenOf, isRunning } from "../../test/helpers/family.ts";
import { Client, goneBeforeRequest, load, portOf, requestText } from "../../test/helpers/load.ts";

/** Starts `count` processes on a folder of their own, with a key, once all of them serve. */
async function serveIn(count: number, args: readonly string[] = [], drainMs = 500) {
  const server = await served(["--processes", String(count), ...args], {
    // Else connections may be kept for as long as clients keep them, 80 s.
    env: { SUPERVISOR_DRAIN_MS: `${drainMs}` },
  });
  await until(() => server.stderr().includes(`${count} processes serve`));
  return server;
}

/** Asks on a connection of its own. The id of the request begins with letters of the process. */
async function ask({ origin, key }: { origin: string; key: string }, path = "/v1/pets") {
  const response = await fetch(`${origin}${path}`, {
    headers: { authorization: `Bearer ${key}` },
    keepalive: false,
  });
  const by = response.headers.get("x-request-id")?.split("-")[0] ?? "";
  const resets = response.headers.get("x-ratelimit-reset");
  return { by, resets, status: response.status, body: await response.text() };
}

test("all processes answer at one address, and each lists an animal as soon as its 201 is there", async () => {
  await using server = await serveIn(3, ["--anonymous-per-minute", "120"]);
  expect(childrenOf(server)).toHaveLength(3);
  const seen = new Set<string>();
  for (let count = 1; count <= 40; count += 1) {
    const created = await callerOf(server, server.key).create();
    expect(created.status).toBe(201);
    const { by, status, body } = await ask(server, "/v1/pets?limit=100");
    seen.add(by);
    expect([status, (JSON.parse(body) as unknown[]).length]).toEqual([200, count]);
  }
  expect(seen.size).toBe(3);
  // Each has its share of what an address without a key may ask.
  const strangers = Array.from({ length: 240 }, () => ask({ ...server, key: "nonsense" }));
  const refused = (await Promise.all(strangers)).filter(({ status }) => status === 401);
  // Of one minute, should another one begin meanwhile.
  const shares = Map.groupBy(refused, ({ by, resets }) => `${by} ${resets}`);
  for (const [, own] of shares) expect(own.length).toBeLessThan(41);
  expect(new Set(refused.map(({ by }) => by)).size).toBe(3);
});

test("SIGHUP replaces every process, and loses no request on kept connections, which end with their next response", async () => {
  await using server = await serveIn(2);
  const former = childrenOf(server);
  const client = new Client(portOf(server.origin), true);
  const list = () => client.send(requestText("GET", "/v1/pets", server.key));
  const closes = /^connection: close/im;
  expect(await list()).toMatchObject({ headers: expect.not.stringMatching(closes) });
  let isOver = false;
  const loading = load({
    port: portOf(server.origin),
    clients: 4,
    keepAlive: true,
    pauseMs: 2,
    isOver: () => isOver,
    request: () => requestText("GET", "/v1/pets", server.key),
  });
  process.kill(server.pid, "SIGHUP");
  await until(() => server.stderr().includes("The new processes serve."));
  expect(await list()).toMatchObject({ status: 200, headers: expect.stringMatching(closes) });
  expect(client.connections).toBe(1);
  await until(() => former.every((pid) => !isRunning(pid)));
  isOver = true;
  const { statuses, failures } = await loading;
  await until(() => childrenOf(server).length === 2);
  // The kernel resets what it had queued for a socket that closes, unless it may give it to another
  // one.
  for (const failure of goneBeforeRequest.slice(1)) failures.delete(failure);
  expect(Object.fromEntries(failures)).toEqual({});
  expect([...statuses.keys()]).toEqual([200]);
  expect(await server.stop()).toBe(0);
  // What was asked to end is not reported, and one process of each two says where everything is.
  expect(server.stderr()).not.toContain("A new one starts");
  expect(server.stdout().match(/^rehome \d/gm)).toHaveLength(2);
});

test("many reloads leave no more processes than one does", async () => {
  await using server = await serveIn(2, [], 600_000);
  const reloads = () => server.stderr().match(/The new processes serve/g)?.length ?? 0;
  for (let reload = 1; reload <= 3; reload += 1) {
    const former = childrenOf(server);
    process.kill(server.pid, "SIGHUP");
    await until(() => reloads() === reload);
    // Two that serve, and two whose connections are kept.
    await until(() => childrenOf(server).length === 4);
    expect(childrenOf(server).filter((pid) => former.includes(pid))).toHaveLength(2);
  }
  expect(await server.stop()).toBe(0);
});

test("SIGHUP is refused while the store waits for migrations, and everything goes on", async () => {
  await using server = await serveIn(2);
  const former = childrenOf(server);
  // As if the executable on the disk had one more.
  using db = new Database(join(server.data, "rehome.db"));
  db.run("DELETE FROM schema_migrations WHERE tag = (SELECT max(tag) FROM schema_migrations)");
  process.kill(server.pid, "SIGHUP");
  await until(() => server.stderr().includes("The old ones keep serving."));
  expect(server.stderr()).toContain("has an older schema than this program.\nTry: Restart");
  expect(childrenOf(server)).toEqual(former);
  expect((await ask(server)).status).toBe(200);
});

test("with no program in place of the executable, the rest keeps serving until it is mended", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "rehome");
  copyFileSync(await executable(), path);
  await using server = await serve(folder.path, ["--processes", "2"], { path });
  const said = server.stderr;
  await until(() => said().includes("2 processes serve"));
  rmSync(path);
  writeFileSync(path, "no program", { mode: 0o755 });
  process.kill(server.pid, "SIGHUP");
  await until(() => /A new process did not start \(.*\)\. The old ones keep/.test(said()));
  const [first = 0, second = 0] = childrenOf(server);
  process.kill(first, "SIGKILL");
  await until(() => said().includes("A process did not start ("));
  expect(childrenOf(server)).toEqual([second]);
  expect(said()).not.toMatch(/^ +at /m);
  rmSync(path, { force: true });
  copyFileSync(await executable(), path);
  await until(() => childrenOf(server).length === 2);
  expect(await server.stop()).toBe(0);
});

test("a stop ends all of them; so does the end of the one that holds them", async () => {
  await using stopped = await serveIn(2);
  const first = childrenOf(stopped);
  expect(await stopped.stop()).toBe(0);
  expect(first.filter(isRunning)).toEqual([]);

  await using killed = await serveIn(2);
  const second = childrenOf(killed);
  expect(second).toHaveLength(2);
  await killed.stop("SIGKILL");
  await until(() => !second.some(isRunning));
});

/** Asks until both processes have answered, and returns how many requests that took. */
async function askBoth(server: { origin: string; key: string }): Promise<number> {
  const seen = new Set<string>();
  let count = 0;
  for (; seen.size < 2; count += 1) seen.add((await ask(server)).by);
  return count;
}

test("a process that is killed is replaced; what one counted stays when it hangs, is killed or replaced, and nothing else of it", async () => {
  await using server = await serveIn(2, ["--metrics", "127.0.0.1:0"]);
  const address = await metricsOf(server);
  const read = async () => (await fetch(address)).text();
  const gauges = /^(?:process_max_fds \d+|rehome_build_info\S* 1)$/gm;
  let count = await askBoth(server);
  const ofBoth = (await read()).match(gauges);
  expect(ofBoth).toHaveLength(2);
  const expectCounted = async () => {
    const text = await read();
    const name = 'rehome_requests_total{route="/v1/pets",method="GET",status="200"}';
    expect(text).toContain(`${name} ${count}\n`);
    // What is the same for all is not added up.
    expect(text.match(gauges)).toEqual(ofBoth);
  };
  await expectCounted();
  const [killed = 0, hanging = 0] = childrenOf(server);
  process.kill(hanging, "SIGSTOP");
  await expectCounted();
  process.kill(hanging, "SIGCONT");
  process.kill(killed, "SIGKILL");
  await until(() => !childrenOf(server).includes(killed) && childrenOf(server).length === 2);
  await until(() => server.stderr().includes("ended (SIGKILL). A new one starts"));
  count += await askBoth(server);
  await expectCounted();
  const replaced = childrenOf(server);
  process.kill(server.pid, "SIGHUP");
  await until(() => !replaced.some(isRunning));
  count += await askBoth(server);
  await expectCounted();
});

test("what keeps the first process from starting ends the command in words", async () => {
  using folder = temporaryFolder();
  await using server = await serve(folder.path);
  // It does not share its port, so that nobody else can have it.
  const port = String(portOf(server.origin));
  const args = ["serve", "--processes", "2", "--data", folder.path, "--port", port];
  const { exitCode, stderr } = await rehome(args);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`Error: Cannot listen on 127.0.0.1 port ${port}: the port is in use.`);
  expect(stderr).toContain("Error: The service did not start: its first process ended.");
});

test("a parent with a channel of its own, such as PM2, hangs no request", async () => {
  using folder = temporaryFolder();
  const banner = join(folder.path, "banner");
  const args = ["serve", "--data", folder.path, "--port", "0"];
  await using child = Bun.spawn([await executable(), ...args], {
    env: cleanEnvironment,
    stdout: Bun.file(banner),
    stderr: "ignore",
    ipc: () => undefined,
  });
  const api = () => /API +(http:\S+)/.exec(readFileSync(banner, "utf8"))?.[1];
  await until(() => api() !== undefined);
  const { status } = await fetch(`${api()}/pets`, { signal: AbortSignal.timeout(20_000) });
  expect(status).toBe(401);
  child.kill();
  expect(await child.exited).toBe(0);
});
