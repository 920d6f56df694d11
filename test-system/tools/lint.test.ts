/** The document before four judges that are not ours. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { rehome, temporaryFolder } from "../../test/helpers/binary.ts";
import { installTools, runTool } from "../../test/helpers/tools.ts";

const folder = temporaryFolder();
const document = join(folder.path, "openapi.json");

beforeAll(async () => {
  await installTools();
  const addresses = ["--base-url", "https://pets.shelter.org/v1"];
  const staging = ["--staging-base-url", "https://staging.shelter.org/v1"];
  await Bun.write(document, (await rehome(["openapi", ...addresses, ...staging])).stdout);
}, 120_000);
afterAll(() => folder[Symbol.dispose]());

/** The report that a judge prints as JSON, whatever it says around it. */
async function reportOf(name: string, ...args: string[]): Promise<unknown> {
  const { stdout, stderr } = await runTool(name, ...args, document);
  const start = stdout.search(/^[[{]/m);
  if (start === -1) throw new Error(`there is no report:\n${stdout}${stderr}`);
  const end = Math.max(stdout.lastIndexOf("}"), stdout.lastIndexOf("]"));
  return JSON.parse(stdout.slice(start, end + 1));
}

const spectral = (ruleset: string) =>
  reportOf("spectral", "lint", "--ruleset", ruleset, "--format=json", "--quiet");

/** What each judge finds: warnings and hints too, but for IBM's, which are its house style. */
const linters: Record<string, () => Promise<unknown>> = {
  "redocly lint": async () => {
    const report = await reportOf("redocly", "lint", "--config", "redocly.yaml", "--format=json");
    return (report as { problems: unknown }).problems;
  },
  "spectral lint": () => spectral("spectral.yaml"),
  "OWASP's rules": () => spectral("owasp-ruleset.yaml"),
  "IBM's validator": async () => {
    const args = ["--errors-only", "--ruleset", "ibm-ruleset.cjs", "--json"];
    const report = await reportOf("lint-openapi", ...args);
    return (report as { error: { results: unknown } }).error.results;
  },
};

test.each(Object.entries(linters))("%s finds nothing", async (_name, findings) => {
  expect(await findings()).toEqual([]);
});
