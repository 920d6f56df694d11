import { expect, test } from "bun:test";
import { packed, type AnswerHeaders } from "../../src/http/headers.ts";
import { testApp } from "../helpers/app.ts";

/** What a Response made of `headers` sends. */
const sent = (headers: AnswerHeaders) =>
  Object.fromEntries(new Response("", { headers: packed(headers) }).headers);

test("carries every header, whatever the answers before it carried", () => {
  const names = ["content-type", "X-Request-Id", "X-RateLimit-Remaining", "link", "retry-after"];
  for (let round = 0; round < 500; round += 1) {
    const headers: AnswerHeaders = {};
    for (const [at, name] of names.entries()) {
      // Every set of names in turn, with values that stay, change and come back.
      if (((round * 7) >> at) % 2 === 1) headers[name] = at === 2 ? round : `v${round % (at + 2)}`;
    }
    const expected = Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      `${value}`,
    ]);
    expect(sent(headers)).toEqual(Object.fromEntries(expected));
  }
});

test("does not change an answer that was made before", () => {
  const first = new Response("", { headers: packed({ "X-Request-Id": "a", link: "x" }) });
  const second = new Response("", { headers: packed({ "X-Request-Id": "b", link: "x" }) });
  second.headers.set("link", "y");
  expect(first.headers.get("x-request-id")).toBe("a");
  expect(first.headers.get("link")).toBe("x");
  expect(sent({ "X-Request-Id": "b", link: "x" })).toEqual({ "x-request-id": "b", link: "x" });
});

test("refuses a value that is none, and is right again afterwards", () => {
  expect(() => packed({ "X-Broken": "a\nb" })).toThrow();
  expect(sent({ "X-Broken": "a" })).toEqual({ "x-broken": "a" });
});

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
  // Of the business key, the free one and the address: each number once. Nobody's limits are shown outside of /v1.
  expect(Object.fromEntries(different)).toEqual({ "1000": 250, "60": 50, "300": 50, none: 1 });
});
