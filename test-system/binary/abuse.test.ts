/** Callers who mean harm: none gets a failure, an inside view, or anybody else's time or memory. */
import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { callerOf, until } from "../../test/helpers/ask.ts";
import { makeKey, roomy, type RunningBinary, serveForAll } from "../../test/helpers/binary.ts";
import { portOf, requestText } from "../../test/helpers/load.ts";
import { raw } from "../../test/helpers/raw.ts";
import { random as randomOf } from "../../scripts/random.ts";

let server: RunningBinary;
let key: string;
let folder: string;
/** A connection that sends a byte of its headers every half second from the start on. */
let slow: { readonly socket: Socket; readonly openMs: Promise<number> };

serveForAll((running, ofServer, at) => {
  [server, key, folder] = [running, ofServer, at];
  slow = drip("GET /v1/pets HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
});
afterAll(() => slow.socket.destroy());

/** Opens a connection that sends `bytes` and stays open. */
function open(bytes: string, localAddress = "127.0.0.1"): Socket {
  const socket = connect({ port: portOf(server.origin), host: "127.0.0.1", localAddress });
  socket.on("error", () => undefined);
  socket.write(bytes);
  return socket;
}

/** Sends `head`, then a byte at a time, and measures how long the server puts up with it. */
function drip(head: string) {
  const startMs = performance.now();
  const socket = open(head);
  const { promise: openMs, resolve } = Promise.withResolvers<number>();
  const timer = setInterval(() => socket.write("a"), 500);
  socket.on("close", () => {
    clearInterval(timer);
    resolve(performance.now() - startMs);
  });
  return { socket, openMs };
}

const animals = () => callerOf(server, key).animals();

const create = async () => (await callerOf(server, key).create("late")).status;

/** The head of a create, with more lines. */
const head = (more: string, credential = key) =>
  `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${credential}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;
const body = '{"name":"broken","categoryId":1}';
const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n`;

const memory = (name: "VmRSS" | "VmHWM") => {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]) / 1024;
};

/** What would tell a caller how the service is made. */
const inside =
  /sqlite|drizzle|elysia|bun:|bunfs|\/src\/|node_modules|\bat \w+ ?\(|select |insert /i;

const block = Buffer.alloc(64 * 1024, "a");
const crlf = Buffer.from("\r\n");

/** Sends `blocks` of body as fast as they are taken, and resolves with the answer. */
async function flood(blocks: number, isChunked: boolean): Promise<string> {
  const length = `Content-Length: ${blocks * block.length}`;
  const socket = open(head(isChunked ? "Transfer-Encoding: chunked" : length));
  const piece = isChunked ? Buffer.concat([Buffer.from("10000\r\n"), block, crlf]) : block;
  const pieces = Readable.from(Array.from({ length: blocks }, () => piece));
  const sending = pipeline(pieces, socket, { end: false }).catch(() => undefined);
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = "";
  socket.on("data", (data) => {
    text += data.toString("latin1");
    if (/\r\n\r\n.*\}$/s.test(text)) resolve();
  });
  socket.on("close", resolve);
  await Promise.all([sending, promise]);
  socket.destroy();
  return text;
}

test("16 bodies of 50 MB are refused with 413 and the limit headers, and do not fill the memory", async () => {
  const floods = Array.from({ length: 16 }, (_, at) => flood(800, at % 2 === 0));
  for (const answer of await Promise.all(floods)) {
    expect(answer).toStartWith("HTTP/1.1 413 ");
    expect(answer).toMatch(/^x-ratelimit-remaining: \d+\r$/im);
    expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))).toEqual({
      code: "payload_too_large",
      message: "The body is larger than 64 KiB.",
      status: 413,
    });
  }
  // 16 bodies would be 800 MB; an idle server is at about 60.
  expect(memory("VmHWM")).toBeLessThan(150);
});

