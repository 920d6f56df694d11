/**
 * Tests of the services, of the web edge and of the executable hold for a data folder and for a database. They run on a
 * folder by themselves; here they all run on PostgreSQL. By hand:
 * `TEST_STORE=postgres bun test --preload ./test/helpers/clean-up.ts test/binary/contract.test.ts`.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "./helpers/binary.ts";
import { sharedServer } from "./helpers/postgres.ts";

const suites = [
  "test/service",
  "test/http",
  "test/binary/bad-inputs.test.ts",
  "test/binary/contract.test.ts",
  "test/binary/keys.test.ts",
  "test/binary/kill.test.ts",
  "test/binary/pets.test.ts",
];

/** What does not run on PostgreSQL, and why: nothing else may be skipped there, and all of this has to be. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  "looks into the files of a data folder": ["a killed server leaves a catalogue that is whole"],
};
const passedMin = 550;

test("the tests of services, web edge and executable hold on PostgreSQL too", async () => {
  using folder = temporaryFolder();
  const report = join(folder.path, "report.xml");
  const { url } = await sharedServer();
  const flags = ["--preload", "./test/helpers/clean-up.ts", "--timeout", "30000"];
  const reporter = ["--reporter", "junit", "--reporter-outfile", report];
  const child = Bun.spawn([process.execPath, "test", ...flags, ...reporter, ...suites], {
    cwd: join(import.meta.dir, ".."),
    env: { ...process.env, TEST_STORE: "postgres", REHOME_TEST_POSTGRES: url },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [exitCode, stdout, stderr] = await Promise.all([
    child.exited,
    child.stdout.text(),
    child.stderr.text(),
  ]);
  const told = `${stdout}${stderr}`.split("\n").filter((line) => !line.startsWith("(pass)"));
  expect([exitCode, ...told.slice(-80)]).toEqual([0, ...told.slice(-80)]);
  const { passed, skipped } = outcomes(await Bun.file(report).text());
  expect(skipped.toSorted()).toEqual(Object.values(leftOut).flat().toSorted());
  expect(passed).toBeGreaterThan(passedMin);
}, 600_000);

/** What a report in JUnit's format says. */
function outcomes(report: string): { passed: number; skipped: string[] } {
  const skipped: string[] = [];
  let passed = 0;
  for (const [, name = "", rest] of report.matchAll(
    /<testcase name="([^"]*)"[^>]*?(\/>|>\s*<\w+)/g,
  )) {
    if (rest === "/>") passed += 1;
    else if (rest?.endsWith("<skipped") === true) skipped.push(name);
  }
  return { passed, skipped };
}
