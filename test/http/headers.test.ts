import { describe, expect, test } from "bun:test";
import { parseCidr } from "../../src/domain/address.ts";
import { listen } from "../../src/http/server.ts";
import { testApp } from "../helpers/app.ts";
import { raw } from "../helpers/raw.ts";

test("answers that are made at the same time keep their own headers", async () => {
  const { send, key, services } = await testApp();
  const secrets = { business: await key("business"), free: await key("free") };
  await services.pets.create({ name: "Rex", categoryId: 1n, status: "available" });
  await services.pets.create({ name: "Tom", categoryId: 1n, status: "sold" });
  const body = JSON.stringify({ name: "Kim", categoryId: 2, status: "pending" });
  const post = { method: "POST", body, headers: { "content-type": "application/json" } };
  const kinds = [
    { path: "/v1/pets?limit=1", status: 200, key: secrets.business },
    { path: "/v1/pets/1", status: 200, key: secrets.business },
    { path: "/v1/pets/999", status: 404, key: secrets.business },
    { path: "/v1/pets?status=lost", status: 400, key: secrets.business },
    { path: "/v1/pets", status: 401, key: "nobody" },
    { path: "/v1/pets", status: 201, key: secrets.business, ...post },
    { path: "/v1/nothing", status: 404, key: secrets.free },
    { path: "/health", status: 200 },
    { path: "/nothing", status: 404 },
  ] as const;
  const asked = Array.from({ length: 450 }, async (_, position) => {
    const { path, status, ...init } = kinds[position % kinds.length] as (typeof kinds)[number];
    const headers = { ...("headers" in init && init.headers), "x-request-id": `r${position}` };
    return { position, path, status, answer: await send(path, { ...init, headers }) };
  });
  const remaining = new Map<string, string[]>();
  for (const { position, path, status, answer } of await Promise.all(asked)) {
    expect(answer.headers.get("x-request-id")).toBe(`r${position}`);
    expect([path, answer.status]).toEqual([path, status]);
    const isDeprecated = path.startsWith("/v1/pets/");
    expect(answer.headers.has("link")).toBe(isDeprecated || path === "/v1/pets?limit=1");
    expect(answer.headers.has("deprecation")).toBe(isDeprecated);
    expect(answer.headers.has("www-authenticate")).toBe(status === 401);
    expect(answer.headers.has("x-ratelimit-limit")).toBe(path.startsWith("/v1"));
    const limit = answer.headers.get("x-ratelimit-limit") ?? "none";
    remaining.set(limit, [
      ...(remaining.get(limit) ?? []),
      answer.headers.get("x-ratelimit-remaining") ?? "none",
    ]);
  }
  const different = [...remaining].map(([limit, numbers]) => [limit, new Set(numbers).size]);
  // Of the business key, the free one and the address: each number once. Nobody's limits are shown
  // outside of /v1.
  expect(Object.fromEntries(different)).toEqual({ "1000": 250, "60": 50, "300": 50, none: 1 });
});

test.each([
  [undefined, "http://localhost/v1"],
  ["https://pets.example.org/api/v1", "https://pets.example.org/api/v1"],
])("with the base address %s links begin with %s", async (baseUrl, base) => {
  const { send, key, services } = await testApp({ app: { baseUrl } });
  const secret = await key();
  for (const name of ["Rex", "Mia"]) await services.pets.create({ name, categoryId: 1n });
  const linkOf = async (path: string) => (await send(path, { key: secret })).headers.get("link");
  expect(await linkOf("/v1/pets?limit=1")).toBe(`<${base}/pets?limit=1&after=1>; rel="next"`);
  expect(await linkOf("/v1/pets/1")).toBe(`<${base}/pets>; rel="successor-version"`);
});

