/** A line for each request of a valid key, counts of all others, and what no line ever says. */
import { describe, expect, test } from "bun:test";
import { parseCidr } from "../../src/domain/address.ts";
import { generateKey } from "../../src/domain/api-key.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { LogFormat, LogLevel } from "../../src/domain/log.ts";
import {
  seededBytes,
  testApp,
  TestClock,
  type TestApp,
  type TestAppOptions,
} from "../helpers/app.ts";
import { logFile } from "../helpers/log-file.ts";

type Line = Record<string, unknown>;

/** Runs `work` on an application that keeps a log, and returns the log's text. */
async function logged(
  work: (app: TestApp) => Promise<unknown>,
  options: TestAppOptions & { level?: LogLevel; format?: LogFormat } = {},
): Promise<string> {
  const clock = new TestClock();
  const { level = "info", format = "json" } = options;
  using file = logFile({ clock: clock.read, level, format });
  const { log } = file;
  await work(
    await testApp({ ...options, clock, app: { log, requestIdPrefix: "abcd", ...options.app } }),
  );
  await log.close();
  return file.text();
}

const parsed = (text: string) =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

async function lineOf(...request: Parameters<TestApp["send"]>): Promise<Line> {
  const lines = parsed(await logged((app) => app.send(...request)));
  expect(lines).toHaveLength(1);
  return lines[0] as Line;
}

