/**
 * Clients that are slow on purpose: slowhttptest in its four modes, a body that drips in, and
 * readers that do not read.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { type RunningBinary, serveForAll } from "../../test/helpers/binary.ts";
import { callerOf, until } from "../../test/helpers/ask.ts";
import { portOf, requestText } from "../../test/helpers/load.ts";

let server: RunningBinary;
let key: string;

serveForAll(async (running, ofServer) => {
  [server, key] = [running, ofServer];
  // The largest page: 100 names of 1,000 characters of four bytes.
  const { create } = callerOf(server, key);
  for (let i = 0; i < 120; i += 1) expect((await create("🐈".repeat(1_000))).status).toBe(201);
});

const rssMiB = () =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1024;

/** Asks /health until `isOver`. Returns the most memory that the server took meanwhile. */
async function watch(isOver: () => boolean): Promise<number> {
  let mostMiB = rssMiB();
  while (!isOver()) {
    expect((await fetch(`${server.origin}/health`)).status).toBe(200);
    mostMiB = Math.max(mostMiB, rssMiB());
    await Bun.sleep(20);
  }
  return mostMiB;
}

test.each<[string, string, string[]]>([
  ["headers that drip in", "/v1/pets", ["-H", "-i", "1"]],
  ["bodies that drip in", "/v1/pets", ["-B", "-i", "1", "-s", "8192"]],
  ["ranges", "/docs/json", ["-R", "-a", "10", "-b", "3000"]],
  ["answers that nobody reads", "/docs", ["-X", "-w", "1", "-y", "16", "-n", "2", "-k", "3"]],
])("slowhttptest %s: 500 connections leave the service as it was", async (_what, path, mode) => {
  const beforeMiB = rssMiB();
  const load = ["-c", "500", "-r", "250", "-l", "8", "-p", "8", "-u", server.origin + path];
  const command = ["slowhttptest", ...mode, ...load];
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const talk = new Response(child.stdout).text();
  const mostMiB = await watch(() => child.exitCode !== null);
  // Its table says so again and again while it runs.
  const availability = Bun.stripANSI(await talk).match(/(?<=service available:\s*)(?:YES|NO)/g);
  expect(new Set(availability)).toEqual(new Set(["YES"]));
  expect(mostMiB - beforeMiB).toBeLessThan(120);
});

test("a body that drips in is cut off after 30 s", async () => {
  const socket = connect({ port: portOf(server.origin), host: "127.0.0.1" });
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.on("error", () => undefined);
  const startMs = performance.now();
  socket.write(requestText("POST", "/v1/pets", key, "x".repeat(60_000)).slice(0, 200));
  const timer = setInterval(() => socket.write("x"), 500);
  await closed;
  clearInterval(timer);
  expect((performance.now() - startMs) / 1_000).toBeWithin(25, 45);
});

test("a connection that is kept answers after 75 s, and is closed soon after", async () => {
  const socket = connect({ port: portOf(server.origin), host: "127.0.0.1" });
  const closed = new Promise((resolve) => socket.on("close", resolve));
  let text = "";
  socket.on("data", (bytes) => (text += bytes.toString()));
  const ask = () => socket.write("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
  ask();
  await Bun.sleep(75_000);
  ask();
  await until(() => text.split("HTTP/1.1 200").length === 3);
  const startMs = performance.now();
  await closed;
  expect((performance.now() - startMs) / 1_000).toBeWithin(75, 100);
}, 300_000);

const stalledReaders = join(import.meta.dir, "../../test/fixtures/stalled-readers.py");

/**
 * Asks for a page with each of `queries`, from the address before it, and reads nothing. Calls
 * `meanwhile`, and returns how often each status came and the most memory that the server took.
 */
async function withStalledReaders(
  queries: readonly string[],
  meanwhile: () => Promise<unknown> = async () => undefined,
) {
  const beforeMiB = rssMiB();
  const port = new URL(server.origin).port;
  const child = Bun.spawn(["python3", stalledReaders, port], {
    env: { ...process.env, REHOME_API_KEY: key },
    stdin: "pipe",
    stdout: "pipe",
  });
  void child.stdin.write(`${queries.join("\n")}\n\n`);
  void child.stdin.flush();
  const untilMs = performance.now() + 3_000;
  const mostMiB = await watch(() => performance.now() > untilMs);
  await meanwhile();
  void child.stdin.end();
  const lines = (await child.stdout.text()).split("\n");
  const statuses = JSON.parse(lines[1] ?? "") as Record<string, number>;
  return { grownMiB: mostMiB - beforeMiB, statuses };
}

test("300 readers that do not read take less than 200 MiB when they ask for the same page, of which each gets its answer", async () => {
  const queries = Array.from({ length: 300 }, () => "127.0.0.1 limit=100");
  const { grownMiB, statuses } = await withStalledReaders(queries);
  expect(grownMiB).toBeLessThan(200);
  expect(statuses).toEqual({ "200": 300 });
});

test("300 readers that do not read take less than 200 MiB when no page is like another, of which ten addresses get 64 MiB, and 503 beyond", async () => {
  const { get } = callerOf(server, key);
  // None is below 240 KB, or above 410.
  const queries = Array.from({ length: 300 }, (_, at) => {
    const query = `limit=${100 - (at % 40)}&after=${Math.floor(at / 40)}`;
    return `127.0.0.${1 + (at % 10)} ${query}`;
  });
  const { grownMiB, statuses } = await withStalledReaders(queries, async () => {
    let refused: Response | undefined;
    // Until the server has read what was sent.
    await until(async () => {
      const answer = await get("/v1/pets?limit=100&after=19");
      if (answer.status === 503) refused = answer;
      else await answer.arrayBuffer();
      return refused !== undefined;
    });
    expect(refused?.headers.get("retry-after")).toBe("1");
    expect(refused?.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
    expect(await refused?.json()).toMatchObject({ code: "unavailable", status: 503 });
    expect((await get("/v1/pets?limit=2")).status).toBe(200);
  });
  expect(grownMiB).toBeLessThan(200);
  const served = statuses["200"] ?? 0;
  const boundBytes = 64 * 1024 * 1024;
  expect(served).toBeWithin(boundBytes / 410_000 - 1, boundBytes / 240_000);
  expect(statuses).toEqual({ "200": served, "503": 300 - served });
  await until(async () => (await get("/v1/pets?limit=100&after=19")).status === 200);
});