describe("a create", () => {
  test("says where the animal is", async () => {
    const { send, key } = await testApp();
    const headers = { "content-type": "application/json", "idempotency-key": "a" };
    const init = {
      method: "POST",
      key: await key(),
      body: '{"name":"Rex","categoryId":1}',
      headers,
    };
    for (let i = 0; i < 2; i += 1) {
      const { headers: got, status } = await send("/v1/pets", init);
      expect([status, got.get("location")]).toEqual([201, "http://localhost/v1/pets/1"]);
    }
  });
});

describe("behind a proxy", () => {
  const linkFor = async (
    headers: Record<string, string>,
    { peer = "10.0.0.1", baseUrl }: { peer?: string; baseUrl?: string } = {},
  ) => {
    const trustedProxies = [parseCidr("10.0.0.0/8")!];
    const { handler, key, services } = await testApp({ app: { trustedProxies, baseUrl } });
    for (const name of ["Rex", "Mia"]) await services.pets.create({ name, categoryId: 1n });
    const peers = { requestIP: () => ({ address: peer }), timeout: () => undefined };
    const init = { headers: { authorization: `Bearer ${await key()}`, ...headers } };
    const answer = await handler(new Request("http://inner:8080/v1/pets?limit=1", init), peers);
    return answer.headers.get("link")?.split("/pets?")[0]?.slice(1);
  };

  test.each<[string, Record<string, string>]>([
    ["https://inner:8080/v1", { "x-forwarded-proto": "https" }],
    [
      "https://pets.example.org/v1",
      { "x-forwarded-proto": "https", "x-forwarded-host": "pets.example.org" },
    ],
    ["http://pets.example.org:81/v1", { "x-forwarded-host": "pets.example.org:81" }],
    // What a client sent stands before what the proxy knows.
    ["http://own.example/v1", { "x-forwarded-host": "evil.example, own.example" }],
    // RFC 7239's header is never read.
    ["http://inner:8080/v1", { forwarded: "host=evil.example;proto=https" }],
    ["http://inner:8080/v1", { "x-forwarded-proto": "javascript", "x-forwarded-host": "a b" }],
    ["http://inner:8080/v1", { "x-forwarded-host": 'evil.example/"><' }],
    ["http://inner:8080/v1", {}],
  ])("links begin with %s for %j", async (base, headers) => {
    expect(await linkFor(headers)).toBe(base);
  });

  test("nobody else tells where the service is, and --base-url says it best", async () => {
    const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "evil.example" };
    expect(await linkFor(headers, { peer: "192.0.2.1" })).toBe("http://inner:8080/v1");
    const baseUrl = "https://pets.example.org/api/v1";
    expect(await linkFor(headers, { baseUrl })).toBe(baseUrl);
  });
});

test("a path is exact, as it was sent", async () => {
  const { send, key, services } = await testApp();
  const secret = await key();
  await services.pets.create({ name: "Rex", categoryId: 1n });
  for (const path of ["/v1/p%65ts", "/v1/%70ets?limit=1", "/v1%2Fpets", "/v1/pets%2f1"]) {
    expect([path, (await send(path, { key: secret })).status]).toEqual([path, 404]);
  }
  // An id is a value and no part of the path.
  expect((await send("/v1/pets/%31", { key: secret })).status).toBe(200);
});

test("an HTTP/1.0 request needs no Host, and its links have the server's address", async () => {
  const { handler, key, services } = await testApp();
  for (const name of ["Rex", "Mia"]) await services.pets.create({ name, categoryId: 1n });
  const server = listen(handler, { host: "127.0.0.1", port: 0, reusePort: false });
  const authorization = `Authorization: Bearer ${await key()}\r\n`;
  const ask = async (version: string, more = "") =>
    raw(server.url.href, `GET /v1/pets?limit=1 HTTP/${version}\r\n${authorization}${more}\r\n`, 50);
  const { status, headers } = await ask("1.0");
  expect(status).toBe(200);
  expect(headers.get("link")).toStartWith(`<http://127.0.0.1:${server.port}/v1/pets?limit=1`);
  expect((await ask("1.0", "Host:\r\n")).status).toBe(400);
  expect((await ask("1.1")).status).toBe(400);
  await server.stop(100);
});
