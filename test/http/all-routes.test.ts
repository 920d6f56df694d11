/** Refusals, once over all routes: no route answers without the guard, whatever is added later. */
import { describe, expect, test } from "bun:test";
import { testApp } from "../helpers/app.ts";

/** Declared outside /v1 on purpose: no key, no limits. */
const openRoutes = new Set(["/health", "/ready", "/docs", "/docs/json"]);
const limitHeaders = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
const { routes } = (await testApp()).elysia;
const operations = routes.filter(({ path }) => path.startsWith("/v1/"));
const guarded = [
  ...operations,
  ...["/v1", "/v1/some/where"].map((path) => ({ method: "GET", path })),
];
const remaining = ({ headers }: Response) => headers.get("x-ratelimit-remaining");

test("every route is an operation's or on the list of open ones", () => {
  const others = routes.filter((route) => !operations.includes(route));
  const closed = others.map(({ path }) => path).filter((path) => !openRoutes.has(path));
  expect(closed.filter((path) => path !== "/" && !path.startsWith("/docs/"))).toEqual([]);
  expect(operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
    "GET /v1/pets",
    "GET /v1/pets/:petId",
    "POST /v1/pets",
  ]);
});

test.each(guarded.map(({ method, path }) => [method, path.replace(/:\w+/g, "1")] as const))(
  "%s %s answers nobody without a key, and charges each request of one",
  async (method, url) => {
    const app = await testApp({ service: { anonymousPerMinute: 2 } });
    for (const [key, challenge] of [
      [undefined, "Bearer"],
      [`rehome_live_${"0".repeat(36)}`, 'Bearer error="invalid_token"'],
    ] as const) {
      const answer = await app.send(url, { method, key });
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, challenge]);
      expect(answer.headers.get("x-ratelimit-limit")).toBe("2");
    }
    const key = await app.key("enterprise", { perMinute: 2, perDay: 9 });
    for (const left of ["1", "0"]) {
      const answer = await app.send(url, { method, key });
      expect([401, 429]).not.toContain(answer.status);
      expect(remaining(answer)).toBe(left);
    }
    for (const [secret, limit] of [
      [undefined, "2"],
      [key, "2"],
    ] as const) {
      const { headers, status } = await app.send(url, { method, key: secret });
      const shown = [...limitHeaders.slice(0, 2), "retry-after"].map((name) => headers.get(name));
      expect([status, ...shown]).toEqual([429, limit, "0", "50"]);
      expect(headers.has("www-authenticate")).toBe(false);
    }
  },
);

test("from 5 December 2030 on getPet is gone: 404, and the message names what replaces it", async () => {
  const app = await testApp();
  const key = await app.key();
  await app.services.pets.create({ name: "Rex", categoryId: 1n });
  app.clock.nowMs = Date.UTC(2030, 11, 5) - 1;
  const last = await app.send("/v1/pets/1", { key });
  expect([last.status, last.headers.get("deprecation"), last.headers.get("sunset")]).toEqual([
    200,
    `@${Date.UTC(2026, 10, 21) / 1000}`,
    "Thu, 05 Dec 2030 00:00:00 GMT",
  ]);
  app.clock.advance(1);
  for (const method of ["GET", "PUT", "OPTIONS"]) {
    const answer = await app.send("/v1/pets/1", { method, key });
    expect(answer.status).toBe(404);
    for (const name of ["allow", "deprecation"]) expect(answer.headers.has(name)).toBe(false);
    if (method === "GET") expect(await answer.text()).toContain("/v1/pets");
  }
  expect((await app.send("/v1/pets", { method: "PUT", key })).status).toBe(405);
});

test("an invalid Host is charged to the key or the address, refused over its limits, and limited under /v1 only", async () => {
  const app = await testApp({ service: { anonymousPerMinute: 2 } });
  const key = `bearer ${await app.key("enterprise", { perMinute: 2, perDay: 2 })}`;
  const ask = async (path: string, authorization = "") => {
    // The router would look for the path behind so short a host in the wrong place.
    const request = new Request(`https://a${path}`, { headers: { authorization } });
    const answer = await app.elysia.handle(request);
    return [answer.status, remaining(answer)];
  };
  for (const path of ["/health", "/", "/v1x", "/docs?/v1/"]) {
    expect(await ask(path)).toEqual([400, null]);
  }
  for (const given of [undefined, key]) {
    expect(await ask("/v1?limit=1", given)).toEqual([400, "1"]);
    expect(await ask("/v1/pets", given)).toEqual([400, "0"]);
    expect(await ask("/v1/pets", given)).toEqual([429, "0"]);
  }
});

