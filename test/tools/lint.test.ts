/**
 * The document before four judges that are not ours. Each is shown to find something in a document
 * that is not right.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { rehome, temporaryFolder } from "../helpers/binary.ts";
import type { CommandResult } from "../helpers/finished.ts";
import { installTools, runTool } from "../helpers/tools.ts";

const folder = temporaryFolder();
const files = {
  document: join(folder.path, "openapi.json"),
  bad: join(folder.path, "bad.json"),
};

beforeAll(async () => {
  await installTools();
  const addresses = ["--base-url", "https://pets.shelter.org/v1"];
  const staging = ["--staging-base-url", "https://staging.shelter.org/v1"];
  const json = await rehome(["openapi", ...addresses, ...staging]);
  await Bun.write(files.document, json.stdout);
  const bad = JSON.parse(json.stdout) as {
    security?: unknown;
    paths: { "/pets/{petId}": { get: { parameters?: unknown } } };
  };
  delete bad.security;
  delete bad.paths["/pets/{petId}"].get.parameters;
  await Bun.write(files.bad, JSON.stringify(bad));
}, 120_000);
afterAll(() => folder[Symbol.dispose]());

/**
 * What each judge finds, as it counts: warnings and hints too, but for IBM's, which are its house
 * style.
 */
const linters = {
  async "redocly lint"(file: string): Promise<unknown[]> {
    const args = ["lint", "--config", "redocly.yaml", "--format=json", file];
    return (reportOf(await runTool("redocly", ...args)) as { problems: unknown[] }).problems;
  },
  async "spectral lint"(file: string): Promise<unknown[]> {
    const args = ["lint", "--ruleset", "spectral.yaml", "--format=json", "--quiet", file];
    return reportOf(await runTool("spectral", ...args)) as unknown[];
  },
  async "OWASP's rules"(file: string): Promise<unknown[]> {
    const args = ["lint", "--ruleset", "owasp-ruleset.yaml", "--format=json", "--quiet", file];
    return reportOf(await runTool("spectral", ...args)) as unknown[];
  },
  async "IBM's validator"(file: string): Promise<unknown[]> {
    const args = ["--errors-only", "--ruleset", "ibm-ruleset.cjs", "--json", file];
    const report = reportOf(await runTool("lint-openapi", ...args));
    return (report as { error: { results: unknown[] } }).error.results;
  },
};

function reportOf({ stdout, stderr }: CommandResult): unknown {
  const start = stdout.search(/^[[{]/m);
  if (start === -1) throw new Error(`there is no report:\n${stdout}${stderr}`);
  return JSON.parse(
    stdout.slice(start, Math.max(stdout.lastIndexOf("}"), stdout.lastIndexOf("]")) + 1),
  );
}

describe.each(Object.entries(linters))("%s", (_name, findings) => {
  test("finds nothing", async () => {
    expect(await findings(files.document)).toEqual([]);
  });

  test("finds what is wrong in another", async () => {
    expect((await findings(files.bad)).length).toBeGreaterThan(0);
  });
});
