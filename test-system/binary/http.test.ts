/** HTTP/1.1 as clients and proxies rely on it, byte by byte. */
import { describe, expect, test } from "bun:test";
import { type RunningBinary, serveForAll } from "../../test/helpers/binary.ts";
import { raw } from "../../test/helpers/raw.ts";

let server: RunningBinary;
let key: string;
serveForAll((running, ofServer) => ([server, key] = [running, ofServer]));

const body = '{"name":"Rex","categoryId":1}';
const post = (more: string, of: string) =>
  `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${of}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${more}\r\n`;

test("a client that waits with Expect: 100-continue before it sends the body is told to go on", async () => {
  const { text } = await raw(server.origin, post("Expect: 100-continue\r\n", key), 100, 2_000);
  expect(text).toContain("HTTP/1.1 100 Continue\r\n\r\n");
});

test("every answer says when it was given (RFC 9110, section 6.6.1), and how long its connection stays open", async () => {
  for (const path of ["/v1/pets", "/v1/pets/1", "/health", "/docs", "/nothing"]) {
    for (const method of ["GET", "HEAD"]) {
      const { headers } = await fetch(`${server.origin}${path}`, { method });
      expect(headers.get("keep-alive")).toBe("timeout=75");
      const date = headers.get("date") ?? "";
      expect(date).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
      expect(Math.abs(Date.now() - Date.parse(date))).toBeLessThan(60_000);
    }
  }
});

test.each(["close", "Close", "keep-alive, close"])(
  "an answer to a request with Connection: %s says that the connection ends",
  async (option) => {
    for (const [method, path] of [
      ["GET", "/v1/pets"],
      ["HEAD", "/health"],
      ["OPTIONS", "/docs/json"],
    ]) {
      const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: ${option}\r\n\r\n`;
      const { headers, isClosed } = await raw(server.origin, head, 500);
      expect(headers.get("connection")).toBe("close");
      expect(headers.has("keep-alive")).toBe(false);
      expect(isClosed).toBe(true);
    }
  },
);

describe("what the server answers by itself, as docs/clients.md has it", () => {
  const host = "Host: localhost";
  const chunked = "Transfer-Encoding: chunked";
  const get = (more: string) => `GET /v1/pets HTTP/1.1\r\n${host}\r\n${more}\r\n`;
  const sent = (more: string, rest = body) =>
    `POST /v1/pets HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\n${more}\r\n\r\n${rest}`;
  const headers = (count: number) =>
    Array.from({ length: count - 1 }, (_, at) => `X-${at}: a\r\n`).join("");

  test.each<[string, number, string]>([
    ["no HTTP", 400, "hello\r\n\r\n"],
    ["an empty line first", 400, `\r\n${get("")}`],
    ["OPTIONS *", 400, get("").replace("GET /v1/pets", "OPTIONS *")],
    ["no Host", 400, "GET /v1/pets HTTP/1.1\r\n\r\n"],
    ["a header without a colon", 400, get("Broken\r\n")],
    ["chunks in HTTP/1.0", 400, sent(chunked, "0\r\n\r\n").replace("HTTP/1.1", "HTTP/1.0")],
    ["headers above 16 KiB", 431, get(`X: ${"a".repeat(16_384)}\r\n`)],
    ["a line above 16 KiB", 431, get("").replace("pets", `pets?x=${"a".repeat(16_384)}`)],
    ["199 headers", 431, get(headers(199))],
    ["HTTP/1.2", 505, get("").replace("HTTP/1.1", "HTTP/1.2")],
    ["HTTP/2.0", 505, get("").replace("HTTP/1.1", "HTTP/2.0")],
    ["a space in the path", 505, get("").replace("pets", "pe ts")],
    ["lines that end in LF", 505, get("").replaceAll("\r\n", "\n")],
    ["a method that HTTP does not define", 0, get("").replace("GET", "BREW")],
    ["a method in lower case", 0, get("").replace("GET", "get")],
  ])("%s: %d", async (_what, status, bytes) => {
    const answer = await raw(server.origin, bytes, 500);
    expect({ status: answer.status, isClosed: answer.isClosed }).toEqual({
      status,
      isClosed: true,
    });
    expect(answer.body).toBe("");
    expect(answer.headers.has("x-request-id")).toBe(false);
  });

  test("a connection of HTTP/1.0 ends after its response", async () => {
    const health = `GET /health HTTP/1.0\r\n${host}\r\nConnection: keep-alive\r\n\r\n`;
    const { headers: shown, isClosed } = await raw(server.origin, health, 500);
    expect({ keepAlive: shown.get("keep-alive"), isClosed }).toEqual({
      keepAlive: "timeout=75",
      isClosed: true,
    });
  });

  test("198 headers are served, and so is the same length twice", async () => {
    expect((await raw(server.origin, get(headers(198)), 100)).status).toBe(401);
    const twice = `Content-Length: ${body.length}\r\nContent-Length: ${body.length}`;
    expect((await raw(server.origin, sent(twice), 100)).status).toBe(401);
  });
});
