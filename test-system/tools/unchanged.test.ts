/**
 * Tools that send what the document shows: each runs the document as it is served, without a word
 * changed.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  makeKey,
  roomy,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../../test/helpers/binary.ts";
import { installTools, runTool, startTool } from "../../test/helpers/tools.ts";
import { until } from "../../test/helpers/until.ts";

const folder = temporaryFolder();
const documentFile = join(folder.path, "openapi.json");
const yamlFile = join(folder.path, "openapi.yaml");
/** More than a page, so that the header Link is there as documented. */
const animalsCount = 25;
const startTimeoutMs = 45_000;
let server: RunningBinary;
let key: string;

beforeAll(async () => {
  await installTools();
  server = await serve(folder.path);
  ({ key } = await makeKey(folder.path, ...roomy));
  await Bun.write(documentFile, await (await fetch(`${server.origin}/docs/json`)).text());
  await Bun.write(yamlFile, await (await fetch(`${server.origin}/docs/yaml`)).text());
  for (let count = 0; count < animalsCount; count++) {
    await fetch(`${server.origin}/v1/pets`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: '{"name":"Rex","categoryId":1,"status":"available"}',
    });
  }
}, 120_000);
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

/** Dredd's names for what it sends; the other statuses need a reason that it cannot bring about. */
const names = (...statuses: number[]) =>
  [
    ["/pets", "List animals", 200],
    ["/pets", "List animals", 401],
    ["/pets", "Add an animal", 201],
    ["/pets", "Add an animal", 401],
    ["/pets/{petId}", "Get an animal", 200],
    ["/pets/{petId}", "Get an animal", 401],
  ]
    .filter(([, , status]) => statuses.includes(Number(status)))
    .flatMap(([path, summary, status]) => [
      "--only",
      `${path} > ${summary} > ${status} > application/json`,
    ]);

describe("Dredd, with the YAML of the document", () => {
  const dredd = (...args: string[]) =>
    runTool("dredd", yamlFile, `${server.origin}/v1`, "--loglevel=error", ...args);

  test("gets every success with a key", async () => {
    const header = `Authorization: Bearer ${key}`;
    // Dredd asks for every header of a response, so its create is one that was sent before.
    const name = crypto.randomUUID();
    const sent = await fetch(`${server.origin}/v1/pets`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "idempotency-key": name,
      },
      body: JSON.stringify({ name: "Rex", categoryId: 1, status: "available" }),
    });
    expect(sent.status).toBe(201);
    const headers = ["--header", header, "--header", `Idempotency-Key: ${name}`];
    const { stdout, exitCode } = await dredd(...headers, ...names(200, 201));
    expect(stdout).toContain("3 passing, 0 failing, 0 errors");
    expect(exitCode).toBe(0);
  });

  test("is refused without one as documented", async () => {
    const { stdout, exitCode } = await dredd(...names(401));
    expect(stdout).toContain("3 passing, 0 failing, 0 errors");
    expect(exitCode).toBe(0);
  });
});

test("newman runs what openapi-to-postmanv2 makes of it", async () => {
  const collection = join(folder.path, "collection.json");
  const made = await runTool(
    "openapi2postmanv2",
    "-s",
    documentFile,
    "-o",
    collection,
    "-O",
    "parametersResolution=Example",
  );
  expect(made.stdout).toContain("Conversion successful");
  const { stdout, exitCode } = await runTool(
    "newman",
    "run",
    collection,
    "--disable-unicode",
    "--env-var",
    `bearerToken=${key}`,
    "--env-var",
    `baseUrl=${server.origin}/v1`,
  );
  expect(exitCode).toBe(0);
  expect(stdout.match(/\[\d{3} [A-Za-z ]+/g)).toEqual(["[200 OK", "[201 Created", "[200 OK"]);
});

test("Prism's mock answers as documented, and leads a client that pages to nobody else", async () => {
  const reserved = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = reserved;
  await reserved.stop(true);
  const mock = startTool("prism", "mock", "--port", String(port), documentFile);
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      ...init,
      headers: { authorization: "Bearer any", "content-type": "application/json" },
    });
  try {
    const answers = () =>
      ask("/pets").then(
        () => true,
        () => false,
      );
    await until(answers, startTimeoutMs);
    const list = await ask("/pets");
    expect(list.status).toBe(200);
    expect(list.headers.get("x-ratelimit-limit")).toBe("60");
    expect(await list.json()).toHaveLength(3);
    expect(list.headers.get("link") ?? "").not.toMatch(/<[^>]*>;\s*rel="next"/);
    const body = '{"name":"Rex","categoryId":7}';
    expect((await ask("/pets", { method: "POST", body })).status).toBe(201);
    const got = await ask("/pets/1");
    expect([got.status, got.headers.get("sunset")]).toEqual([200, "Thu, 05 Dec 2030 00:00:00 GMT"]);
    expect(got.headers.get("link")).toContain('rel="successor-version"');
  } finally {
    mock.kill();
    await mock.exited;
  }
}, 120_000);
