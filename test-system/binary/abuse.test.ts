/** Callers who mean harm: none gets a failure, an inside view, or anybody else's time. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import {
  makeKey,
  roomy,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../../test/helpers/binary.ts";
import { portOf, requestText } from "../../test/helpers/load.ts";
import { raw } from "../../test/helpers/raw.ts";
import { random as randomOf } from "../../scripts/random.ts";

const folder = temporaryFolder();
let server: RunningBinary;
let key: string;
/**
 * A connection that sends one byte of its headers every half second from the start of this file on.
 */
let slow: { readonly socket: Socket; readonly openMs: Promise<number> };

beforeAll(async () => {
  server = await serve(folder.path, ["--anonymous-per-minute", "100000"]);
  ({ key } = await makeKey(folder.path, ...roomy));
  slow = drip(server.origin, "GET /v1/pets HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
});
afterAll(async () => {
  slow.socket.destroy();
  await server.stop();
  folder[Symbol.dispose]();
});

/**
 * Opens a connection that sends `head`, then a byte at a time, and measures how long the server
 * puts up with it.
 */
function drip(origin: string, head: string) {
  const startMs = performance.now();
  const socket = connect({ port: portOf(origin), host: "127.0.0.1" });
  const { promise: openMs, resolve } = Promise.withResolvers<number>();
  socket.write(head);
  const timer = setInterval(() => socket.write("a"), 500);
  socket.on("error", () => undefined);
  socket.on("close", () => {
    clearInterval(timer);
    resolve(performance.now() - startMs);
  });
  return { socket, openMs };
}

async function names(): Promise<string[]> {
  const answer = await fetch(`${server.origin}/v1/pets?limit=100`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { name: string }[]).map(({ name }) => name);
}

/** What would tell a caller how the service is made. */
const inside =
  /sqlite|drizzle|elysia|bun:|bunfs|\/src\/|node_modules|\bat \w+ ?\(|select |insert /i;

describe("what one request may do to the next on its connection", () => {
  const headers = () =>
    `Host: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json`;
  const body = '{"name":"outer","categoryId":1}';
  const hidden = () => requestText("POST", "/v1/pets", key, '{"name":"hidden","categoryId":1}');
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const shapes: readonly (readonly [what: string, lines: string, body: string])[] = [
    ["both lengths, the chunks longer", `Content-Length: 4\r\nTransfer-Encoding: chunked`, chunks],
    ["both lengths, the other order", `Transfer-Encoding: chunked\r\nContent-Length: 4`, chunks],
    ["two lengths", `Content-Length: 0\r\nContent-Length: ${body.length}`, ""],
    ["a list of lengths", `Content-Length: 0, ${body.length}`, ""],
    ["a signed length", "Content-Length: +0", ""],
    ["a negative length", "Content-Length: -1", ""],
    ["a length in hexadecimal", "Content-Length: 0x0", ""],
    ["a length beyond 64 bits", "Content-Length: 18446744073709551616", ""],
    ["an unknown coding", "Transfer-Encoding: xchunked\r\nContent-Length: 0", ""],
    ["chunks that are not last", "Transfer-Encoding: chunked, identity", chunks],
    ["two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", chunks],
    ["a space before the colon", "Transfer-Encoding : chunked\r\nContent-Length: 4", chunks],
    ["a folded line", "Transfer-Encoding:\r\n chunked\r\nContent-Length: 4", chunks],
    ["a bare CR", "X: a\rContent-Length: 0", ""],
    ["a NUL in a header", "X: a\0b\r\nContent-Length: 0", ""],
    ["a chunk size that is none", "Transfer-Encoding: chunked", "zz\r\n\r\n0\r\n\r\n"],
    ["a chunk size beyond 64 bits", "Transfer-Encoding: chunked", "10000000000000000\r\n"],
    ["a chunk longer than its size", "Transfer-Encoding: chunked", `2\r\n${body}\r\n0\r\n\r\n`],
  ];
  test.each(shapes)("%s is refused and ends the connection", async (_, lines, sent) => {
    const text = `POST /v1/pets HTTP/1.1\r\n${headers()}\r\n${lines}\r\n\r\n${sent}${hidden()}`;
    const answer = await raw(server.origin, Buffer.from(text, "latin1"), 100);
    expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
    expect(answer.headers.get("connection")).toBe("close");
    expect(await names()).toEqual([]);
  });

  test("a request in the body of a GET is not carried out", async () => {
    const text = `GET /v1/pets HTTP/1.1\r\n${headers()}\r\nContent-Length: ${hidden().length}\r\n\r\n`;
    const answer = await raw(server.origin, text + hidden(), 100);
    expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
    expect(await names()).toEqual([]);
  });

  test("a pipeline is answered in its order", async () => {
    const limits = Array.from({ length: 50 }, (_, position) => (position % 2 === 0 ? 101 : 1));
    const text = limits.map((limit) => requestText("GET", `/v1/pets?limit=${limit}`, key)).join("");
    const answer = await raw(server.origin, text, 2_000);
    const statuses = [...answer.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code);
    expect(statuses).toEqual(limits.map((limit) => (limit > 100 ? "400" : "200")));
  });
});

describe("bodies", () => {
  const block = Buffer.alloc(64 * 1024, "a");

  /** Sends `bytes` of body as fast as it is taken, and resolves with the answer. */
  async function flood(head: string, bytes: number, isChunked: boolean): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = connect({ port: portOf(server.origin), host: "127.0.0.1" });
    let text = "";
    let goOn = () => undefined as void;
    socket.on("drain", () => goOn());
    socket.on("close", () => goOn());
    socket.on("data", (data) => {
      text += data.toString("latin1");
      if (/\r\n\r\n.*\}$/s.test(text)) resolve();
    });
    socket.on("error", () => resolve());
    socket.on("close", () => resolve());
    socket.write(
      `${head}\r\n${isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes}`}\r\n\r\n`,
    );
    const piece = isChunked
      ? Buffer.concat([Buffer.from("10000\r\n"), block, Buffer.from("\r\n")])
      : block;
    for (let sent = 0; sent < bytes && !socket.destroyed; sent += block.length) {
      if (!socket.write(piece)) {
        await new Promise<void>((go) => {
          goOn = go;
        });
      }
    }
    if (isChunked && !socket.destroyed) socket.write("0\r\n\r\n");
    await promise;
    socket.destroy();
    return text;
  }

  const authorized = () =>
    `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json`;

  for (const isChunked of [false, true]) {
    const kind = isChunked ? "in chunks" : "announced";
    test(`50 MB ${kind} are refused with 413 and the limit headers`, async () => {
      const answer = await flood(authorized(), 50 * 1024 * 1024, isChunked);
      expect(answer).toStartWith("HTTP/1.1 413 ");
      expect(answer).toMatch(/^x-ratelimit-remaining: \d+\r$/im);
      expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))).toEqual({
        code: "payload_too_large",
        message: "The body is larger than 64 KiB.",
        status: 413,
      });
    });
  }

  test.skipIf(!existsSync("/proc/self/status"))("16 at once do not fill the memory", async () => {
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, number) =>
        flood(authorized(), 50 * 1024 * 1024, number % 2 === 0),
      ),
    );
    for (const answer of answers) expect(answer).toStartWith("HTTP/1.1 413 ");
    const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
    const peakMb = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
    // 16 bodies would be 800 MB; an idle server is at about 60.
    expect(peakMb).toBeLessThan(150);
  });
});

test("requests with random bytes changed get a clean answer or none", async () => {
  const originals = [
    requestText("GET", "/v1/pets?limit=5&status=sold", key),
    requestText("GET", "/v1/pets/1", key),
    requestText("POST", "/v1/pets", key, '{"name":"Rex","categoryId":1,"status":"sold"}'),
    requestText("OPTIONS", "/v1/pets", undefined),
    requestText("GET", "/docs/json", undefined),
  ];
  const mutate = (text: string, random: (below: number) => number) => {
    const bytes = Buffer.from(text, "latin1");
    for (let count = 1 + random(4); count > 0; count -= 1)
      bytes[random(bytes.length)] = random(256);
    return random(4) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes;
  };
  const statuses = new Set<number>();
  const one = async (_: unknown, seed: number) => {
    // Each connection has bytes of its own, so that every run sends the same.
    const next = randomOf(20_261_121 + seed);
    const random = (below: number) => Math.floor(next() * below);
    for (let round = 0; round < 20; round += 1) {
      const { text, status } = await raw(
        server.origin,
        mutate(originals[round % 5] ?? "", random),
        30,
        300,
      );
      statuses.add(status);
      // The document explains the service; nothing else does.
      if (!text.includes('"openapi"')) expect(text).not.toMatch(inside);
    }
  };
  await Promise.all(Array.from({ length: 16 }, one));
  // 505 is the answer to an HTTP version that there is not.
  const broken = [...statuses].filter((status) => status >= 500 && status !== 505);
  expect(broken).toEqual([]);
  expect(statuses.size).toBeGreaterThan(3);
  expect((await fetch(`${server.origin}/ready`)).status).toBe(200);
}, 120_000);

test("random JSON and random queries are refused or carried out, and nothing else", async () => {
  const next = randomOf(4);
  const random = (below: number) => Math.floor(next() * below);
  const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T;
  const scalars = ['"Rex"', "1", "-1", "1e400", "1.5", "9223372036854775808", "null", "true", '""'];
  const json = (depth: number): string => {
    const kind = depth === 0 ? 0 : random(3);
    if (kind === 0) return pick([...scalars, '"sold"', '"\\u0000"', '"\\ud800"', "NaN", "{"]);
    const items = Array.from({ length: random(4) }, () => json(depth - 1));
    if (kind === 1) return `[${items.join(",")}]`;
    const names = ["name", "categoryId", "status", "id", "__proto__", "constructor", ""];
    return `{${items.map((item) => `"${pick(names)}":${item}`).join(",")}}`;
  };
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  for (let count = 0; count < 300; count += 1) {
    const body = count === 0 ? deep : json(3);
    const answer = await fetch(`${server.origin}/v1/pets`, { method: "POST", headers, body });
    const text = await answer.text();
    expect([201, 400]).toContain(answer.status);
    expect(text).not.toMatch(inside);
  }
  const parts = [
    "limit",
    "status",
    "after",
    "=",
    "&",
    "1",
    "101",
    "sold",
    "%",
    "%00",
    "%ff",
    "'",
    "[]",
  ];
  for (let count = 0; count < 300; count += 1) {
    const query = Array.from({ length: random(6) }, () => pick(parts)).join("");
    const answer = await fetch(`${server.origin}/v1/pets?${query}`, { headers });
    const text = await answer.text();
    expect([200, 400]).toContain(answer.status);
    if (answer.status === 400) expect(text).not.toMatch(inside);
  }
}, 120_000);

test("400 stalled connections do not hold up anybody else", async () => {
  let served = 0;
  const post = requestText("POST", "/v1/pets", key, '{"name":"stalled","categoryId":1}');
  const get = requestText("GET", "/v1/pets?limit=100", key);
  const parts = ["", get.slice(0, 20), post.slice(0, -4), get.repeat(20)];
  const sockets = Array.from({ length: 400 }, (_, number) => {
    const socket = connect({ port: portOf(server.origin), host: "127.0.0.1" });
    socket.on("error", () => undefined);
    socket.pause();
    socket.write(parts[number % parts.length] ?? "");
    return socket;
  });
  const headers = { authorization: `Bearer ${key}` };
  // Those who wait for the stalled ones are served when these are cut off, after 10 s.
  do {
    expect((await fetch(`${server.origin}/v1/pets`, { headers })).status).toBe(200);
    served += 1;
  } while (sockets.every(({ destroyed }) => !destroyed) && served < 300);
  expect(served).toBeGreaterThan(10);
  for (const socket of sockets) socket.destroy();
});

test("headers that drip in are cut off", async () => {
  const openMs = await slow.openMs;
  expect(openMs).toBeGreaterThan(5_000);
}, 120_000);

test("nothing of all this was an error of the service", () => {
  expect(server.stderr()).not.toContain('"error"');
});
