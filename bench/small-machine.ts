/**
 * What a small machine feels: memory at rest and under load, and bytes that reach the SD card for
 * 1,000 requests of each kind, and for none. `bun run bench small [--idle-seconds 300]`;
 * docs/small-machines.md has the figures.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runLoad } from "./load.ts";
import { cpuUsBetween, usage } from "./process.ts";
import { buildService, executable } from "./rehome.ts";

const requests = 1_000;
const settleMs = 1_500;
const minuteMs = 60_000;

interface Server {
  readonly pid: number;
  readonly origin: string;
  stop(): Promise<void>;
}

async function start(folder: string, env: Record<string, string> = {}): Promise<Server> {
  const child = Bun.spawn(
    [executable, "serve", "--data", folder, "--port", "0", "--log-level", "off"],
    { env: { ...process.env, ...env }, stdout: "pipe", stderr: "ignore" },
  );
  let banner = "";
  for await (const chunk of child.stdout as unknown as AsyncIterable<Uint8Array>) {
    banner += new TextDecoder().decode(chunk);
    if (banner.includes("Data")) break;
  }
  const origin = /API +(http:\/\/[^/\s]+)/.exec(banner)?.[1];
  if (origin === undefined) throw new Error(`the server did not start: ${banner}`);
  return {
    pid: child.pid,
    origin,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

function key(folder: string, ...args: string[]): string {
  const command = [
    executable,
    "keys",
    "create",
    "--name",
    randomUUID(),
    "--json",
    "--data",
    folder,
  ];
  const { stdout } = Bun.spawnSync([...command, ...args]);
  return (JSON.parse(stdout.toString()) as { key: string }).key;
}

const roomy = ["--plan", "enterprise", "--per-minute", "100000000", "--per-day", "1000000000"];

type Ask = (number: number) => Promise<Response>;

/** Sends `requests` of a kind, `width` at a time. Throws when an answer is not what it must be. */
async function send(ask: Ask, status: number, width: number, count = requests): Promise<void> {
  let next = 0;
  const one = async () => {
    while (next < count) {
      const answer = await ask((next += 1));
      if (answer.status !== status) throw new Error(`${answer.status}: ${await answer.text()}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: width }, one));
}

function kinds(
  server: Server,
  folder: string,
): [name: string, status: number, width: number, ask: Ask][] {
  const good = key(folder, ...roomy);
  const business = key(
    folder,
    "--plan",
    "enterprise",
    "--per-minute",
    "1020",
    "--per-day",
    "100000",
  );
  const spent = key(folder, "--plan", "enterprise", "--per-minute", "1", "--per-day", "1");
  const get = (path: string, secret: string | undefined) =>
    fetch(
      `${server.origin}${path}`,
      secret === undefined ? {} : { headers: { authorization: `Bearer ${secret}` } },
    );
  const create = (number: number) =>
    fetch(`${server.origin}/v1/pets`, {
      method: "POST",
      headers: { authorization: `Bearer ${good}`, "content-type": "application/json" },
      body: JSON.stringify({ name: `Rex ${number}`, categoryId: 1, status: "available" }),
    });
  return [
    ["create, one after another", 201, 1, create],
    ["create, 32 at once", 201, 32, create],
    ["list, one key with the Business plan's limits", 200, 1, () => get("/v1/pets", business)],
    ["get", 200, 1, (number) => get(`/v1/pets/${number}`, good)],
    ["429", 429, 1, () => get("/v1/pets", spent)],
    ["401", 401, 1, () => get("/v1/pets", undefined)],
    ["/health", 200, 1, () => get("/health", undefined)],
  ];
}

const writtenBytes = ({ pid }: Server) => usage(pid).writtenBytes;
const line = (...cells: (string | number)[]) =>
  void process.stdout.write(`| ${cells.join(" | ")} |\n`);

/** Resident memory in MiB: all of it, the process's own, and the executable's. */
function memory({ pid }: Server): string[] {
  const { rssMiB, anonymousMiB, fileMiB } = usage(pid);
  return [rssMiB, anonymousMiB, fileMiB].map((mebibytes) => mebibytes.toFixed(1));
}

async function measureWrites(folder: string, idleSeconds: number): Promise<void> {
  const server = await start(folder, { REHOME_ANONYMOUS_PER_MINUTE: "1000000" });
  line("requests", "bytes written for 1,000");
  line("---", "---:");
  for (const [name, status, width, ask] of kinds(server, folder)) {
    // The one request that a spent key has is not part of it.
    if (status === 429) await ask(0);
    await Bun.sleep(settleMs);
    const before = writtenBytes(server);
    await send(ask, status, width);
    await Bun.sleep(settleMs);
    line(name, (writtenBytes(server) - before).toLocaleString("en"));
  }
  // When a minute is over, what is left of its blocks goes back: that belongs to the requests.
  await Bun.sleep(minuteMs + settleMs);
  const before = writtenBytes(server);
  await Bun.sleep(idleSeconds * 1_000);
  line(`none, for ${idleSeconds} s`, writtenBytes(server) - before);
  await server.stop();
}

async function measureMemory(
  folder: string,
  name: string,
  env: Record<string, string>,
): Promise<void> {
  const server = await start(folder, env);
  await Bun.sleep(settleMs);
  line(name, "started", ...memory(server));
  const secret = key(folder, ...roomy);
  const headers = { authorization: `Bearer ${secret}` };
  const ask: Ask = () => fetch(`${server.origin}/v1/pets`, { headers });
  await send(ask, 200, 1, 50);
  await Bun.sleep(2 * settleMs);
  line(name, "idle after 50 requests", ...memory(server));
  const before = usage(server.pid);
  const requests = [{ method: "GET", path: "/v1/pets", headers } as const];
  const port = Number(new URL(server.origin).port);
  const load = await runLoad({ port, connections: 64, seconds: 5, requests });
  const each = cpuUsBetween(before, usage(server.pid)) / load.requests;
  const when = `after 5 s of 64 connections (${each.toFixed(1)} µs of processor time a request)`;
  line(name, when, ...memory(server));
  await server.stop();
}

const { values } = parseArgs({ options: { "idle-seconds": { type: "string", default: "300" } } });
await buildService();
const folder = mkdtempSync(join(process.env["BENCH_DIR"] ?? tmpdir(), "rehome-small-"));
try {
  line("settings", "when", "RSS MiB", "own", "of the executable");
  line("---", "---", "---:", "---:", "---:");
  await measureMemory(folder, "as it is", {});
  await measureMemory(folder, "BUN_JSC_useDFGJIT=0", { BUN_JSC_useDFGJIT: "0" });
  await measureMemory(folder, "BUN_JSC_useJIT=0", { BUN_JSC_useJIT: "0" });
  process.stdout.write("\n");
  await measureWrites(join(folder, "writes"), Number(values["idle-seconds"]));
} finally {
  rmSync(folder, { recursive: true });
}