test("an answered request leaves its whole story", async () => {
  const lines = parsed(
    await logged(async (app) => {
      const key = await app.key("pro");
      const [kept] = await app.services.keys.list();
      await app.send("/v1/pets?limit=5&secret=hunter2", { key });
      expect(kept?.plan).toBe("pro");
    }),
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

describe("requests without a valid key, and refusals, are counted by kind", () => {
  test.each<[string, string, RequestInit, string]>([
    ["401", "/v1/pets", {}, "no credential"],
    ["401 of a bad header", "/v1/pets", { headers: { authorization: "x" } }, "no bearer key"],
    ["404 elsewhere", "/nothing/here", {}, "not_found"],
    ["/health", "/health", {}, "probe"],
    ["/ready", "/ready", {}, "probe"],
    ["HEAD", "/health", { method: "HEAD" }, "probe"],
    ["a page", "/docs", {}, "page"],
  ])("%s", async (_what, path, init, kind) => {
    const line = await lineOf(path, init);
    expect(line).toMatchObject({ level: "info", message: "counts", counts: { [kind]: 1 } });
  });

  test("a preflight", async () => {
    const headers = { origin: "https://a.example", "access-control-request-method": "GET" };
    const lines = parsed(
      await logged((app) => app.send("/v1/pets", { method: "OPTIONS", headers }), {
        app: { corsOrigins: ["https://a.example"] },
      }),
    );
    expect(lines).toMatchObject([{ counts: { preflight: 1 } }]);
  });

  test.each(["revoked", "expired"])("401 of a %s key", async (why) => {
    const [line] = parsed(
      await logged(async (app) => {
        const { keys } = app.services;
        const { key, secret } = await keys.create({ name: "gone", plan: "pro" });
        if (why === "revoked") await keys.revoke(key.id);
        else await keys.rotate(key.id, 0);
        await app.send("/v1/pets", { key: secret });
      }),
    );
    expect(line).toMatchObject({ counts: { [why]: 1 } });
  });

  test("429, in the minute in which it was", async () => {
    const lines = parsed(
      await logged(async (app) => {
        const key = await app.key("enterprise", { perMinute: 1, perDay: 10 });
        for (let i = 0; i < 100; i += 1) await app.send("/v1/pets", { key });
        app.clock.advance(60_000);
        for (let i = 0; i < 25; i += 1) await app.send("/v1/pets");
      }),
    );
    expect(lines).toMatchObject([
      { status: 200 },
      { time: "2026-11-21T12:01:10.000Z", counts: { rate_limited: 99 } },
      { counts: { "no credential": 25 } },
    ]);
  });

  test("as text for people", async () => {
    const text = await logged((app) => app.send("/v1/pets"), { format: "text" });
    expect(text).toBe("2026-11-21T12:00:10.000Z info counts: no credential 1\n");
  });

  test("and no feature hears less of them", async () => {
    const seen: number[] = [];
    const onResponse = [({ status }: { status: number }) => void seen.push(status)];
    const work = async (app: TestApp) => {
      for (let i = 0; i < 30; i += 1) await app.send("/v1/pets");
    };
    await logged(work, { app: { onResponse } });
    expect(seen).toHaveLength(30);
  });
});

test("an IPv4 address is written as such, though the listener is on ::", async () => {
  const text = await logged(async (app) => {
    const key = await app.key("pro");
    const peers = { requestIP: () => ({ address: "::ffff:192.0.2.7" }), timeout: () => undefined };
    await app.handler(
      new Request("http://a/v1/pets", { headers: { authorization: `Bearer ${key}` } }),
      peers,
    );
  });
  expect(parsed(text)).toMatchObject([{ address: "192.0.2.7" }]);
});

describe("what fills no disk", () => {
  const address = (i: number) => `10.0.${i >> 8}.${i & 255}`;
  const peers = {
    requestIP: () => ({ address: "127.0.0.1" }),
    timeout: () => undefined,
  };
  const megabyte = 1_000_000;

  test("24,000 requests of strangers write at most 0.3 MB", async () => {
    const kinds: [string, { readonly method?: string; readonly authorization?: string }][] = [
      ["/health", {}],
      ["/docs", {}],
      ["/v1/pets", { method: "OPTIONS" }],
      ["/nothing", {}],
      ["/v1/pets", {}],
      ["/v1/pets/1", { authorization: "Bearer rehome_live_nonsense" }],
    ];
    const text = await logged(
      async ({ handler }) => {
        for (let i = 0; i < 24_000; i += 1) {
          const [path = "", { method = "GET", authorization = "" } = {}] =
            kinds[i % kinds.length] ?? [];
          const headers = { "x-forwarded-for": address(i), authorization };
          const request = new Request(`http://localhost${path}`, { method, headers });
          await (await handler(request, peers)).arrayBuffer();
        }
      },
      { app: { trustedProxies: [parseCidr("127.0.0.1")].filter((each) => each !== undefined) } },
    );
    expect(text.length).toBeLessThan(0.3 * megabyte);
    const counts = Object.values(parsed(text)[0]?.["counts"] as Record<string, number>);
    expect(counts.reduce((sum, each) => sum + each, 0)).toBe(24_000);
  });

  test("an outage with 10,000 unknown keys is a line a second, with what it leaves out", async () => {
    const clock = new TestClock();
    using file = logFile({ clock: clock.read });
    const { log } = file;
    const app = await testApp({
      clock,
      app: { log, report: (error) => log.failureOfMany(error) },
      service: { onError: (error) => log.failureOfMany(error) },
    });
    const lost = new AppError("unavailable", "The database cannot be reached.", {
      cause: new Error("connection refused"),
    });
    Object.assign(app.store.keys, { byHash: () => Promise.reject(lost) });
    const bytes = seededBytes(7);
    for (let i = 0; i < 10_000; i += 1) {
      const key = generateKey("production", bytes);
      expect((await app.send("/v1/pets", { key })).status).toBe(503);
      clock.advance(1);
    }
    await log.close();
    const text = file.text();
    expect(text.length).toBeLessThan(0.1 * megabyte);
    const errors = parsed(text).filter(({ level }) => level === "error");
    expect(errors.length).toBeLessThanOrEqual(11);
    const told =
      "The database cannot be reached: connection refused (999 more since the last line)";
    expect(errors[1]?.["message"]).toBe(told);
  });
});

describe("every answer to a valid key leaves a line, and carries the request's id", () => {
  const json = { "content-type": "application/json" };
  test.each<[string, string, RequestInit, Line]>([
    ["400", "/v1/pets?limit=0", {}, { status: 400, refused: "invalid_request" }],
    ["404", "/v1/pets/77", {}, { route: "/v1/pets/:petId", status: 404, refused: "not_found" }],
    ["405", "/v1/pets", { method: "DELETE" }, { status: 405, refused: "method_not_allowed" }],
    ["204", "/v1/pets", { method: "OPTIONS" }, { status: 204, bytes: 0 }],
    [
      "201",
      "/v1/pets",
      { method: "POST", body: '{"name":"Réx","categoryId":1}', headers: json },
      { route: "/v1/pets", status: 201, bytes: 37 },
    ],
  ])("%s with a key", async (_what, path, init, expected) => {
    let id: string | null = "";
    const [line] = parsed(
      await logged(async (app) => {
        const answer = await app.send(path, { ...init, key: await app.key() });
        id = answer.headers.get("x-request-id");
      }),
    );
    expect(line).toMatchObject({ ...expected, id: id ?? "none", plan: "business" });
  });

  test.each([
    ["503", new AppError("unavailable", "The store is away."), "unavailable"],
    ["500", new Error("secret of the driver"), "internal_error"],
  ])("%s is counted: its cause has the line", async (status, error, refused) => {
    const text = await logged(async (app) => {
      const key = await app.key();
      Object.assign(app.services.pets, { page: () => Promise.reject(error) });
      expect((await app.send("/v1/pets?limit=7", { key })).status).toBe(Number(status));
    });
    expect(parsed(text)).toMatchObject([{ level: "info", counts: { [refused]: 1 } }]);
    expect(text).not.toContain("secret of the driver");
  });
});

describe("the request's id", () => {
  const idFor = async (sent: string) => {
    const app = await testApp({ app: { requestIdPrefix: "abcd" } });
    const answer = await app.send("/health", { headers: { "x-request-id": sent } });
    return answer.headers.get("x-request-id");
  };
  test.each(["a", "trace-1.2_3", "x".repeat(64)])("%s is taken", async (sent) => {
    expect(await idFor(sent)).toBe(sent);
  });
  test.each(["", "x".repeat(65), "a b", 'a"b', "a,b", "<script>", "ü"])(
    "%p is replaced",
    async (sent) => {
      expect(await idFor(sent)).toBe("abcd-1");
    },
  );
});

describe("no secret reaches the log", () => {
  test.each<[string, LogFormat]>([
    ["json", "json"],
    ["text", "text"],
  ])("wherever a caller puts a key (%s)", async (_name, format) => {
    let secret = "";
    const text = await logged(
      async (app) => {
        secret = await app.key();
        const authorization = `Bearer ${secret}`;
        await app.send("/v1/pets", { key: secret });
        await app.send(`/v1/pets?access_token=${secret}`);
        await app.send(`/v1/pets?status=${secret}`, { key: secret });
        await app.send(`/v1/pets/${secret}`, { key: secret });
        await app.send(`/${secret}`, { key: secret });
        await app.send("/v1/pets", { headers: { authorization, "x-request-id": secret } });
        await app.send("/v1/pets", { headers: { authorization: secret, referer: secret } });
        await app.send("/v1/pets", { method: "POST", body: secret, key: secret });
      },
      { format },
    );
    expect(text.trimEnd().split("\n")).toHaveLength(6);
    expect(text).not.toContain(secret.slice("rehome_live_".length, -6));
  });
});

test.each<[LogLevel, number]>([
  ["info", 2],
  ["warn", 0],
  ["error", 0],
])("at the level %s requests leave %p lines", async (level, count) => {
  const requests = async (app: TestApp) => {
    await app.send("/v1/pets", { key: await app.key() });
    await app.send("/v1/pets");
  };
  expect(parsed(await logged(requests, { level }))).toHaveLength(count);
});

test("the text of a line is for people", async () => {
  const work = async (app: TestApp) => app.send("/v1/pets/x", { key: await app.key("pro") });
  const text = await logged(work, { format: "text" });
  expect(text).toMatch(
    /^2026-11-21T12:00:10\.000Z info GET \/v1\/pets\/:petId 404 \d+\.\d\dms \d+B key_\w+ \(pro\) - abcd-1 not_found No animal has this id\.\n$/,
  );
});
