/** The Arazzo workflows, run by Redocly against the executable. */
import { afterAll, beforeAll, expect, test } from "bun:test";
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
let server: RunningBinary;

beforeAll(async () => {
  server = await serve(folder.path);
  mkdirSync(join(toolsFolder, "generated"), { recursive: true });
  const { stdout } = await rehome(["openapi"]);
  await Bun.write(join(toolsFolder, "generated/openapi.json"), stdout);
});
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

function respect(key: string, small: string) {
  const inputs = ["--input", `key=${key}`, "--input", `small=${small}`];
  const at = ["--server", `rehome=${server.origin}/v1`];
  return runTool("redocly", "respect", "rehome.arazzo.yaml", ...at, ...inputs);
}

test("add, list, next page, get, wrong key, bad body, over the limit", async () => {
  const { key } = await makeKey(folder.path);
  const oneADay = ["--plan", "enterprise", "--per-minute", "5", "--per-day", "1"];
  const small = await makeKey(folder.path, ...oneADay);
  const { exitCode, stdout, stderr } = await respect(key, small.key);
  const output = stdout + stderr;
  expect(output).toMatch(/Workflows: 2 passed, 2 total/);
  expect(output).toMatch(/Steps: 11 passed, 11 total/);
  expect(exitCode).toBe(0);
});
