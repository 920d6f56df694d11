/** A client that another's generator makes from the document: it compiles, refuses, and works. */
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { rehome, type RunningBinary, serveForAll } from "../../test/helpers/binary.ts";
import { runTool, toolsFolder } from "../../test/helpers/tools.ts";

const beyondDouble = "9007199254740993";
let server: RunningBinary;
let key: string;
let bigId: number;

serveForAll(async (running, ofServer) => {
  [server, key] = [running, ofServer];
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
});

test("it compiles, and what is marked as wrong in it does not", async () => {
  const { exitCode, stdout } = await runTool("tsc", "--project", "clients/tsconfig.json");
  expect([exitCode, stdout]).toEqual([0, ""]);
});

test("it adds, lists, gets and is refused, and hands over an int64 exactly as text", async () => {
  const child = Bun.spawn([process.execPath, join(toolsFolder, "clients/openapi-fetch.ts")], {
    env: { ...process.env, API_URL: `${server.origin}/v1`, API_KEY: key, BIG_ID: String(bigId) },
    stdout: "pipe",
    stderr: "inherit",
  });
  const rex = { id: expect.any(Number), name: "Rex", categoryId: 7, status: "available" };
  expect(await child.stdout.json()).toEqual({
    added: rex,
    pets: [rex],
    got: "Rex",
    code: "not_found",
    invalid: "categoryId is required: it must be an integer of 64 bits.",
    left: expect.stringMatching(/^[1-9]\d*$/),
    exact: expect.stringContaining(`"categoryId":${beyondDouble}`),
  });
});
