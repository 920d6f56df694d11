/** The document before a judge that is not ours. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { rehome, temporaryFolder } from "../../test/helpers/binary.ts";
import { runTool } from "../../test/helpers/tools.ts";

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
}, 120_000);
