/** One line a request, whatever becomes of it: what it says, and what it never says. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { features } from "../../src/features/index.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { LogFormat, LogLevel } from "../../src/domain/log.ts";
import { Logger } from "../../src/service/log.ts";
import { testApp, TestClock, type TestApp, type TestAppOptions } from "../helpers/app.ts";
import { temporaryFolder } from "../helpers/binary.ts";

type Line = Record<string, unknown>;

/** Runs `work` on an application that keeps a log, and returns the log's text. */
async function logged(
  work: (app: TestApp) => Promise<unknown>,
  options: TestAppOptions & { level?: LogLevel; format?: LogFormat } = {},
): Promise<string> {
  using folder = temporaryFolder();
  const path = join(folder.path, "log");
  const clock = new TestClock();
  const log = new Logger({
    path,
    level: options.level ?? "info",
    format: options.format ?? "json",
    clock: clock.read,
    onProblem: (error) => {
      throw error;
    },
  });
  await work(
    await testApp({ ...options, clock, app: { log, requestIdPrefix: "abcd", ...options.app } }),
  );
  await log.close();
  return readFileSync(path, "utf8");
}

const parsed = (text: string) =>
  text
    .trimEnd()
    .split("\n")
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

/** A page of a feature, which leaves a line like everything else. */
const pages: [string, string, RequestInit, Line][] = features.some(({ name }) => name === "page")
  ? [["/docs", "/docs", {}, { route: "/docs", status: 200 }]]
  : [];

describe("every answer leaves a line, and carries the request's id", () => {
  const json = { "content-type": "application/json" };
  test.each<[string, string, RequestInit, Line]>([
    ["401", "/v1/pets", {}, { status: 401, refused: "unauthorized", why: "no credential" }],
    ["404 elsewhere", "/nothing/here", {}, { status: 404, refused: "not_found" }],
    ["/health", "/health", {}, { route: "/health", status: 200, bytes: 15 }],
    ...pages,
    ["HEAD", "/health", { method: "HEAD" }, { method: "HEAD", status: 200, bytes: 0 }],
  ])("%s", async (_what, path, init, expected) => {
    expect(await lineOf(path, init)).toMatchObject(expected);
  });

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

  test.each(["revoked", "expired"])("401 of a %s key names the key", async (why) => {
    let id = "";
    const [line] = parsed(
      await logged(async (app) => {
        const { keys } = app.services;
        const issued = await keys.create({ name: "gone", plan: "pro" });
        ({ id } = issued.key);
        if (why === "revoked") await keys.revoke(id);
        else await keys.rotate(id, 0);
        await app.send("/v1/pets", { key: issued.secret });
      }),
    );
    expect(line).toMatchObject({
      status: 401,
      refused: "unauthorized",
      why,
      keyId: id,
      plan: "pro",
    });
  });

  test("429, with the key and the window", async () => {
    const lines = parsed(
      await logged(async (app) => {
        const key = await app.key("enterprise", { perMinute: 1, perDay: 10 });
        await app.send("/v1/pets", { key });
        await app.send("/v1/pets", { key });
      }),
    );
    expect(lines.map(({ status }) => status)).toEqual([200, 429]);
    expect(lines[1]).toMatchObject({
      refused: "rate_limited",
      why: "over the limit per minute",
      plan: "enterprise",
    });
  });

  test.each([
    ["503", new AppError("unavailable", "The store is away."), "unavailable"],
    ["500", new Error("secret of the driver"), "internal_error"],
  ])("%s, as an error", async (status, error, refused) => {
    const text = await logged(async (app) => {
      const key = await app.key();
      Object.assign(app.services.pets, { page: () => Promise.reject(error) });
      expect((await app.send("/v1/pets?limit=7", { key })).status).toBe(Number(status));
    });
    expect(parsed(text)).toMatchObject([{ level: "error", status: Number(status), refused }]);
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
    expect(text.trimEnd().split("\n")).toHaveLength(8);
    expect(text).not.toContain(secret.slice("rehome_live_".length, -6));
  });
});

describe("levels", () => {
  const requests = async (app: TestApp) => {
    const key = await app.key();
    await app.send("/v1/pets", { key });
    await app.send("/v1/pets");
    Object.assign(app.services.pets, { page: () => Promise.reject(new Error("broken")) });
    await app.send("/v1/pets?limit=9", { key });
  };
  test.each<[LogLevel, number[]]>([
    ["info", [200, 401, 500]],
    ["warn", [500]],
    ["error", [500]],
  ])("%s", async (level, statuses) => {
    const lines = parsed(await logged(requests, { level }));
    expect(lines.map(({ status }) => Number(status))).toEqual(statuses);
  });
});

test("the text of a line is for people", async () => {
  const text = await logged((app) => app.send("/v1/pets"), { format: "text" });
  expect(text).toMatch(
    /^2026-11-21T12:00:10\.000Z info GET \/v1\/pets 401 \d+\.\d\dms 128B - - abcd-1 unauthorized no credential\n$/,
  );
});

describe("refusals of one caller after the first 20 in a minute", () => {
  const flooded = (format: LogFormat) =>
    logged(
      async (app) => {
        const key = await app.key("free");
        for (let i = 0; i < 100; i += 1) await app.send("/v1/pets?limit=1", { key });
        for (let i = 0; i < 25; i += 1) await app.send("/v1/pets");
        app.clock.advance(60_000);
        await app.send("/v1/pets");
      },
      { format },
    );

  test("are one line with their count, and served requests have theirs", async () => {
    const lines = parsed(await flooded("json"));
    const having = (status: number) => lines.filter((line) => line["status"] === status).length;
    expect([having(200), having(429), having(401)]).toEqual([60, 20, 21]);
    // At the end of the minute, before what follows.
    expect(lines.slice(-3, -1)).toEqual([
      {
        time: "2026-11-21T12:01:10.000Z",
        level: "info",
        message: "refusals",
        suppressed: 20,
        keyId: expect.stringMatching(/^key_/),
        plan: "free",
      },
      { time: "2026-11-21T12:01:10.000Z", level: "info", message: "refusals", suppressed: 5 },
    ]);
  });

  test("are told of when the log ends, and counted by every observer", async () => {
    const seen: number[] = [];
    const observers = [{ answered: ({ status }: { status: number }) => void seen.push(status) }];
    const work = async (app: TestApp) => {
      for (let i = 0; i < 30; i += 1) await app.send("/v1/pets");
    };
    const lines = parsed(await logged(work, { app: { observers } }));
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toMatchObject({ message: "refusals", suppressed: 10 });
    expect(seen).toHaveLength(30);
  });
});
