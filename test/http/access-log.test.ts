/** A line for each request of a valid key, counts of all others, and what no line ever says. */
import { expect, test } from "bun:test";
import { parseCidr } from "../../src/domain/address.ts";
import { generateKey } from "../../src/domain/api-key.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { LogFormat, LogLevel } from "../../src/domain/log.ts";
import { peerAt, seededBytes, testApp, TestClock } from "../helpers/app.ts";
import type { TestApp, TestAppOptions } from "../helpers/app.ts";
import { logFile } from "../helpers/log-file.ts";

type Line = Record<string, unknown>;
type Work = (app: TestApp) => Promise<unknown>;
type Options = TestAppOptions & { level?: LogLevel; format?: LogFormat };

/** The log's text after `work` on an application that keeps one, down to its failures. */
async function textOf(work: Work, { level, format, ...options }: Options = {}): Promise<string> {
  const clock = new TestClock();
  using file = logFile(clock.read, format, level);
  const { log } = file;
  const onError = (error: unknown) => log.failureOfMany(error);
  const app = { log, requestIdPrefix: "abcd", report: onError, ...options.app };
  await work(await testApp({ clock, service: { onError }, ...options, app }));
  await log.close();
  return file.text();
}

const linesOf = async (...given: Parameters<typeof textOf>) =>
  (await textOf(...given))
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

test("an answered request leaves its whole story", async () => {
  const lines = await linesOf(async (app) =>
    app.send("/v1/pets?limit=5&secret=hunter2", { key: await app.key("pro") }),
  );
  expect(lines).toEqual([
    {
      time: "2026-11-21T12:00:10.000Z",
      level: "info",
      message: "request",
      id: "abcd-1",
      method: "GET",
      route: "/v1/pets",
      status: 200,
      durationUs: expect.any(Number),
      bytes: 2,
      keyId: expect.stringMatching(/^key_/),
      plan: "pro",
    },
  ]);
});

test("as text it is for people, and an IPv4 address is written as such", async () => {
  const text = await textOf(
    async ({ handler, key }) => {
      const headers = { authorization: `Bearer ${await key("pro")}` };
      await handler(new Request("http://a/v1/pets/x", { headers }), peerAt("::ffff:192.0.2.7"));
      await handler(new Request("http://a/v1/pets"), peerAt("::ffff:192.0.2.7"));
    },
    { format: "text" },
  );
  const [line, counts] = text.split("\n");
  expect(line).toMatch(
    /^2026-11-21T12:00:10\.000Z info GET \/v1\/pets\/:petId 404 \d+\.\d\dms \d+B key_\w+ \(pro\) 192\.0\.2\.7 abcd-1 not_found No animal has this id\.$/,
  );
  expect(counts).toBe("2026-11-21T12:00:10.000Z info counts: no credential 1");
});

const json = { "content-type": "application/json" };
const animal = { method: "POST", body: '{"name":"Réx","categoryId":1}', headers: json };
test.each<[string, RequestInit, Line]>([
  ["/v1/pets?limit=0", {}, { status: 400, refused: "invalid_request" }],
  ["/v1/pets/77", {}, { route: "/v1/pets/:petId", status: 404, refused: "not_found" }],
  ["/v1/pets", { method: "DELETE" }, { status: 405, refused: "method_not_allowed" }],
  ["/v1/pets", { method: "OPTIONS" }, { status: 204, bytes: 0 }],
  ["/v1/pets", animal, { route: "/v1/pets", status: 201, bytes: 37 }],
])(
  "%s with a valid key and %j leaves a line with the request's id",
  async (path, init, expected) => {
    let id: unknown;
    const lines = await linesOf(async (app) => {
      const answer = await app.send(path, { ...init, key: await app.key() });
      id = answer.headers.get("x-request-id");
    });
    expect(lines).toMatchObject([{ ...expected, id, plan: "business" }]);
  },
);

const origin = "https://a.example";
const preflight = { origin, "access-control-request-method": "GET" };
test.each<[string, string, RequestInit]>([
  ["no credential", "/v1/pets", {}],
  ["no bearer key", "/v1/pets", { headers: { authorization: "x" } }],
  ["not_found", "/nothing/here", {}],
  ["probe", "/health", {}],
  ["probe", "/ready", { method: "HEAD" }],
  ["page", "/docs", {}],
  ["preflight", "/v1/pets", { method: "OPTIONS", headers: preflight }],
])("without a key a request is counted as %s, at %s", async (kind, path, init) => {
  const lines = await linesOf((app) => app.send(path, init), { app: { corsOrigins: [origin] } });
  expect(lines).toMatchObject([{ level: "info", message: "counts", counts: { [kind]: 1 } }]);
});

