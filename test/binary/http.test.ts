/** HTTP/1.1 as clients and proxies rely on it, byte by byte. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makeKey, roomy, serve, temporaryFolder, type RunningBinary } from "../helpers/binary.ts";
import { raw } from "../helpers/raw.ts";

const folder = temporaryFolder();
let server: RunningBinary;
let key: string;

beforeAll(async () => {
  server = await serve(folder.path, ["--anonymous-per-minute", "100000"]);
  ({ key } = await makeKey(folder.path, ...roomy));
});
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

const body = '{"name":"Rex","categoryId":1}';
const post = (more: string) =>
  `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${more}\r\n`;

describe("a client that waits before it sends the body", () => {
  test("is told at once to go on", async () => {
    const { text } = await raw(server.origin, post("Expect: 100-continue\r\n"), 100);
    expect(text).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  });

  test.each(["100-Continue", "100-CONTINUE", "200-ok"])(
    "and spells it %s is told at once how to ask",
    async (expectation) => {
      const answer = await raw(server.origin, post(`Expect: ${expectation}\r\n`), 100, 2_000);
      expect(answer.status).toBe(400);
      expect(answer.body).toContain("100-continue in lower case");
    },
  );

  test("is refused at once without a key", async () => {
    const bytes = post("Expect: 100-Continue\r\n").replace(key, "nobody");
    expect((await raw(server.origin, bytes, 100, 2_000)).status).toBe(401);
  });
});

describe("the Host header", () => {
  test.each([
    ["two different ones", "Host: a.example\r\nHost: b.example"],
    ["the same one twice", "Host: a.example\r\nHost: a.example"],
  ])("%s get 400", async (_what, hosts) => {
    for (const path of ["/v1/pets", "/health", "/docs/json"]) {
      const answer = await raw(server.origin, `GET ${path} HTTP/1.1\r\n${hosts}\r\n\r\n`, 100);
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body)).toMatchObject({ code: "invalid_request", status: 400 });
    }
  });
});

test("every answer says how long its connection stays open", async () => {
  for (const path of ["/v1/pets", "/health", "/nothing"]) {
    const answer = await fetch(`${server.origin}${path}`);
    await answer.text();
    expect(answer.headers.get("keep-alive")).toBe("timeout=75");
  }
});
