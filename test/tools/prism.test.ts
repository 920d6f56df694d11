/** The executable behind a validating proxy: whatever is asked, no answer is other than the document says. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  makeKey,
  rehome,
  roomy,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../helpers/binary.ts";
import { operationsOf } from "../helpers/document.ts";
import { startProxy, violationsOf, type ValidatingProxy } from "../helpers/proxy.ts";

const folder = temporaryFolder();
const file = join(folder.path, "openapi.json");
let server: RunningBinary;
let proxy: ValidatingProxy;
const keys: Record<string, string> = { wrong: "rehome_live_nobody" };
let document: object;

beforeAll(async () => {
  const { stdout } = await rehome(["openapi"]);
  document = JSON.parse(stdout) as object;
  await Bun.write(file, stdout);
  server = await serve(folder.path);
  proxy = await startProxy(file, `${server.origin}/v1`);
  keys["good"] = (await makeKey(folder.path, ...roomy)).key;
  // Refused from its second request on, whichever minute it is.
  const oneADay = ["--plan", "enterprise", "--per-minute", "5", "--per-day", "1"];
  keys["over"] = (await makeKey(folder.path, ...oneADay)).key;
  const banned = await makeKey(folder.path, ...roomy);
  keys["banned"] = banned.key;
  await rehome(["keys", "ban", banned.id, "--for", "1h", "--data", folder.path]);
}, 120_000);
afterAll(async () => {
  await proxy.stop();
  await server.stop();
  folder[Symbol.dispose]();
});

interface Asked {
  readonly key?: string;
  readonly method?: string;
  readonly body?: string;
  readonly type?: string;
}

function ask(
  path: string,
  { key = "good", method = "GET", body, type = "application/json" }: Asked = {},
) {
  const headers: Record<string, string> = {};
  if (key !== "none") headers["authorization"] = `Bearer ${keys[key]}`;
  if (body !== undefined) headers["content-type"] = type;
  const init = body === undefined ? { method, headers } : { method, headers, body };
  return fetch(`${proxy.origin}${path}`, init);
}

const add = (body: object, more: Asked = {}): Asked => ({
  ...more,
  method: "POST",
  body: JSON.stringify(body),
});

type Row = [status: number, path: string, asked?: Asked];
const named = ([status, path, asked]: Row) => ({ status, path, asked });

/** Requests that the document allows, and the statuses that they get. */
const valid: Row[] = [
  [201, "/pets", add({ name: "Rex", categoryId: 1, status: "available" })],
  [201, "/pets", add({ name: "Mia", categoryId: 2 })],
  [201, "/pets", add({ name: "", categoryId: -5, status: "sold" })],
  [201, "/pets", add({ name: "Żółw 🐢", categoryId: 9007199254740991, status: "pending" })],
  [201, "/pets", add({ name: "more", categoryId: 3, colour: "red" })],
  [200, "/pets"],
  [200, "/pets?limit=1"],
  [200, "/pets?limit=100&status=sold"],
  [200, "/pets?limit=2&after=1"],
  [200, "/pets?after=999999"],
  [200, "/pets?unknown=1"],
  [200, "/pets/1"],
  [404, "/pets/999999"],
  [404, "/pets/-1"],
  [401, "/pets", { key: "wrong" }],
  [401, "/pets/1", { key: "wrong" }],
  [401, "/pets", add({ name: "Rex", categoryId: 1 }, { key: "wrong" })],
  [200, "/pets", { key: "over" }],
  [429, "/pets", { key: "over" }],
  [429, "/pets/1", { key: "over" }],
  [429, "/pets", add({ name: "Rex", categoryId: 1 }, { key: "over" })],
  [429, "/pets", { key: "banned" }],
  [413, "/pets", add({ name: "x".repeat(64 * 1024), categoryId: 1 })],
];

/** Requests that the document forbids. The answers are as it says all the same. */
const invalid: Row[] = [
  [401, "/pets", { key: "none" }],
  [400, "/pets?limit=0"],
  [400, "/pets?limit=101"],
  [400, "/pets?limit=ten"],
  [400, "/pets?status=lost"],
  [400, "/pets?after=x"],
  [404, "/pets/abc"],
  [404, "/pets/1.5"],
  [400, "/pets", add({})],
  [400, "/pets", add({ name: "Rex" })],
  [400, "/pets", add({ name: 5, categoryId: 1 })],
  [400, "/pets", add({ name: "Rex", categoryId: "1" })],
  [400, "/pets", add({ name: "Rex", categoryId: 1.5 })],
  [400, "/pets", add({ name: "Rex", categoryId: 1, status: "lost" })],
  [400, "/pets", add({ name: "Rex", categoryId: 1, status: null })],
  [400, "/pets", add([])],
  [415, "/pets", { method: "POST", body: "name=Rex", type: "application/x-www-form-urlencoded" }],
  [404, "/nothing"],
  [405, "/pets", { method: "DELETE" }],
  [405, "/pets/1", { method: "PUT" }],
];

describe("through Prism", () => {
  test.each(valid.map(named))("$status $path: no violation", async ({ status, path, asked }) => {
    const answer = await ask(path, asked);
    expect(answer.status).toBe(status);
    expect(violationsOf(answer)).toEqual({ request: [], response: [] });
  });

  test.each(invalid.map(named))(
    "$status $path: the answer is as documented",
    async ({ status, path, asked }) => {
      const answer = await ask(path, asked);
      expect(answer.status).toBe(status);
      expect(violationsOf(answer).response).toEqual([]);
      expect(violationsOf(answer).request.length).toBeGreaterThan(0);
    },
  );

  test("every status of every operation was seen, but those of failures", () => {
    const seen = new Set(
      [...valid, ...invalid].map(([status, path, { method = "GET" } = {}]) => {
        const template = path.split("?", 1)[0]!.replace(/^\/pets\/.*/, "/pets/{petId}");
        return `${method} ${template} ${status}`;
      }),
    );
    const documented = operationsOf(document).flatMap(({ method, path, responses }) =>
      Object.keys(responses)
        .filter((status) => Number(status) < 500)
        .map((status) => `${method.toUpperCase()} ${path} ${status}`),
    );
    expect(documented.filter((each) => !seen.has(each))).toEqual([]);
  });

  test("a document that says otherwise is noticed", async () => {
    const other = JSON.parse(JSON.stringify(document)) as {
      components: { schemas: { Pet: { required: string[] } } };
    };
    other.components.schemas.Pet.required.push("colour");
    const otherFile = join(folder.path, "other.json");
    await Bun.write(otherFile, JSON.stringify(other));
    const judge = await startProxy(otherFile, `${server.origin}/v1`);
    const headers = { authorization: `Bearer ${keys["good"]}` };
    const answer = await fetch(`${judge.origin}/pets/1`, { headers });
    await judge.stop();
    expect(violationsOf(answer).response.length).toBeGreaterThan(0);
  });
});
