/** What answers say beside what the table of the API sees. */
import { expect, test } from "bun:test";
import { parseCidr } from "../../src/domain/address.ts";
import { AppError } from "../../src/domain/errors.ts";
import { listen } from "../../src/http/server.ts";
import { peerAt, testApp, type TestAppOptions } from "../helpers/app.ts";
import { raw } from "../helpers/raw.ts";

const json = { "content-type": "application/json" };

/** An application with two animals, and a key. */
async function twoAnimals(app: TestAppOptions["app"] = {}) {
  const made = await testApp({ app });
  for (const name of ["Rex", "Mia"]) await made.services.pets.create({ name, categoryId: 1n });
  return { ...made, secret: await made.key("business") };
}

test("answers that are made at the same time keep their own headers", async () => {
  const { send, key, secret } = await twoAnimals();
  const free = await key("free");
  const post = { method: "POST", body: '{"name":"Kim","categoryId":2}', headers: json };
  const kinds = [
    { path: "/v1/pets?limit=1", status: 200, key: secret },
    { path: "/v1/pets/1", status: 200, key: secret },
    { path: "/v1/pets/999", status: 404, key: secret },
    { path: "/v1/pets?status=lost", status: 400, key: secret },
    { path: "/v1/pets", status: 401, key: "nobody" },
    { path: "/v1/pets", status: 201, key: secret, ...post },
    { path: "/v1/nothing", status: 404, key: free },
    { path: "/health", status: 200 },
    { path: "/nothing", status: 404 },
  ] as const;
  const asked = Array.from({ length: 450 }, async (_, position) => {
    const { path, status, ...init } = kinds[position % kinds.length] as (typeof kinds)[number];
    const headers = { ...("headers" in init && init.headers), "x-request-id": `r${position}` };
    const { headers: got, ...answer } = await send(path, { ...init, headers }).then((sent) => ({
      status: sent.status,
      headers: sent.headers,
    }));
    const isDeprecated = path.startsWith("/v1/pets/");
    expect([path, answer.status, got.get("x-request-id")]).toEqual([path, status, `r${position}`]);
    expect({
      link: got.has("link"),
      deprecation: got.has("deprecation"),
      challenge: got.has("www-authenticate"),
      limit: got.has("x-ratelimit-limit"),
    }).toEqual({
      link: isDeprecated || path === "/v1/pets?limit=1",
      deprecation: isDeprecated,
      challenge: status === 401,
      limit: path.startsWith("/v1"),
    });
    return `${got.get("x-ratelimit-limit")}: ${got.get("x-ratelimit-remaining")}`;
  });
  const shown = new Set(await Promise.all(asked));
  const limits = ["1000: ", "60: ", "300: ", "null: null"];
  const counts = limits.map((limit) => [...shown].filter((each) => each.startsWith(limit)).length);
  // Of the business key, the free one and the address: each number once. Nobody's limits are shown
  // outside of /v1.
  expect(counts).toEqual([250, 50, 50, 1]);
});

const proxied = "https://pets.example.org/v1";
const inner = "http://inner:8080/v1";
const proto = { "x-forwarded-proto": "https" };
test.each<[string, Record<string, string>, string?, string?]>([
  ["https://inner:8080/v1", proto],
  [proxied, { ...proto, "x-forwarded-host": "pets.example.org" }],
  ["http://pets.example.org:81/v1", { "x-forwarded-host": "pets.example.org:81" }],
  // What a client sent stands before what the proxy knows.
  ["http://own.example/v1", { "x-forwarded-host": "evil.example, own.example" }],
  // RFC 7239's header is never read.
  [inner, { forwarded: "host=evil.example;proto=https" }],
  [inner, { "x-forwarded-proto": "javascript", "x-forwarded-host": "a b" }],
  [inner, { "x-forwarded-host": 'evil.example/"><' }],
  [inner, {}],
  // Nobody else tells where the service is, and --base-url says it best.
  [inner, { ...proto, "x-forwarded-host": "evil.example" }, "192.0.2.1"],
  ["https://a.example/api/v1", { "x-forwarded-host": "b" }, "10.0.0.1", "https://a.example/api/v1"],
])("links begin with %s for %j", async (base, headers, peer = "10.0.0.1", baseUrl) => {
  const trustedProxies = [parseCidr("10.0.0.0/8")!];
  const { handler, secret } = await twoAnimals({ trustedProxies, baseUrl });
  const linkOf = async (path: string) => {
    const init = { headers: { authorization: `Bearer ${secret}`, ...headers } };
    const request = new Request(`http://inner:8080/v1${path}`, init);
    return (await handler(request, peerAt(peer))).headers.get("link");
  };
  expect(await linkOf("/pets?limit=1")).toBe(`<${base}/pets?limit=1&after=1>; rel="next"`);
  expect(await linkOf("/pets/1")).toBe(`<${base}/pets>; rel="successor-version"`);
});

test("an HTTP/1.0 request needs no Host, and its links have the server's address", async () => {
  const { handler, secret } = await twoAnimals();
  const server = listen(handler, { host: "127.0.0.1", port: 0, reusePort: false });
  const ask = async (version: string, more = "") => {
    const head = `GET /v1/pets?limit=1 HTTP/${version}\r\nAuthorization: Bearer ${secret}\r\n`;
    return raw(server.url.href, `${head}${more}\r\n`, 50);
  };
  const { status, headers } = await ask("1.0");
  expect(status).toBe(200);
  expect(headers.get("link")).toStartWith(`<http://127.0.0.1:${server.port}/v1/pets?limit=1`);
  expect((await ask("1.0", "Host:\r\n")).status).toBe(400);
  expect((await ask("1.1")).status).toBe(400);
  await server.stop(100);
});

test.each([{}, { "idempotency-key": "a" }])(
  "an animal that is added with %j says when, and by which key",
  async (more) => {
    const { clock, key, send, services, store } = await testApp();
    const body = '{"name":"Rex","categoryId":1}';
    await send("/v1/pets", {
      method: "POST",
      key: await key(),
      body,
      headers: { ...json, ...more },
    });
    const [made] = await services.keys.list();
    const [added] = await store.db.read((tx) => tx.select().from(tx.t.pets));
    expect(added).toMatchObject({ createdAtMs: clock.nowMs, createdBy: made?.id });
  },
);

test.each([
  ["a failure that a retry may mend", new AppError("unavailable", "The store is away."), "1", true],
  ["an unknown failure", new Error("unknown"), null, true],
  ["a request that ended early", new AppError("invalid_request", "It ended."), null, false],
])("%s: its Retry-After, and what the operator is told", async (_what, error, seconds, isTold) => {
  const app = await testApp();
  const key = await app.key();
  Object.assign(app.services.pets, { page: () => Promise.reject(error) });
  const { headers } = await app.send("/v1/pets?limit=7", { key });
  expect(headers.get("Retry-After")).toBe(seconds);
  expect(app.reported).toEqual(isTold ? [error] : []);
});

test("who is not ready names the check that failed", async () => {
  const { send, services } = await testApp();
  services.check = async () =>
    ["catalogue", "limits", "disk"].map((name) => ({
      name,
      ok: name !== "limits",
      detail: "full",
    }));
  const answer = await send("/ready");
  const message = "Not ready. limits: full.";
  expect(await answer.json()).toEqual({ code: "unavailable", message, status: 503 });
});
