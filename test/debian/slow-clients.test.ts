/**
 * Clients that are slow on purpose: slowhttptest in its four modes, and readers that do not read.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { makeKey, roomy, serve, temporaryFolder, type RunningBinary } from "../helpers/binary.ts";
import { quantile } from "../helpers/load.ts";

const folder = temporaryFolder();
let server: RunningBinary;
let key: string;

beforeAll(async () => {
  server = await serve(folder.path, ["--anonymous-per-minute", "1000000"]);
  ({ key } = await makeKey(folder.path, ...roomy));
  // The largest page: 100 names of 1,000 characters of four bytes.
  const body = JSON.stringify({ name: "🐈".repeat(1_000), categoryId: 1 });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  for (let i = 0; i < 120; i += 1) {
    const answer = await fetch(`${server.origin}/v1/pets`, { method: "POST", headers, body });
    expect(answer.status).toBe(201);
  }
});
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

const rssMiB = () =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1024;

/**
 * Asks /health until `isOver`. Returns how long the answers took, and the most memory meanwhile.
 */
async function watch(isOver: () => boolean) {
  const healthMs: number[] = [];
  let mostMiB = rssMiB();
  while (!isOver()) {
    const startMs = performance.now();
    expect((await fetch(`${server.origin}/health`)).status).toBe(200);
    healthMs.push(performance.now() - startMs);
    mostMiB = Math.max(mostMiB, rssMiB());
    await Bun.sleep(20);
  }
  return { medianMs: quantile(healthMs, 0.5), mostMiB };
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
        "3",
        "-u",
        `${server.origin}${path}`,
      ];
      const child = Bun.spawn(["slowhttptest", ...mode, ...load], {
        stdout: "pipe",
        stderr: "pipe",
      });
      const talk = new Response(child.stdout).text();
      const { medianMs, mostMiB } = await watch(() => child.exitCode !== null);
      // Its table says so again and again while it runs.
      const availability = Bun.stripANSI(await talk).match(/(?<=service available:\s*)(?:YES|NO)/g);
      expect(new Set(availability)).toEqual(new Set(["YES"]));
      expect(mostMiB - beforeMiB).toBeLessThan(120);
      expect(medianMs).toBeLessThan(100);
    },
    60_000,
  );
});

test("300 readers of the largest page that do not read take less than 200 MiB", async () => {
  const beforeMiB = rssMiB();
  const request = `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const untilMs = performance.now() + 1_500;
  const sockets = Array.from({ length: 300 }, () => {
    const socket = connect({ port: Number(new URL(server.origin).port), host: "127.0.0.1" });
    socket.on("error", () => undefined);
    socket.pause();
    socket.write(request);
    return socket;
  });
  const { medianMs, mostMiB } = await watch(() => performance.now() > untilMs);
  for (const socket of sockets) socket.destroy();
  expect(mostMiB - beforeMiB).toBeLessThan(200);
  expect(medianMs).toBeLessThan(100);
});
