/**
 * Bodies that are broken, endless or too many, byte by byte: nothing of them is stored, and next to
 * nothing kept.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { type RunningBinary } from "../../test/helpers/binary.ts";
import { portOf } from "../../test/helpers/load.ts";
import { raw } from "../../test/helpers/raw.ts";
import { serveForAll } from "../../test/helpers/served-file.ts";
import { until } from "../../test/helpers/until.ts";

let server: RunningBinary;
let key: string;
serveForAll((running, ofServer) => ([server, key] = [running, ofServer]));

const head = (credential: string, more: string) =>
  `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${credential}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;
const body = '{"name":"broken","categoryId":1}';
const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n`;

async function stored(name: string): Promise<number> {
  const answer = await fetch(`${server.origin}/v1/pets?limit=100`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const pets = (await answer.json()) as { name: string }[];
  return pets.filter((pet) => pet.name === name).length;
}

test("a create that another request follows at once is not answered and stores nothing", async () => {
  const next = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const bytes = head(key, `Content-Length: ${body.length}`) + body + next;
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => raw(server.origin, bytes, 100)),
  );
  expect(new Set(answers.map(({ text }) => text))).toEqual(new Set([""]));
  expect(await stored("broken")).toBe(0);
});

describe("a request that Bun answers with 400 stores nothing", () => {
  test.each<[string, string, string]>([
    ["NUL behind the body", `Content-Length: ${body.length}`, `${body}\0`],
    ["LF behind the body", `Content-Length: ${body.length}`, `${body}\n`],
    ["CRLF behind the body", `Content-Length: ${body.length}`, `${body}\r\n`],
    ["an empty line behind the body", `Content-Length: ${body.length}`, `${body}\r\n\r\n`],
    ["trailers", "Transfer-Encoding: chunked", `${chunked}X-Trailer: 1\r\n\r\n`],
    ["CRLF behind the chunks", "Transfer-Encoding: chunked", `${chunked}\r\n\r\n`],
  ])("%s", async (_what, length, bytes) => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => raw(server.origin, head(key, length) + bytes, 100)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
    expect(await stored("broken")).toBe(0);
  });
});

test("a create with a byte too many is not remembered by its Idempotency-Key", async () => {
  const once = '{"name":"once","categoryId":1}';
  const length = `Idempotency-Key: stray\r\nContent-Length: ${once.length}`;
  const { status } = await raw(server.origin, `${head(key, length)}${once}\n`, 100);
  expect(status).toBe(400);
  const answer = await fetch(`${server.origin}/v1/pets`, {
    method: "POST",
    body: once,
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "idempotency-key": "stray",
    },
  });
  expect([answer.status, answer.headers.get("idempotent-replayed")]).toEqual([201, null]);
});

/** Opens a connection that sends `bytes` and stays open. */
function open(bytes: string): { readonly socket: Socket; readonly answer: () => string } {
  const socket = connect({ port: portOf(server.origin), host: "127.0.0.1" });
  let answer = "";
  socket.on("data", (chunk) => (answer += chunk.toString("latin1")));
  socket.on("error", () => undefined);
  socket.write(bytes);
  return { socket, answer: () => answer };
}

const rssMiB = () =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1024;

test("100 bodies that never end, in 10,000 chunks of a byte, cost next to nothing", async () => {
  const chunks = "1\r\na\r\n".repeat(10_000);
  const beforeMiB = rssMiB();
  const opened = Array.from({ length: 100 }, () =>
    open(head(key, "Transfer-Encoding: chunked") + chunks),
  );
  let looks = 0;
  let most = beforeMiB;
  const isSent = () =>
    opened.every(({ socket }) => socket.destroyed || socket.writableLength === 0);
  const deadlineMs = performance.now() + 30_000;
  while ((!isSent() || looks < 20) && performance.now() < deadlineMs) {
    expect((await fetch(`${server.origin}/health`)).status).toBe(200);
    looks += 1;
    most = Math.max(most, rssMiB());
  }
  for (const { socket } of opened) socket.destroy();
  expect(most - beforeMiB).toBeLessThan(120);
  // Who is held up for half a second each time does not get there.
  expect(looks).toBeGreaterThanOrEqual(20);
}, 120_000);

test("as many bodies as there is room for are read at once, and the next ones are told when to try again", async () => {
  const unfinished = head(key, "Content-Length: 40");
  const opened = Array.from({ length: 256 }, () => open(unfinished));
  const post = () =>
    fetch(`${server.origin}/v1/pets`, {
      method: "POST",
      body: '{"name":"late","categoryId":1}',
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    });
  let refused: Response | undefined;
  await until(async () => {
    const answer = await post();
    if (answer.status === 503) refused = answer;
    // A busy store may have refused one of them before its body was read.
    else opened.push(open(unfinished));
    return refused !== undefined;
  });
  expect(refused?.headers.get("retry-after")).toBe("1");
  expect(await refused?.json()).toMatchObject({ code: "unavailable", status: 503 });
  for (const { socket } of opened) socket.destroy();
  await until(async () => (await post()).status === 201);
});
