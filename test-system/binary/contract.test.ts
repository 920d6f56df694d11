/** The specification's tables, line by line, on the compiled executable. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  makeKey,
  roomy,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../../test/helpers/binary.ts";

const folder = temporaryFolder();
let server: RunningBinary;
let key: string;

beforeAll(async () => {
  server = await serve(folder.path);
  ({ key } = await makeKey(folder.path, ...roomy));
});
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

const call = (path: string, init: RequestInit = {}) =>
  fetch(`${server.origin}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${key}`, ...(init.headers as Record<string, string>) },
  });
const add = (body: string) =>
  call("/v1/pets", { method: "POST", body, headers: { "content-type": "application/json" } });

function expectLimitHeaders(answer: Response): void {
  for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
    expect(answer.headers.get(name)).toMatch(/^\d+$/);
  }
  expect(answer.headers.get("cache-control")).toBe("no-store");
}

async function expectError(answer: Response, status: number, code: string): Promise<string> {
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/json");
  const body = (await answer.json()) as { code: string; message: string; status: number };
  expect(Object.keys(body).toSorted()).toEqual(["code", "message", "status"]);
  expect(body).toMatchObject({ code, status });
  expect(body.message.length).toBeGreaterThan(0);
  return body.message;
}

describe("createPet", () => {
  test("answers 201 with the animal and its id", async () => {
    const answer = await add('{"name":"Rex","categoryId":1,"status":"pending"}');
    expect(answer.status).toBe(201);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expectLimitHeaders(answer);
    const pet = (await answer.json()) as { id: number };
    expect(pet).toEqual({ id: pet.id, name: "Rex", categoryId: 1, status: "pending" } as never);
    expect(pet.id).toBeGreaterThan(0);
  });

  test("leaves an omitted status absent, and ignores unknown fields and an id", async () => {
    const answer = await add('{"name":"Mia","categoryId":2,"id":77,"colour":"red"}');
    const pet = (await answer.json()) as Record<string, unknown>;
    expect(Object.keys(pet)).toEqual(["id", "name", "categoryId"]);
    expect(pet["id"]).not.toBe(77);
  });

  test.each([
    ["9223372036854775807", "9223372036854775807"],
    ["-9223372036854775808", "-9223372036854775808"],
    ["1e3", "1000"],
  ])("takes %s as the exact int64 %s, stored and shown", async (written, exact) => {
    const created = await (await add(`{"name":"n","categoryId":${written}}`)).text();
    expect(created).toMatch(new RegExp(`"categoryId":${exact}\\}$`));
    const id = /"id":(\d+)/.exec(created)?.[1];
    const got = await call(`/v1/pets/${id}`);
    expect(got.headers.get("content-type")).toBe("application/json");
    expect(await got.text()).toBe(created);
    const listed = await (await call(`/v1/pets?limit=1&after=${Number(id) - 1}`)).text();
    expect(listed).toBe(`[${created}]`);
  });

  test.each(["", "Żółw 🐢", "\u2028\u2029"])("keeps the name %j byte for byte", async (name) => {
    const answer = await add(JSON.stringify({ name, categoryId: 1 }));
    expect(answer.status).toBe(201);
    const { id } = (await answer.json()) as { id: number };
    const shown = (await (await call(`/v1/pets/${id}`)).json()) as { name: string };
    expect(shown.name).toBe(name);
  });
});

describe("listPets", () => {
  test("pages through every animal once, in ascending id order, by its Link headers", async () => {
    for (let i = 0; i < 25; i += 1)
      await add(`{"name":"page ${i}","categoryId":1,"status":"sold"}`);
    const ids: number[] = [];
    let next: string | undefined = `${server.origin}/v1/pets?limit=7&status=sold`;
    let pages = 0;
    while (next !== undefined) {
      const answer: Response = await fetch(next, { headers: { authorization: `Bearer ${key}` } });
      expect(answer.status).toBe(200);
      expectLimitHeaders(answer);
      const pets = (await answer.json()) as { id: number; status: string }[];
      expect(pets.length).toBeLessThanOrEqual(7);
      expect(pets.every(({ status }) => status === "sold")).toBe(true);
      ids.push(...pets.map(({ id }) => id));
      next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
      pages += 1;
    }
    expect(pages).toBe(Math.ceil(ids.length / 7));
    expect(ids.length).toBeGreaterThanOrEqual(25);
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  });

  test("gives 20 animals by default and 100 at the most", async () => {
    for (let i = 0; i < 80; i += 1) await add(`{"name":"many ${i}","categoryId":1}`);
    expect((await (await call("/v1/pets")).json()) as unknown[]).toHaveLength(20);
    expect((await (await call("/v1/pets?limit=100")).json()) as unknown[]).toHaveLength(100);
    expect((await (await call("/v1/pets?limit=1")).json()) as unknown[]).toHaveLength(1);
  });

  test("has no Link on the last page, and takes an `after` beyond the end", async () => {
    const answer = await call("/v1/pets?after=9223372036854775807");
    expect(await answer.text()).toBe("[]");
    expect(answer.headers.has("link")).toBe(false);
  });

  test("shows an animal in the list that is asked for right after its 201", async () => {
    for (let i = 0; i < 20; i += 1) {
      const { id } = (await (await add(`{"name":"fresh ${i}","categoryId":1}`)).json()) as {
        id: number;
      };
      const listed = (await (await call(`/v1/pets?limit=100&after=${id - 1}`)).json()) as {
        id: number;
      }[];
      expect(listed.map((pet) => pet.id)).toContain(id);
    }
  });
});

describe("getPet", () => {
  test("answers with the animal and says that it is deprecated", async () => {
    const created = await (await add('{"name":"one","categoryId":1}')).text();
    const answer = await call(`/v1/pets/${/"id":(\d+)/.exec(created)?.[1]}`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(created);
    expectLimitHeaders(answer);
    expect(answer.headers.get("deprecation")).toMatch(/^@\d+$/);
    expect(answer.headers.get("sunset")).toBe("Thu, 05 Dec 2030 00:00:00 GMT");
    expect(answer.headers.get("link")).toBe(`<${server.origin}/v1/pets>; rel="successor-version"`);
  });
});

describe("credentials", () => {
  test("401 with WWW-Authenticate: Bearer where none was sent", async () => {
    const answer = await fetch(`${server.origin}/v1/pets`);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expectLimitHeaders(answer);
    await expectError(answer, 401, "unauthorized");
  });

  test.each(["Bearer", "Bearer  ", "Basic abc", "Bearer rehome_live_x", "Token abc", "bearer"])(
    "401 with error=invalid_token for %j",
    async (authorization) => {
      const answer = await fetch(`${server.origin}/v1/pets`, { headers: { authorization } });
      expect(answer.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
      await expectError(answer, 401, "unauthorized");
    },
  );

  test.each(["Bearer", "Basic abc", "Token abc", "rehome_live_x"])(
    "what holds no bearer key is told how to send one: %j",
    async (authorization) => {
      const answer = await fetch(`${server.origin}/v1/pets`, { headers: { authorization } });
      expect(await answer.json()).toMatchObject({
        message: "The header must have this form: Authorization: Bearer <API_KEY>.",
        status: 401,
      });
    },
  );

  test.each(["bearer", "BEARER", "bEaReR", "Bearer ", "bearer  "])(
    "takes the scheme as %j",
    async (scheme) => {
      const answer = await fetch(`${server.origin}/v1/pets`, {
        headers: { authorization: `${scheme} ${key}` },
      });
      expect(answer.status).toBe(200);
    },
  );

  test("never takes a key from the query", async () => {
    for (const name of ["access_token", "%00", "token", "%EF%BF%BD"]) {
      const answer = await fetch(`${server.origin}/v1/pets?${name}=${key}`);
      await expectError(answer, 401, "unauthorized");
    }
  });

  test("comes before anything of body, path and query is looked at", async () => {
    for (const [path, init] of [
      ["/v1/pets?limit=abc", {}],
      ["/v1/pets/1", {}],
      ["/v1/nothing", {}],
      ["/v1/pets", { method: "DELETE" }],
      ["/v1/pets", { method: "POST", body: "{" }],
      ["/v1/pets", { method: "POST", body: "x".repeat(70_000) }],
    ] as const) {
      await expectError(await fetch(`${server.origin}${path}`, init), 401, "unauthorized");
    }
  });

  test("a staging key opens no production service", async () => {
    const other = await makeKey(folder.path, "--plan", "free", "--environment", "staging");
    expect(other.key).toStartWith("rehome_test_");
    await expectError(
      await call("/v1/pets", { headers: { authorization: `Bearer ${other.key}` } }),
      401,
      "unauthorized",
    );
  });
});

describe("around the operations", () => {
  test("HEAD as GET, without the body", async () => {
    const [head, get] = [await call("/v1/pets", { method: "HEAD" }), await call("/v1/pets")];
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    expectLimitHeaders(head);
    const ofOneAnswer = ["x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id", "date"];
    const common = (answer: Response) =>
      new Map([...answer.headers].filter(([name]) => !ofOneAnswer.includes(name)));
    expect(common(head)).toEqual(common(get));
  });

  test("HEAD says when it was answered, as every answer does (RFC 9110, section 6.6.1)", async () => {
    for (const path of ["/v1/pets", "/v1/pets/1", "/v1/nothing", "/health", "/docs", "/nothing"]) {
      const beforeMs = Math.floor(Date.now() / 1000) * 1000;
      const date = (await call(path, { method: "HEAD" })).headers.get("date") ?? "";
      expect(date).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
      expect(Date.parse(date)).toBeWithin(beforeMs, Date.now() + 1);
    }
  });

  test("OPTIONS answers 204 with Allow", async () => {
    const answer = await call("/v1/pets", { method: "OPTIONS" });
    expect(answer.status).toBe(204);
    expect(answer.headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
    expect(answer.headers.has("content-type")).toBe(false);
    expectLimitHeaders(answer);
  });

  test("probes and document need no key and show no limits", async () => {
    for (const path of ["/health", "/ready", "/docs", "/docs/json"]) {
      const answer = await fetch(`${server.origin}${path}`);
      expect(answer.status).toBe(200);
      expect(answer.headers.has("x-ratelimit-limit")).toBe(false);
    }
  });

  test("an unknown address outside /v1 is the Error body too", async () => {
    for (const path of ["/nothing", "/V1/pets", "/v1pets", "/docs/nothing"]) {
      await expectError(await fetch(`${server.origin}${path}`), 404, "not_found");
    }
  });
});
