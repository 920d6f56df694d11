/**
 * Tests of the services, of the web edge and of the executable hold for a data folder and for a
 * database. They run on a folder by themselves; here they all run on PostgreSQL. By hand:
 * `TEST_STORE=postgres bun test --preload ./test/helpers/clean-up.ts test/binary/contract.test.ts`.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { temporaryFolder } from "./helpers/binary.ts";
import { sharedServer } from "./helpers/postgres.ts";
import { finished } from "./helpers/finished.ts";

/** Files that name the stores themselves, or are about a data folder from end to end. */
const filesLeftOut = {
  "test/binary/abuse.test.ts": "is about bytes on a socket, and reaches no store",
  "test/binary/bodies.test.ts": "is about bytes on a socket, and reaches no store",
  "test/binary/command-line.test.ts": "is about words and arguments, and reaches no store",
  "test/binary/completion.test.ts": "reads no store",
  "test/binary/console-process.test.ts": "is about a process, its memory and its uploads",
  "test/binary/console-spanish.test.ts": "is about words",
  "test/binary/damaged-lists.test.ts": "is about a process and files, and looks at no store",
  "test/binary/http.test.ts": "is about bytes on a socket, and reaches no store",
  "test/binary/import-guide.test.ts": "runs what a page says, on a folder",
  "test/binary/log.test.ts": "is about lines of a log",
  "test/binary/tls.test.ts": "is about certificates",
  "test/binary/backup.test.ts": "a database is backed up with its own tools",
  "test/binary/backup-s3.test.ts": "a database is backed up with its own tools",
  "test/binary/scheduled-backups.test.ts": "a database is backed up with its own tools",
  "test/binary/histories.test.ts": "names the stores itself",
  "test/binary/migrate.test.ts": "is about a data folder of an older version",
  "test/binary/root.test.ts": "is about files and links of a data folder",
  "test/binary/store-copy.test.ts": "names both stores itself",
};

/** Tests about the files of a data folder say so beside themselves: `skipIf(isOnPostgres)`. */
const skippedMax = 60;
const passedMin = 750;

test("the tests of services, web edge and executable hold on PostgreSQL too", async () => {
  using folder = temporaryFolder();
  const report = join(folder.path, "report.xml");
  const { url } = await sharedServer();
  const flags = ["--parallel=2", "--preload", "./test/helpers/clean-up.ts", "--timeout", "120000"];
  const reporter = ["--reporter", "junit", "--reporter-outfile", report];
  const child = Bun.spawn([process.execPath, "test", ...flags, ...reporter, ...(await suites())], {
    cwd: join(import.meta.dir, ".."),
    env: { ...process.env, FORCE_COLOR: "0", TEST_STORE: "postgres", REHOME_TEST_POSTGRES: url },
    stdout: "pipe",
    stderr: "pipe",
  });
  const { exitCode, stdout, stderr } = await finished(child);
  if (exitCode !== 0) {
    const lines = `${stdout}${stderr}`.split("\n");
    throw new Error(lines.filter((line) => !/^(?:\((?:pass|skip)\) .*)?$/.test(line)).join("\n"));
  }
  const { passed, skipped } = outcomes(await Bun.file(report).text());
  expect(skipped.length).toBeLessThan(skippedMax);
  expect(passed).toBeGreaterThan(passedMin);
}, 1_800_000);

async function suites(): Promise<string[]> {
  const files = await Array.fromAsync(
    new Glob("test/{service,http,binary}/**/*.test.ts").scan(join(import.meta.dir, "..")),
  );
  const leftOut = Object.keys(filesLeftOut);
  expect(files).toEqual(expect.arrayContaining(leftOut));
  return files.filter((file) => !leftOut.includes(file)).toSorted();
}

/** What a report in JUnit's format says. */
function outcomes(report: string): { passed: number; skipped: string[] } {
  const skipped: string[] = [];
  let passed = 0;
  for (const [, name = "", rest] of report.matchAll(
    /<testcase name="([^"]*)"[^>]*?(\/>|>\s*<\w+)/g,
  )) {
    if (rest === "/>") passed += 1;
    else if (rest?.endsWith("<skipped") === true) skipped.push(name.replaceAll("&apos;", "'"));
  }
  return { passed, skipped };
}