test("keys that ended, 429 and failures are counted, in the minute in which they were", async () => {
  const seen: number[] = [];
  const onResponse = [({ status }: { status: number }) => void seen.push(status)];
  const text = await textOf(
    async (app) => {
      const { keys, pets } = app.services;
      const [one, two] = [await app.key("pro"), await app.key("pro")];
      const [first, second] = await keys.list();
      await keys.revoke(first?.id ?? "");
      await keys.rotate(second?.id ?? "", 0);
      for (const key of [one, two]) await app.send("/v1/pets", { key });
      const key = await app.key("enterprise", { perMinute: 2, perDay: 10 });
      for (const error of [new Error("secret"), new AppError("unavailable", "It is away.")]) {
        Object.assign(pets, { page: () => Promise.reject(error) });
        await app.send("/v1/pets?limit=7", { key });
      }
      for (let i = 0; i < 99; i += 1) await app.send("/v1/pets", { key });
      app.clock.advance(60_000);
      for (let i = 0; i < 25; i += 1) await app.send("/v1/pets");
    },
    { app: { onResponse, report: () => undefined } },
  );
  const counts = text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
  expect(counts).toMatchObject([
    {
      time: "2026-11-21T12:01:10.000Z",
      counts: { revoked: 1, expired: 1, internal_error: 1, unavailable: 1, rate_limited: 99 },
    },
    { counts: { "no credential": 25 } },
  ]);
  expect(text).not.toContain("secret");
  // No feature hears less of them.
  expect(seen).toHaveLength(2 + 2 + 99 + 25);
});

test("24,000 requests of strangers write at most 0.3 MB", async () => {
  const kinds: [string, { readonly method?: string; readonly authorization?: string }?][] = [
    ["/health"],
    ["/docs"],
    ["/v1/pets", { method: "OPTIONS" }],
    ["/nothing"],
    ["/v1/pets"],
    ["/v1/pets/1", { authorization: "Bearer rehome_live_nonsense" }],
  ];
  const text = await textOf(
    async ({ handler }) => {
      for (let i = 0; i < 24_000; i += 1) {
        const [path, { method = "GET", authorization = "" } = {}] = kinds[i % kinds.length]!;
        const headers = { "x-forwarded-for": `10.0.${i >> 8}.${i & 255}`, authorization };
        const request = new Request(`http://localhost${path}`, { method, headers });
        await (await handler(request, peerAt("127.0.0.1"))).arrayBuffer();
      }
    },
    { app: { trustedProxies: [parseCidr("127.0.0.1")!] } },
  );
  expect(text.length).toBeLessThan(300_000);
  const { counts } = JSON.parse(text.split("\n")[0] ?? "") as { counts: Record<string, number> };
  expect(Object.values(counts).reduce((sum, each) => sum + each, 0)).toBe(24_000);
});

test("an outage with 10,000 unknown keys writes at most 0.1 MB", async () => {
  const random = seededBytes(7);
  const text = await textOf(async ({ clock, send, store }) => {
    const lost = new AppError("unavailable", "The database cannot be reached.");
    Object.assign(store.keys, { byHash: () => Promise.reject(lost) });
    for (let i = 0; i < 10_000; i += 1) {
      expect((await send("/v1/pets", { key: generateKey("production", random) })).status).toBe(503);
      clock.advance(1);
    }
  });
  expect(text.length).toBeLessThan(100_000);
  expect(text).toContain('"message":"The database cannot be reached."');
  expect(text).toContain('"unavailable":10000}');
});

test.each([
  ...["a", "trace-1.2_3", "x".repeat(64)].map((id) => [id, id]),
  ...["", "x".repeat(65), "a b", 'a"b', "a,b", "<script>", "ü"].map((id) => [id, "abcd-1"]),
])("to the request's id %p it is answered with %p", async (sent = "", id) => {
  const app = await testApp({ app: { requestIdPrefix: "abcd" } });
  const answer = await app.send("/health", { headers: { "x-request-id": sent } });
  expect(answer.headers.get("x-request-id")).toBe(id ?? null);
});

test.each<LogFormat>(["json", "text"])(
  "no secret reaches the log as %s, wherever a caller puts it",
  async (format) => {
    let secret = "";
    const text = await textOf(
      async ({ key, send }) => {
        secret = await key();
        const authorization = `Bearer ${secret}`;
        await send("/v1/pets", { key: secret });
        await send(`/v1/pets?access_token=${secret}`);
        await send(`/v1/pets?status=${secret}`, { key: secret });
        await send(`/v1/pets/${secret}`, { key: secret });
        await send(`/${secret}`, { key: secret });
        await send("/v1/pets", { headers: { authorization, "x-request-id": secret } });
        await send("/v1/pets", { headers: { authorization: secret, referer: secret } });
        await send("/v1/pets", { method: "POST", body: secret, key: secret });
      },
      { format },
    );
    expect(text.trimEnd().split("\n")).toHaveLength(6);
    expect(text).not.toContain(secret.slice("rehome_live_".length, -6));
  },
);

test.each<LogLevel>(["warn", "error"])("at the level %s requests leave no line", async (level) => {
  const requests: Work = async ({ key, send }) => {
    await send("/v1/pets", { key: await key() });
    await send("/v1/pets");
  };
  expect(await textOf(requests, { level })).toBe("");
});
