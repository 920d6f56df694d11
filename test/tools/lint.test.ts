/**
 * The document before four judges that are not ours. Each is shown to find something in a document
 * that is not right.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
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

type Finding = Readonly<Record<string, unknown>>;

/**
 * What each judge finds in two documents at once, as it counts: warnings and hints too, but for
 * IBM's, which are its house style.
 */
const linters: Record<string, () => Promise<Finding[]>> = {
  "redocly lint": () =>
    inEach(async (file) => {
      const args = ["lint", "--config", "redocly.yaml", "--format=json", file];
      return (reportOf(await runTool("redocly", ...args)) as { problems: Finding[] }).problems;
    }),
  "spectral lint": () => spectral("spectral.yaml"),
  "OWASP's rules": () => spectral("owasp-ruleset.yaml"),
  "IBM's validator": () =>
    inEach(async (file) => {
      const args = ["--errors-only", "--ruleset", "ibm-ruleset.cjs", "--json", file];
      const report = reportOf(await runTool("lint-openapi", ...args));
      return (report as { error: { results: Finding[] } }).error.results;
    }),
};

async function inEach(lint: (file: string) => Promise<Finding[]>): Promise<Finding[]> {
  const found = [files.document, files.bad].map(async (file) =>
    (await lint(file)).map((finding) => ({ ...finding, file })),
  );
  return (await Promise.all(found)).flat();
}

async function spectral(ruleset: string): Promise<Finding[]> {
  const args = ["lint", "--ruleset", ruleset, "--format=json", "--quiet"];
  return reportOf(await runTool("spectral", ...args, files.document, files.bad)) as Finding[];
}

function reportOf({ stdout, stderr }: CommandResult): unknown {
  const start = stdout.search(/^[[{]/m);
  if (start === -1) throw new Error(`there is no report:\n${stdout}${stderr}`);
  return JSON.parse(
    stdout.slice(start, Math.max(stdout.lastIndexOf("}"), stdout.lastIndexOf("]")) + 1),
  );
}

test.each(Object.entries(linters))(
  "%s finds nothing, and finds what is wrong in another",
  async (_name, findings) => {
    const isInBad = (finding: Finding) => JSON.stringify(finding).includes("bad.json");
    const found = Map.groupBy(await findings(), isInBad);
    expect(found.get(false) ?? []).toEqual([]);
    expect(found.get(true)?.length).toBeGreaterThan(0);
  },
);