describe("what one request may do to the next on its connection", () => {
  const hidden = () => requestText("POST", "/v1/pets", key, '{"name":"hidden","categoryId":1}');
  const whole = `${chunks}\r\n`;
  const shapes: readonly (readonly [what: string, lines: string, body: string])[] = [
    ["both lengths, the chunks longer", `Content-Length: 4\r\nTransfer-Encoding: chunked`, whole],
    ["two lengths", `Content-Length: 0\r\nContent-Length: ${body.length}`, ""],
    ["a signed length", "Content-Length: +0", ""],
    ["a negative length", "Content-Length: -1", ""],
    ["a length in hexadecimal", "Content-Length: 0x0", ""],
    ["a length beyond 64 bits", "Content-Length: 18446744073709551616", ""],
    ["an unknown coding", "Transfer-Encoding: xchunked\r\nContent-Length: 0", ""],
    ["chunks that are not last", "Transfer-Encoding: chunked, identity", whole],
    ["a space before the colon", "Transfer-Encoding : chunked\r\nContent-Length: 4", whole],
    ["a folded line", "Transfer-Encoding:\r\n chunked\r\nContent-Length: 4", whole],
    ["a bare CR", "X: a\rContent-Length: 0", ""],
    ["a NUL in a header", "X: a\0b\r\nContent-Length: 0", ""],
    ["a chunk size that is none", "Transfer-Encoding: chunked", "zz\r\n\r\n0\r\n\r\n"],
    ["a chunk longer than its size", "Transfer-Encoding: chunked", `2\r\n${body}\r\n0\r\n\r\n`],
  ];
  test.each(shapes)("%s is refused and ends the connection", async (_, lines, sent) => {
    const text = `${head(lines)}${sent}${hidden()}`;
    const answer = await raw(server.origin, Buffer.from(text, "latin1"), 100);
    expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
    expect(answer.headers.get("connection")).toBe("close");
    expect(await animals()).toEqual([]);
  });

  test("a request in the body of a GET is not carried out", async () => {
    const length = `Content-Length: ${hidden().length}`;
    const text = head(length).replace("POST", "GET");
    const answer = await raw(server.origin, text + hidden(), 100);
    expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
    expect(await animals()).toEqual([]);
  });
});

describe("a request that Bun does not answer, or with 400, stores nothing", () => {
  const length = `Content-Length: ${body.length}`;
  const next = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
  test.each<[string, number, string, string]>([
    ["another request at once", 0, length, body + next],
    ["NUL behind the body", 400, length, `${body}\0`],
    ["LF behind the body", 400, length, `${body}\n`],
    ["an empty line behind the body", 400, length, `${body}\r\n\r\n`],
    ["trailers", 400, "Transfer-Encoding: chunked", `${chunks}X-Trailer: 1\r\n\r\n`],
    ["CRLF behind the chunks", 400, "Transfer-Encoding: chunked", `${chunks}\r\n\r\n`],
  ])("%s", async (_, status, lines, bytes) => {
    const sent = Array.from({ length: 50 }, () => raw(server.origin, head(lines) + bytes, 100));
    const answers = await Promise.all(sent);
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([status]));
    expect(await animals()).toEqual([]);
  });
});

test("100 bodies that never end, in 10,000 chunks of a byte, cost next to nothing", async () => {
  const bytes = head("Transfer-Encoding: chunked") + "1\r\na\r\n".repeat(10_000);
  const beforeMiB = memory("VmRSS");
  const opened = Array.from({ length: 100 }, () => open(bytes));
  let mostMiB = beforeMiB;
  const isSent = () => opened.every((socket) => socket.destroyed || socket.writableLength === 0);
  for (let looks = 0; !isSent() || looks < 20; looks += 1) {
    expect((await fetch(`${server.origin}/health`)).status).toBe(200);
    mostMiB = Math.max(mostMiB, memory("VmRSS"));
  }
  for (const socket of opened) socket.destroy();
  expect(mostMiB - beforeMiB).toBeLessThan(120);
});

test("one key's slow bodies take nobody else's place, from whatever address, and are told when to try again", async () => {
  const { key: other } = await makeKey(folder, ...roomy);
  const begun = `${head("Content-Length: 40", other)}{`;
  const sockets = Array.from({ length: 1_000 }, (_, at) => open(begun, `127.0.0.${1 + (at % 5)}`));
  let refused = 0;
  for (const socket of sockets) {
    socket.on("data", (chunk) => {
      if (/^HTTP\S+ 503[^]*retry-after: 1\r/i.test(String(chunk))) refused += 1;
    });
  }
  await until(() => refused >= 1_000 - 128);
  for (let count = 0; count < 30; count += 1) expect(await create()).toBe(201);
  for (const socket of sockets) socket.destroy();
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
});

test("400 stalled connections do not hold up anybody else", async () => {
  let served = 0;
  const post = requestText("POST", "/v1/pets", key, '{"name":"stalled","categoryId":1}');
  const get = requestText("GET", "/v1/pets?limit=100", key);
  const parts = ["", get.slice(0, 20), post.slice(0, -4), get.repeat(20)];
  const sockets = Array.from({ length: 400 }, (_, at) => open(parts[at % parts.length] ?? ""));
  for (const socket of sockets) socket.pause();
  // Those who wait for the stalled ones are served when these are cut off, after 10 s.
  do {
    expect((await callerOf(server, key).get()).status).toBe(200);
    served += 1;
  } while (sockets.every(({ destroyed }) => !destroyed) && served < 300);
  expect(served).toBeGreaterThan(10);
  for (const socket of sockets) socket.destroy();
});

test("headers that drip in are cut off", async () => {
  const openMs = await slow.openMs;
  expect(openMs).toBeGreaterThan(5_000);
});

test("nothing of all this was an error of the service", () => {
  expect(server.stderr()).not.toContain('"error"');
});
