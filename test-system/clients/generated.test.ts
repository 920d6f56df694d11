/**
 * Clients that others' generators make from the document: they compile, refuse what is wrong, and
 * work.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  makeKey,
  rehome,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../../test/helpers/binary.ts";
import { runTool, toolsFolder } from "../../test/helpers/tools.ts";

const folder = temporaryFolder();
const beyondDouble = "9007199254740993";
let server: RunningBinary;
let key: string;
let bigId: number;

beforeAll(async () => {
  server = await serve(folder.path);
  ({ key } = await makeKey(folder.path));
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = `{"name":"Big","categoryId":${beyondDouble}}`;
  const big = await fetch(`${server.origin}/v1/pets`, { method: "POST", headers, body });
  bigId = ((await big.json()) as { id: number }).id;

  const generated = join(toolsFolder, "generated");
  mkdirSync(generated, { recursive: true });
  const { stdout } = await rehome(["openapi"]);
  await Bun.write(join(generated, "openapi.json"), stdout);
  const types = await runTool(
    "openapi-typescript",
    "generated/openapi.json",
    "--output",
    "generated/schema.d.ts",
  );
  expect([types.exitCode, types.stderr]).toEqual([0, expect.any(String)]);
  const functions = await runTool("orval", "--config", "orval.config.cjs");
  expect([functions.exitCode, functions.stdout + functions.stderr]).toEqual([
    0,
    expect.any(String),
  ]);
  const heyApi = await runTool("openapi-ts", "--file", "hey-api.config.mjs");
  expect([heyApi.exitCode, heyApi.stdout + heyApi.stderr]).toEqual([0, expect.any(String)]);
}, 120_000);
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

async function run(program: string): Promise<Record<string, unknown>> {
  const child = Bun.spawn([process.execPath, join(toolsFolder, "clients", program)], {
    env: {
      ...process.env,
      FORCE_COLOR: "0",
      API_URL: `${server.origin}/v1`,
      API_KEY: key,
      BIG_ID: String(bigId),
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(stderr).toBe("");
  return JSON.parse(stdout) as Record<string, unknown>;
}

test("all of them compile, and what is marked as wrong in them does not", async () => {
  const { exitCode, stdout } = await runTool("tsc", "--project", "clients/tsconfig.json");
  expect([exitCode, stdout]).toEqual([0, ""]);
});

describe.each(["openapi-fetch.ts", "orval.ts"])("%s", (program) => {
  test("adds, lists, gets and is refused", async () => {
    const result = await run(program);
    const rex = { name: "Rex", categoryId: 7, status: "available" };
    expect(result["added"]).toEqual({ id: expect.any(Number), ...rex });
    expect(result["pets"]).toEqual([{ id: expect.any(Number), ...rex }]);
    expect(result["got"]).toBe("Rex");
    expect(result["code"]).toBe("not_found");
    expect(result["invalid"]).toBe("categoryId is required: it must be an integer of 64 bits.");
    expect(Number(result["left"])).toBeGreaterThan(0);
  });
});

/** What the service stored, as text. */
async function stored(id: unknown): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  return await (await fetch(`${server.origin}/v1/pets/${String(id)}`, { headers })).text();
}

test("hey-api's transformers round an int64 and send text, and are exact when told to be", async () => {
  const { rounded, refused, read, sent, sentId } = await run("hey-api.ts");
  expect([rounded, refused]).toEqual(["9007199254740992", 400]);
  expect([read, sent]).toEqual([beyondDouble, 201]);
  expect(await stored(sentId)).toContain(`"categoryId":${beyondDouble}`);
});

test("orval is exact with BigInt and a reviver", async () => {
  const { read, sent, sentId } = await run("orval-exact.ts");
  expect([read, sent]).toEqual([beyondDouble, 201]);
  expect(await stored(sentId)).toContain(`"categoryId":${beyondDouble}`);
});

test("openapi-fetch hands over an int64 exactly when it is asked for text", async () => {
  const { exact } = await run("openapi-fetch.ts");
  expect(exact).toContain(`"categoryId":${beyondDouble}`);
});
