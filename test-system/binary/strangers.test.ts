/** What strangers, and one caller with a key, may take from everybody else. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import {
  makeKey,
  roomy,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../../test/helpers/binary.ts";
import { load, portOf, quantile, requestText } from "../../test/helpers/load.ts";
import { raw } from "../../test/helpers/raw.ts";
import { until } from "../../test/helpers/until.ts";

const folder = temporaryFolder();
let server: RunningBinary;
let key: string;

beforeAll(async () => {
  const flags = ["--anonymous-per-minute", "100000", "--public", "on"];
  server = await serve(folder.path, flags);
  ({ key } = await makeKey(folder.path, ...roomy));
});
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

const rssMiB = () =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1024;

const asked = (path: string, host: string) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

/** How long a read with a key takes beside 300 connections that send what `request` makes. */
async function readBeside(request: (client: number, count: number) => string): Promise<number> {
  let isOver = false;
  const loading = load({
    port: portOf(server.origin),
    clients: 300,
    keepAlive: true,
    isOver: () => isOver,
    request,
  });
  const tookMs: number[] = [];
  const endMs = performance.now() + 3_000;
  while (performance.now() < endMs || tookMs.length < 5) {
    const startMs = performance.now();
    const answer = await raw(server.origin, requestText("GET", "/v1/pets", key), 0);
    expect(answer.status).toBe(200);
    tookMs.push(performance.now() - startMs);
  }
  isOver = true;
  await loading;
  return quantile(tookMs, 0.25);
}

describe("a new Host with each request", () => {
  const pages = ["/docs", "/docs/json", "/animals", "/animals.json", "/nothing"];
  const hostOf = (length: number) => (client: number, count: number) => {
    const host = `h${client}-${count}-${"x".repeat(60)}.`.repeat(300).slice(0, length - 1);
    return asked(pages[(client + count) % pages.length] ?? "", `${host}x`);
  };

  test("that is too long costs neither memory nor time", async () => {
    const plainMs = await readBeside(() => asked("/health", "localhost"));
    const beforeMiB = rssMiB();
    const floodedMs = await readBeside(hostOf(14_000));
    expect(rssMiB() - beforeMiB).toBeLessThan(150);
    expect(floodedMs / plainMs).toBeLessThan(5);
  }, 60_000);

  // Whole pages are sent: what they take is the clients' here, too.
  test("that is valid costs no memory", async () => {
    const beforeMiB = rssMiB();
    await readBeside(hostOf(200));
    expect(rssMiB() - beforeMiB).toBeLessThan(150);
  }, 60_000);
});

/** Connections that sent the head of a create, and a part of its body. */
function slowBodies(count: number, credential: string, from: readonly string[]): Socket[] {
  const head = `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${credential}\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{`;
  return Array.from({ length: count }, (_, at) => {
    const localAddress = from[at % from.length] ?? "127.0.0.1";
    const socket = connect({ port: portOf(server.origin), host: "127.0.0.1", localAddress });
    socket.on("error", () => undefined);
    socket.write(head);
    return socket;
  });
}

test("one key's slow bodies take nobody else's place, from whatever address", async () => {
  const { key: other } = await makeKey(folder.path, ...roomy);
  const create = () =>
    raw(server.origin, requestText("POST", "/v1/pets", other, '{"name":"a","categoryId":1}'), 0);
  const creates = async () => {
    const tookMs: number[] = [];
    for (let i = 0; i < 30; i += 1) {
      const startMs = performance.now();
      expect((await create()).status).toBe(201);
      tookMs.push(performance.now() - startMs);
    }
    return quantile(tookMs, 0.25);
  };
  await creates();
  const aloneMs = await creates();
  const addresses = [1, 2, 3, 4, 5].map((last) => `127.0.0.${last}`);
  const sockets = slowBodies(1_000, key, addresses);
  // Those for which there is no place are told so.
  let refused = 0;
  for (const socket of sockets) {
    socket.on("data", (chunk) => (refused += String(chunk).includes("HTTP/1.1 503") ? 1 : 0));
  }
  await until(async () => refused >= 1_000 - 128);
  const besideMs = await creates();
  for (const socket of sockets) socket.destroy();
  expect(besideMs / aloneMs).toBeLessThan(2);
}, 60_000);
