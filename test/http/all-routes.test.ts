/** Refusals, once over all routes: no route answers without the guard, whatever is added later. */
import { describe, expect, test } from "bun:test";
import { features } from "../../src/features/index.ts";
import { testApp } from "../helpers/app.ts";

/** Declared outside /v1 on purpose: no key, no limits. */
const pages = features.some(({ name }) => name === "page") ? ["/", "/docs", "/docs/json"] : [];
const openRoutes = new Set(["/health", "/ready", ...pages]);
const limitHeaders = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

const pathOf = (template: string) => template.replace(/:\w+/g, "1");

const { routes } = (await testApp()).elysia;
const operations = routes.filter(({ path }) => path.startsWith("/v1/"));
const guarded = [
  ...operations.map(({ method, path }) => ({ method, path })),
  { method: "GET", path: "/v1" },
  { method: "GET", path: "/v1/some/where" },
];

test("every route is an operation's or on the list of open ones", () => {
  const others = routes.filter(
    (route) => !operations.includes(route) && !openRoutes.has(route.path),
  );
  expect(others.filter(({ path }) => !path.startsWith("/docs/"))).toEqual([]);
  expect(operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
    "GET /v1/pets",
    "GET /v1/pets/:petId",
    "POST /v1/pets",
  ]);
});

