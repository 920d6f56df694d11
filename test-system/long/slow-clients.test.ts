/**
 * Clients that are slow on purpose: slowhttptest in its four modes, bodies of tiny chunks, and
 * readers that do not read. The server has 512 MiB, as on a small machine.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import {
  makeKey,
  roomy,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../../test/helpers/binary.ts";
import { callerOf } from "../../test/helpers/ask.ts";
import { portOf, requestText } from "../../test/helpers/load.ts";
import { until } from "../../test/helpers/until.ts";

/** The files of a memory cgroup, as version 1 and version 2 of the interface name them. */
const versions = [
  {
    root: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    most: "memory.max_usage_in_bytes",
  },
  { root: "/sys/fs/cgroup", limit: "memory.max", most: "memory.peak" },
] as const;

interface MemoryCgroup {
  /** The most memory that the group had, buffers of its files and connections included. */
  mostBytes(): number;
  /** Removes the group, once its processes have ended. */
  [Symbol.dispose](): void;
}

/**
 * Gives the process `pid` at most `limitBytes` of memory: beyond it the system kills it. Returns
 * undefined, and says so, where there is no right to make such a group.
 */
function memoryCgroup(pid: number, limitBytes: number): MemoryCgroup | undefined {
  const files = versions.find(({ root }) => existsSync(join(root, "cgroup.procs")));
  if (files === undefined) return missing("there is none on this machine");
  const folder = join(files.root, `rehome-test-${pid}`);
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, files.limit), String(limitBytes));
    writeFileSync(join(folder, "cgroup.procs"), String(pid));
  } catch (error) {
    if (existsSync(folder)) rmdirSync(folder);
    return missing(String(error));
  }
  return {
    mostBytes: () => Number(readFileSync(join(folder, files.most), "utf8")),
    [Symbol.dispose]: () => rmdirSync(folder),
  };
}

function missing(why: string): undefined {
  process.stderr.write(`Without a memory cgroup: ${why}\n`);
}

const folder = temporaryFolder();
const limitBytes = 512 * 1024 * 1024;
let server: RunningBinary;
let cgroup: MemoryCgroup | undefined;
let key: string;

beforeAll(async () => {
  server = await serve(folder.path, ["--anonymous-per-minute", "1000000"]);
  cgroup = memoryCgroup(server.pid, limitBytes);
  ({ key } = await makeKey(folder.path, ...roomy));
  // The largest page: 100 names of 1,000 characters of four bytes.
  const { create } = callerOf(server, key);
  for (let i = 0; i < 120; i += 1) expect((await create("🐈".repeat(1_000))).status).toBe(201);
});
afterAll(async () => {
  // Who ran out of memory was killed.
  expect(await server.stop()).toBe(0);
  if (cgroup !== undefined) expect(cgroup.mostBytes()).toBeLessThan(limitBytes);
  cgroup?.[Symbol.dispose]();
  folder[Symbol.dispose]();
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

describe("slowhttptest", () => {
  test.each<[string, string, string[]]>([
    ["headers that drip in", "/v1/pets", ["-H", "-i", "1"]],
    ["bodies that drip in", "/v1/pets", ["-B", "-i", "1", "-s", "8192"]],
    ["ranges", "/docs/json", ["-R", "-a", "10", "-b", "3000"]],
    ["answers that nobody reads", "/docs", ["-X", "-w", "1", "-y", "16", "-n", "2", "-k", "3"]],
  ])(
    "%s: 500 connections leave the service as it was",
    async (_what, path, mode) => {
      const beforeMiB = rssMiB();
      const load = [
        "-c",
        "500",
        "-r",
        "250",
        "-l",
        "8",
        "-p",
        "8",
        "-u",
        `${server.origin}${path}`,
      ];
      const child = Bun.spawn(["slowhttptest", ...mode, ...load], {
        stdout: "pipe",
        stderr: "pipe",
      });
      const talk = new Response(child.stdout).text();
      const mostMiB = await watch(() => child.exitCode !== null);
      // Its table says so again and again while it runs.
      const availability = Bun.stripANSI(await talk).match(/(?<=service available:\s*)(?:YES|NO)/g);
      expect(new Set(availability)).toEqual(new Set(["YES"]));
      expect(mostMiB - beforeMiB).toBeLessThan(120);
    },
    120_000,
  );
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
}, 60_000);

test("100 bodies of 60,000 chunks of a byte cost less than 120 MiB", async () => {
  const head = `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nTransfer-Encoding: chunked\r\n`;
  const port = portOf(server.origin);
  const bytes = `${head}Content-Type: application/json\r\n\r\n${"1\r\na\r\n".repeat(60_000)}`;
  const beforeMiB = rssMiB();
  const sockets = Array.from({ length: 100 }, () => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => undefined);
    socket.write(bytes);
    return socket;
  });
  const isSent = () => sockets.every((each) => each.destroyed || each.writableLength === 0);
  let looks = 0;
  const mostMiB = await watch(() => (looks += 1) > 20 && isSent());
  for (const socket of sockets) socket.destroy();
  expect(mostMiB - beforeMiB).toBeLessThan(120);
}, 120_000);

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

describe("300 readers that do not read take less than 200 MiB", () => {
  test("when they ask for the same page, of which each gets its answer", async () => {
    const queries = Array.from({ length: 300 }, () => "127.0.0.1 limit=100");
    const { grownMiB, statuses } = await withStalledReaders(queries);
    expect(grownMiB).toBeLessThan(200);
    expect(statuses).toEqual({ "200": 300 });
  }, 120_000);

  test.each([
    ["one address", 1, 16],
    ["ten addresses", 10, 64],
  ])(
    "when no page is like another: %s gets so many, and 503 beyond",
    async (_what, addresses, boundMiB) => {
      const ask = (query: string) =>
        fetch(`${server.origin}/v1/pets?${query}`, { headers: { authorization: `Bearer ${key}` } });
      // None is below 240 KB.
      const queries = Array.from({ length: 300 }, (_, at) => {
        const query = `limit=${100 - (at % 40)}&after=${Math.floor(at / 40)}`;
        return `127.0.0.${1 + (at % addresses)} ${query}`;
      });
      const { grownMiB, statuses } = await withStalledReaders(queries, async () => {
        let refused: Response | undefined;
        // Until the server has read what was sent.
        await until(async () => {
          const answer = await ask("limit=100&after=19");
          if (answer.status === 503) refused = answer;
          else await answer.arrayBuffer();
          return refused !== undefined;
        });
        expect(refused?.headers.get("retry-after")).toBe("1");
        expect(refused?.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
        expect(await refused?.json()).toMatchObject({ code: "unavailable", status: 503 });
        expect((await ask("limit=2")).status).toBe(200);
      });
      expect(grownMiB).toBeLessThan(200);
      const served = statuses["200"] ?? 0;
      expect(served).toBeGreaterThan((boundMiB * 1_048_576) / 410_000 - 1);
      expect(served).toBeLessThan((boundMiB * 1_048_576) / 240_000);
      expect(statuses).toEqual({ "200": served, "503": 300 - served });
      await until(async () => (await ask("limit=100&after=19")).status === 200);
    },
    120_000,
  );
});