describe("CORS", () => {
  const origin = "https://a.example";
  const preflight = { origin, "access-control-request-method": "POST" };
  const other = { ...preflight, origin: "https://b.example" };
  const cors = (more = {}) => testApp({ app: { corsOrigins: [origin] }, ...more });
  const allowed = ({ headers }: Response) => headers.get("access-control-allow-origin");
  const asking = (headers: Record<string, string>, key?: string) => ({
    method: "OPTIONS",
    headers,
    key,
  });

  test("is off by default", async () => {
    const answer = await (await testApp()).send("/v1/pets", asking(preflight));
    expect([answer.status, allowed(answer)]).toEqual([401, null]);
  });

  test("answers a preflight without a key and exposes the limit headers, to the named origin only", async () => {
    const app = await cors();
    const answer = await app.send("/v1/pets", asking(preflight));
    expect([answer.status, allowed(answer)]).toEqual([204, origin]);
    const names = answer.headers.get("access-control-allow-headers")?.split(", ");
    const tracing = ["traceparent", "tracestate", "baggage", "sentry-trace"];
    expect(names).toEqual(expect.arrayContaining(["Authorization", "Idempotency-Key", ...tracing]));
    expect(answer.headers.get("access-control-allow-methods")).toBe("GET, HEAD, POST");
    expect(answer.headers.get("access-control-max-age")).toBe("600");
    const refused = await app.send("/v1/pets", { headers: { origin } });
    expect(refused.headers.get("access-control-expose-headers")).toBe(
      "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Link, Location, Deprecation, Sunset, Idempotent-Replayed, X-Request-Id",
    );
    const stranger = await app.send("/v1/pets", { headers: { origin: other.origin } });
    expect([allowed(stranger), stranger.headers.get("vary")]).toEqual([null, "Origin"]);
  });

  test("neither charges nor refuses a preflight of a named origin, and shows what the address has left", async () => {
    const app = await cors({ service: { anonymousPerMinute: 2 } });
    for (const [init, status, left] of [
      [{}, 401, "1"],
      [asking(preflight), 204, "1"],
      [asking(preflight), 204, "1"],
      [{}, 401, "0"],
      [{}, 429, "0"],
      [asking(preflight), 204, "0"],
      [asking(other), 429, "0"],
    ] as const) {
      const answer = await app.send("/v1/pets", init);
      expect([answer.status, remaining(answer)]).toEqual([status, left]);
    }
  });

  test("does not refuse a preflight of an address that is not there, so that a page reads the 404", async () => {
    const app = await cors();
    const key = await app.key();
    app.clock.nowMs = Date.UTC(2030, 11, 5);
    for (const path of ["/v1/pets/1", "/v1/nothing", "/v1", "/nothing"]) {
      const asked = await app.send(path, asking(preflight));
      expect([path, asked.status, asked.headers.has("allow")]).toEqual([path, 204, false]);
      expect(asked.headers.get("access-control-allow-headers")).toContain("Authorization");
      const answer = await app.send(path, { headers: { origin }, key });
      expect([path, answer.status, allowed(answer)]).toEqual([path, 404, origin]);
    }
    expect((await app.send("/v1/nothing", asking(other))).status).toBe(401);
    expect((await app.send("/nothing", asking(other))).status).toBe(404);
  });

  test("asks for a key what is no preflight, and charges to its key what carries one", async () => {
    const app = await cors();
    const method = { "access-control-request-method": "POST" };
    for (const init of [asking({ origin }), asking(method), { headers: preflight }]) {
      const answer = await app.send("/v1/pets", init);
      expect(answer.status).toBe(401);
      expect(answer.headers.has("access-control-allow-methods")).toBe(false);
    }
    const charged = await app.send("/v1/pets", asking(preflight, await app.key("free")));
    expect([charged.status, charged.headers.get("x-ratelimit-limit")]).toEqual([204, "60"]);
    expect(charged.headers.get("access-control-allow-methods")).toBe("GET, HEAD, POST");
  });

  test("is for every origin where the operator names *", async () => {
    const app = await testApp({ app: { corsOrigins: ["*"] } });
    const answer = await app.send("/v1/pets", { headers: { origin } });
    expect(allowed(answer)).toBe(origin);
    // What only a preflight is told.
    expect(answer.headers.has("access-control-max-age")).toBe(false);
  });
});
