/**
 * Input that is wrong: each with its exact status and the Error body, and nothing stored by any of
 * it.
 */
import { describe, expect, test } from "bun:test";
import { type RunningBinary } from "../../test/helpers/binary.ts";
import { raw } from "../../test/helpers/raw.ts";
import { serveForAll } from "../../test/helpers/served-file.ts";

let server: RunningBinary;
let key: string;
serveForAll((running, ofServer) => ([server, key] = [running, ofServer]));

type Body = string | Uint8Array;

const codes: Record<number, string> = {
  400: "invalid_request",
  401: "unauthorized",
  404: "not_found",
  405: "method_not_allowed",
  413: "payload_too_large",
  415: "unsupported_media_type",
};

/**
 * Sends one bad request and checks status, Error body, limit headers; then that no animal came of
 * it.
 */
async function refused(path: string, init: RequestInit, status: number): Promise<Response> {
  const answer = await fetch(`${server.origin}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${key}`, ...(init.headers as Record<string, string>) },
  });
  const body = (await answer.json()) as Record<string, unknown>;
  expect(answer.status).toBe(status);
  expect(body).toEqual({
    code: codes[status],
    message: expect.stringMatching(/^[A-Z\w].*\.$/s),
    status,
  });
  expect(answer.headers.get("content-type")).toBe("application/json");
  for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
    expect(answer.headers.get(name)).toMatch(/^\d+$/);
  }
  const stored = await fetch(`${server.origin}/v1/pets`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(await stored.text()).toBe("[]");
  return answer;
}

/** The bytes of a pet whose name is empty. */
const emptyPetBytes = '{"name":"","categoryId":1}'.length;

const json = { "content-type": "application/json" };
const post = (body: Body, status: number, headers: Record<string, string> = json) =>
  refused("/v1/pets", { method: "POST", body, headers }, status);

describe("bodies", () => {
  test.each<[string, Body]>([
    ["two objects", '{"name":"a","categoryId":1}{"name":"b","categoryId":1}'],
    ["a comment", '{"name":"a","categoryId":1}//'],
    ["null", "null"],
    ["an empty object", "{}"],
    ["text as categoryId", '{"name":"a","categoryId":"5"}'],
    ["fields on the prototype only", '{"__proto__":{"name":"a","categoryId":1}}'],
    ["invalid UTF-8", new Uint8Array([0x7b, 0x22, 0x6e, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ["UTF-16", Buffer.from('{"name":"a","categoryId":1}', "utf16le")],
  ])("400 for %s", async (_what, body) => {
    await post(body, 400);
  });

  test.each([
    ["a form", "application/x-www-form-urlencoded"],
    ["multipart", "multipart/form-data; boundary=x"],
    ["a suffix", "application/vnd.api+json"],
    ["an empty type", ""],
  ])("415 for %s", async (_what, type) => {
    await post('{"name":"a","categoryId":1}', 415, { "content-type": type });
  });

  test("400, not 415, without a body and without a type", async () => {
    await post("", 400, {});
  });

  test.each([64 * 1024 + 1, 200_000, 2_000_000])("413 for %d bytes", async (length) => {
    await post(`{"name":"${"x".repeat(length - emptyPetBytes)}","categoryId":1}`, 413);
  });
});

describe("queries", () => {
  test.each([
    "limit=101",
    "limit",
    "limit=5&lim%69t=6",
    "limit=%FF",
    "status=",
    "status=AVAILABLE",
    "after=abc",
  ])("400 for ?%s", async (query) => {
    await refused(`/v1/pets?${query}`, {}, 400);
  });

  test.each(["limit=5&limit=5", "after=1&after=2&after=3", "status=sold%2Cpending"])(
    "says that a parameter has more than one value in ?%s",
    async (query) => {
      const answer = await fetch(`${server.origin}/v1/pets?${query}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const [name] = query.split("=");
      const message = `${name} may be given only once, with one value.`;
      expect(await answer.json()).toMatchObject({ message });
    },
  );

  test("ignores parameters that it does not know", async () => {
    const answer = await fetch(`${server.origin}/v1/pets?page=2&limit=5&offset=x&page=3`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(200);
  });
});

describe("paths and methods", () => {
  test.each(["abc", "1", "%31%30%30", "%00"])("404 for the id %s", async (id) => {
    await refused(`/v1/pets/${id}`, {}, 404);
  });

  test.each([
    "/v1",
    "/v1/",
    "/v1/pets/",
    "/v1/pets/1/photos",
    "/v1/Pets",
    "/v1//pets",
    "/v1/pets%2F1",
  ])("404 for %s", async (path) => {
    await refused(path, {}, 404);
  });

  test.each([
    ["PUT", "/v1/pets", "GET, HEAD, POST, OPTIONS"],
    ["PATCH", "/v1/pets", "GET, HEAD, POST, OPTIONS"],
    ["DELETE", "/v1/pets", "GET, HEAD, POST, OPTIONS"],
    ["POST", "/v1/pets/1", "GET, HEAD, OPTIONS"],
    ["PUT", "/v1/pets/1", "GET, HEAD, OPTIONS"],
    ["DELETE", "/v1/pets/1", "GET, HEAD, OPTIONS"],
    ["PATCH", "/v1/pets/abc", "GET, HEAD, OPTIONS"],
  ])("405 for %s %s, with Allow", async (method, path, allow) => {
    const answer = await refused(
      path,
      { method, body: '{"name":"a","categoryId":1}', headers: json },
      405,
    );
    expect(answer.headers.get("allow")).toBe(allow);
  });

  test.each(["TRACE", "PROPFIND", "QUERY"])(
    "no body and no server error for %s",
    async (method) => {
      const head = `${method} /v1/pets HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`;
      const answer = await raw(server.origin, `${head}Authorization: Bearer ${key}\r\n\r\n`);
      // Bun closes the connection of a method that it does not know; one that it knows is refused
      // by us.
      expect([0, 400, 405, 501]).toContain(answer.status);
    },
  );
});

test.each<[string, (key: string) => string]>([
  ["no space", (valid) => `Bearer${valid}`],
  ["another character for the space", (valid) => `Bearer_${valid}`],
  ["a tab for the space", (valid) => `Bearer\t${valid}`],
  ["another scheme that ends alike", (valid) => `XBearer ${valid}`],
  ["quotes around it", (valid) => `Bearer "${valid}"`],
  ["something behind it", (valid) => `Bearer ${valid} x`],
])("401 for a valid key with %s", async (_what, written) => {
  await refused("/v1/pets", { headers: { authorization: written(key) } }, 401);
});
