import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { parse } from "yaml";
import { jsonText } from "../../../src/domain/exact-json.ts";
import { documentOf, yamlOf } from "../../../src/features/docs/document.ts";
import { TestClock, testApp, type TestApp } from "../../helpers/app.ts";
import { command } from "../../helpers/command.ts";
import { changesNoticed } from "../../helpers/store-under-test.ts";
import { errorExamples, operationsOf } from "../../helpers/document.ts";

const unnamed = { baseUrl: undefined, stagingBaseUrl: undefined };
const document = await documentOf({ ...unnamed, clock: new TestClock().read });
const operations = operationsOf(document);
const yaml = await yamlOf(document);

test("docs/openapi.yaml is the document, so that a change of the interface shows in its diff", async () => {
  const written = await Bun.file(join(import.meta.dir, "../../../docs/openapi.yaml")).text();
  // Where this fails: bun src/main.ts openapi --yaml > docs/openapi.yaml, and read what changed.
  expect(written).toBe(yaml);
});

test("rehome openapi prints it without a store, with addresses of flags and the environment", async () => {
  const env = { REHOME_DATA: "/proc/nowhere" };
  expect(await command(["openapi", "--yaml"], { env })).toMatchObject({ stdout: yaml, stderr: "" });
  const named = await command(["openapi", "--base-url", "https://a.example/v1"], {
    env: { ...env, REHOME_STAGING_BASE_URL: "https://b.example/v1" },
  });
  expect(JSON.parse(named.stdout)).toMatchObject({
    openapi: "3.0.3",
    servers: [{ url: "https://a.example/v1" }, { url: "https://b.example/v1" }],
  });
});

test("the document lists the three operations of the specification and nothing else", () => {
  const lines = operations.map(
    ({ operationId, method, path, deprecated = false }) =>
      `${operationId} ${method} ${path}${deprecated ? " deprecated" : ""}`,
  );
  expect(lines).toEqual([
    "listPets get /pets",
    "createPet post /pets",
    "getPet get /pets/{petId} deprecated",
  ]);
  expect(document.info.version).toBe("1.0.0");
  expect(document.security).toEqual([{ bearer: [] }]);
  expect(document.components?.securitySchemes).toMatchObject({
    bearer: { type: "http", scheme: "bearer" },
  });
  expect(Object.keys(document.components?.schemas ?? {}).toSorted()).toEqual([
    "Error",
    "NewPet",
    "Pet",
    "PetStatus",
    "Pets",
  ]);
});

test("the document reads the same as YAML of version 1.1 and 1.2", () => {
  const value: unknown = JSON.parse(jsonText(document));
  expect(parse(yaml, { version: "1.1" })).toEqual(value);
  expect(Bun.YAML.parse(yaml)).toEqual(value);
});

test("the document lists getPet until the day on which it is removed", async () => {
  const at = (nowMs: number) => documentOf({ ...unnamed, clock: () => nowMs });
  const removedAtMs = Date.UTC(2030, 11, 5);
  expect(await at(removedAtMs - 1)).toEqual(document);
  const after = await at(removedAtMs);
  expect(operationsOf(after).map(({ operationId }) => operationId)).toEqual([
    "listPets",
    "createPet",
  ]);
  expect(jsonText(after)).not.toMatch(/getPet|petId/);
});

describe("every example of an error", () => {
  const json = { "content-type": "application/json" };
  const body = '{"name":"Rex","categoryId":1}';
  const post = (body: string, headers: Record<string, string> = {}) => ({
    method: "POST",
    body,
    headers: { ...json, ...headers },
  });
  const fail = () => {
    throw new Error("a failure that nobody foresaw");
  };
  const ofKey = async (app: TestApp) => (await app.services.keys.list())[0]?.id ?? "";

  /** The request that gets an example, by status and name, after the service was brought to it. */
  const causes: Record<
    string,
    (
      app: TestApp,
      key: string,
    ) => Promise<(RequestInit & { query?: string; key?: string | undefined }) | void>
  > = {
    "400 limit": async () => ({ query: "?limit=101" }),
    "400 status": async () => ({ query: "?status=lost" }),
    "400 missing": async () => post('{"name":"Rex"}'),
    "400 invalid": async () => post('{"name":"Rex","categoryId":1,"status":"lost"}'),
    "400 notJson": async () => post("{"),
    "400 otherBody": async (app, key) => {
      const once = { "idempotency-key": "a" };
      await app.send("/v1/pets", { key, ...post('{"name":"Mia","categoryId":1}', once) });
      return post(body, once);
    },
    "401 missing": async () => ({ key: undefined }),
    "401 invalid": async () => ({ key: "nobody" }),
    "403 readOnly": async (app) => {
      await app.services.keys.update(await ofKey(app), { readOnly: true });
    },
    "404 unknown": async () => {},
    "413 tooLarge": async () => post("x".repeat(64 * 1024 + 1)),
    "415 otherType": async () => post("{}", { "content-type": "text/plain" }),
    "415 compressed": async () => post("{}", { "content-encoding": "gzip" }),
    "429 rateLimited": async (app, key) => {
      for (let i = 0; i < 60; i += 1) await app.send("/v1/pets", { key });
    },
    "429 keyBanned": async (app) => {
      const minute = Math.floor(app.clock.nowMs / 60_000);
      const id = await ofKey(app);
      for (const label of [minute - 2, minute - 1, minute])
        await app.store.keys.noteMinute(id, label, app.clock.nowMs);
      await changesNoticed();
    },
    "500 internal": async ({ services }) => {
      Object.assign(services.pets, { page: fail, create: fail, byId: fail });
    },
    "503 unavailable": async ({ store }) => {
      store.windows.reserve = fail;
    },
  };

  /** What may differ between two answers of one kind. */
  const alike = (message: string) =>
    message.replace(/\d{4}-\d\d-\d\dT[\d:]+Z/, "TIME").replace(/(in|another) \d+ s/, "$1 N s");

  const examples = errorExamples(document);
  test("is tried", () => {
    const tried = examples.map(({ status, name }) => `${status} ${name}`);
    expect(new Set(tried)).toEqual(new Set(Object.keys(causes)));
  });

  test.each(examples)("$operationId $status $name is what the service answers", async (example) => {
    const { operationId, status, name, value } = example;
    const app = await testApp();
    const key = await app.key("free");
    const { query = "", ...asked } = (await causes[`${status} ${name}`]?.(app, key)) ?? {};
    const path = operationId === "getPet" ? "/v1/pets/7" : `/v1/pets${query}`;
    const answer = await app.send(path, {
      key,
      ...(operationId === "createPet" && post(body)),
      ...asked,
    });
    const said = (await answer.json()) as typeof value;
    expect(answer.status).toBe(Number(status));
    expect({ ...said, message: alike(said.message) }).toEqual({
      ...value,
      message: alike(value.message),
    });
    const described = operations.find((each) => each.operationId === operationId)!;
    for (const header of Object.keys(described.responses[status]!.headers)) {
      const isSent = header !== "Accept-Encoding" || name === "compressed";
      expect([header, answer.headers.has(header)]).toEqual([header, isSent]);
    }
  });
});
