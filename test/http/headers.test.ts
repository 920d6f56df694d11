import { expect, test } from "bun:test";
import { testApp } from "../helpers/app.ts";

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