describe.each(guarded)("$method $path", ({ method, path }) => {
  const url = pathOf(path);

  test.each<[string, Record<string, string>]>([
    ["no credential", {}],
    ["another scheme", { authorization: "Basic dXNlcjpwYXNz" }],
    ["a malformed key", { authorization: "Bearer nonsense" }],
    [
      "an unknown key",
      { authorization: "Bearer rehome_live_000000000000000000000000000000000000" },
    ],
  ])("refuses %s with 401, the challenge and the address's numbers", async (_what, headers) => {
    const app = await testApp();
    const answer = await app.send(url, { method, headers });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toStartWith("Bearer");
    expect(answer.headers.get("x-ratelimit-limit")).toBe("300");
    expect(await answer.json()).toMatchObject({ code: "unauthorized", status: 401 });
  });

  test("says nothing of an invalid token where the header is empty", async () => {
    const app = await testApp();
    const answer = await app.send(url, { method, headers: { authorization: "" } });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  test("refuses an address that asks too often with 429", async () => {
    const app = await testApp({ service: { anonymousPerMinute: 2 } });
    await app.send(url, { method });
    await app.send(url, { method });
    const answer = await app.send(url, { method });
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("50");
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(answer.headers.has("www-authenticate")).toBe(false);
  });

  test("charges a valid key one request and shows three integers", async () => {
    const app = await testApp();
    const key = await app.key("free");
    for (let i = 1; i <= 60; i += 1) {
      const answer = await app.send(url, { method, key });
      expect(answer.status).not.toBe(429);
      for (const name of limitHeaders) expect(answer.headers.get(name)).toMatch(/^\d+$/);
      expect(answer.headers.get("x-ratelimit-remaining")).toBe(String(60 - i));
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
    const refused = await app.send(url, { method, key });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: "rate_limited", status: 429 });
    expect(refused.headers.get("retry-after")).toBe("50");
  });

  test("refuses a banned key, a revoked key and an expired key", async () => {
    const app = await testApp();
    const key = await app.key();
    const [{ id } = { id: "" }] = await app.services.keys.list();
    await app.services.keys.ban(id, 90_000);
    const banned = await app.send(url, { method, key });
    expect(banned.status).toBe(429);
    expect(banned.headers.get("retry-after")).toBe("90");
    expect(await banned.json()).toMatchObject({ code: "key_banned" });
    await app.services.keys.unban(id);
    expect((await app.send(url, { method, key })).status).not.toBe(429);
    await app.services.keys.revoke(id);
    expect((await app.send(url, { method, key })).status).toBe(401);

    const short = await app.key("free", { expiresInMs: 1_000 });
    expect((await app.send(url, { method, key: short })).status).not.toBe(401);
    app.clock.advance(1_000);
    expect((await app.send(url, { method, key: short })).status).toBe(401);
  });
});

test("from 5 December 2030 on getPet is gone: 404, and the message names what replaces it", async () => {
  const app = await testApp();
  const key = await app.key();
  await app.services.pets.create({ name: "Rex", categoryId: 1n });
  app.clock.nowMs = Date.UTC(2030, 11, 5) - 1;
  const last = await app.send("/v1/pets/1", { key });
  expect(last.status).toBe(200);
  expect(last.headers.get("deprecation")).toBe(`@${Date.UTC(2026, 10, 21) / 1000}`);
  expect(last.headers.get("sunset")).toBe("Thu, 05 Dec 2030 00:00:00 GMT");
  app.clock.advance(1);
  const answer = await app.send("/v1/pets/1", { key });
  expect(answer.status).toBe(404);
  expect(answer.headers.has("deprecation")).toBe(false);
  expect(((await answer.json()) as { message: string }).message).toContain("/v1/pets");
  for (const method of ["PUT", "OPTIONS"]) {
    const other = await app.send("/v1/pets/1", { method, key });
    expect(other.status).toBe(404);
    expect(other.headers.has("allow")).toBe(false);
  }
  expect((await app.send("/v1/pets", { method: "PUT", key })).status).toBe(405);
});

test("an open address takes GET and HEAD, and says so to whoever sends something else", async () => {
  const app = await testApp();
  for (const path of openRoutes) {
    const refused = await app.send(path, { method: "POST" });
    expect(refused.status).toBe(405);
    expect(refused.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect(await refused.json()).toMatchObject({ code: "method_not_allowed", status: 405 });
    const asked = await app.send(path, { method: "OPTIONS" });
    expect(asked.status).toBe(204);
    expect(asked.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect(asked.headers.has("content-type")).toBe(false);
    expect(await asked.text()).toBe("");
  }
  expect((await app.send("/health?x=/", { method: "POST" })).status).toBe(405);
  for (const path of ["/healthy", "/x/health", "/health/x"]) {
    const nowhere = await app.send(path, { method: "POST" });
    expect(nowhere.status).toBe(404);
    expect(await nowhere.json()).toMatchObject({ code: "not_found", status: 404 });
  }
});

// The router would look for the path behind so short a host in the wrong place.
const invalidHost = (path: string, headers: Record<string, string> = {}) =>
  new Request(`https://a${path}`, { headers });

test("an invalid Host is charged to the key, and refused over its limits", async () => {
  const app = await testApp({ service: { anonymousPerMinute: 2 } });
  const authorization = `bearer ${await app.key("free")}`;
  const ask = () => app.elysia.handle(invalidHost("/v1/pets?limit=1", { authorization }));
  for (let left = 59; left >= 0; left -= 1) {
    const { status, headers } = await ask();
    expect([status, headers.get("x-ratelimit-remaining")]).toEqual([400, `${left}`]);
  }
  expect((await ask()).status).toBe(429);
  expect((await app.send("/v1/pets")).headers.get("x-ratelimit-remaining")).toBe("1");
});

test("an invalid Host outside /v1 is neither counted nor limited", async () => {
  const app = await testApp({ service: { anonymousPerMinute: 2 } });
  for (const path of ["/health", "/", "/v1x", "/docs?/v1/", "/health"]) {
    const { status, headers } = await app.elysia.handle(invalidHost(path));
    expect([status, headers.get("cache-control")]).toEqual([400, "no-store"]);
    for (const name of limitHeaders) expect(headers.has(name)).toBe(false);
  }
  expect((await app.send("/v1/pets")).headers.get("x-ratelimit-remaining")).toBe("1");
});

test("an invalid Host without a key is charged to the address, and refused over its limit", async () => {
  const app = await testApp({ service: { anonymousPerMinute: 2 } });
  const ask = (path: string) => app.elysia.handle(invalidHost(path));
  const answers = [await ask("/v1"), await ask("/v1?limit=1"), await ask("/v1/pets")];
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 429]);
  expect(answers.map(({ headers }) => headers.get("x-ratelimit-remaining"))).toEqual([
    "1",
    "0",
    "0",
  ]);
  expect(answers[2]?.headers.get("retry-after")).toBe("50");
});

test.each([
  ["https://ab/v1/pets", 400],
  ["https://abc/v1/pets", 401],
  ["https://abc/health", 200],
])(
  "over TLS %s is answered with %d: the router cannot read a shorter host",
  async (url, status) => {
    const app = await testApp({ app: { isHttps: true } });
    expect((await app.elysia.handle(new Request(url))).status).toBe(status);
  },
);

test("an address with something more at its end is another one", async () => {
  const app = await testApp();
  const key = await app.key();
  for (const path of ["/v1/pets/", "/v1/pets/1/", "/v1/pets/1/x", "/health/"]) {
    for (const method of ["GET", "PUT"]) {
      expect([path, (await app.send(path, { method, key })).status]).toEqual([path, 404]);
    }
  }
});

test("nothing outside of /v1 that is no file is kept by a cache", async () => {
  const app = await testApp();
  const kept = async (path: string) => (await app.send(path)).headers.get("cache-control");
  for (const path of ["/health", "/ready", "/nothing"]) expect(await kept(path)).toBe("no-store");
});

describe("CORS", () => {
  const preflight = { origin: "https://a.example", "access-control-request-method": "POST" };

  test("is off by default", async () => {
    const answer = await (
      await testApp()
    ).send("/v1/pets", { method: "OPTIONS", headers: preflight });
    expect(answer.status).toBe(401);
    expect(answer.headers.has("access-control-allow-origin")).toBe(false);
  });

  test("answers a preflight without a key and exposes the limit headers, to the named origin only", async () => {
    const app = await testApp({ app: { corsOrigins: ["https://a.example"] } });
    const answer = await app.send("/v1/pets", { method: "OPTIONS", headers: preflight });
    expect(answer.status).toBe(204);
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://a.example");
    const allowed = answer.headers.get("access-control-allow-headers")?.split(", ");
    const tracing = ["traceparent", "tracestate", "baggage", "sentry-trace"];
    expect(allowed).toEqual(
      expect.arrayContaining(["Authorization", "Idempotency-Key", ...tracing]),
    );
    expect(answer.headers.get("access-control-allow-methods")).toBe("GET, HEAD, POST");
    expect(answer.headers.get("access-control-max-age")).toBe("600");
    const refused = await app.send("/v1/pets", { headers: { origin: "https://a.example" } });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("access-control-expose-headers")).toBe(
      "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Link, Location, Deprecation, Sunset, Idempotent-Replayed, X-Request-Id",
    );
    const other = await app.send("/v1/pets", { headers: { origin: "https://b.example" } });
    expect(other.headers.has("access-control-allow-origin")).toBe(false);
    expect(other.headers.get("vary")).toBe("Origin");
  });

  test("neither charges nor refuses a preflight of a named origin, and shows what the address has left", async () => {
    const app = await testApp({
      app: { corsOrigins: ["https://a.example"] },
      service: { anonymousPerMinute: 2 },
    });
    const ask = () => app.send("/v1/pets", { method: "OPTIONS", headers: preflight });
    await app.send("/v1/pets");
    for (let i = 0; i < 3; i += 1) {
      const answer = await ask();
      expect([answer.status, answer.headers.get("x-ratelimit-remaining")]).toEqual([204, "1"]);
    }
    await app.send("/v1/pets");
    expect((await app.send("/v1/pets")).status).toBe(429);
    expect((await ask()).status).toBe(204);
    const other = { ...preflight, origin: "https://b.example" };
    expect((await app.send("/v1/pets", { method: "OPTIONS", headers: other })).status).toBe(429);
  });

  test("does not refuse a preflight of an address that is not there, so that a page reads the 404", async () => {
    const app = await testApp({ app: { corsOrigins: ["https://a.example"] } });
    const key = await app.key();
    app.clock.nowMs = Date.UTC(2030, 11, 5);
    for (const path of ["/v1/pets/1", "/v1/nothing", "/v1", "/nothing"]) {
      const asked = await app.send(path, { method: "OPTIONS", headers: preflight });
      expect([path, asked.status, asked.headers.has("allow")]).toEqual([path, 204, false]);
      expect(asked.headers.get("access-control-allow-headers")).toContain("Authorization");
      const { origin } = preflight;
      const answer = await app.send(path, { headers: { origin }, key });
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    }
    const other = { ...preflight, origin: "https://b.example" };
    for (const [path, status] of [
      ["/v1/nothing", 401],
      ["/nothing", 404],
    ] as const) {
      const asked = await app.send(path, { method: "OPTIONS", headers: other });
      expect(asked.status).toBe(status);
    }
  });

  test("asks for a key what is no preflight, though it comes from a named origin", async () => {
    const app = await testApp({ app: { corsOrigins: ["https://a.example"] } });
    const { origin, ...asking } = preflight;
    for (const init of [
      { method: "OPTIONS", headers: { origin } },
      { method: "OPTIONS", headers: asking },
      { method: "GET", headers: preflight },
    ]) {
      const answer = await app.send("/v1/pets", init);
      expect(answer.status).toBe(401);
      expect(answer.headers.has("access-control-allow-methods")).toBe(false);
    }
  });

  test("is for every origin where the operator names *", async () => {
    const app = await testApp({ app: { corsOrigins: ["*"] } });
    const answer = await app.send("/v1/pets", { headers: { origin: "https://c.example" } });
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://c.example");
    // What only a preflight is told.
    expect(answer.headers.has("access-control-max-age")).toBe(false);
  });

  test("charges what looks like a preflight and carries a key to the key", async () => {
    const app = await testApp({ app: { corsOrigins: ["https://a.example"] } });
    const key = await app.key("free");
    const answer = await app.send("/v1/pets", { method: "OPTIONS", headers: preflight, key });
    expect(answer.status).toBe(204);
    expect(answer.headers.get("x-ratelimit-limit")).toBe("60");
    expect(answer.headers.get("access-control-allow-methods")).toBe("GET, HEAD, POST");
  });
});
