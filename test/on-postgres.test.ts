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
  "test/binary/console-spanish.test.ts": "is about words",
  "test/binary/http.test.ts": "is about bytes on a socket, and reaches no store",
  "test/binary/import-guide.test.ts": "runs what a page says, on a folder",
  "test/binary/log.test.ts": "is about lines of a log",
  "test/binary/tls.test.ts": "is about certificates",
  "test/binary/backup.test.ts": "a database is backed up with its own tools",
  "test/binary/migrate.test.ts": "is about a data folder of an older version",
  "test/binary/store-copy.test.ts": "names both stores itself",
};

/**
 * Single tests that do not run on PostgreSQL, by the reason. Nothing else may be skipped there, and
 * all of them are.
 */
const testsLeftOut: Readonly<Record<string, readonly string[]>> = {
  "looks into the files of a data folder, or at who may read them": [
    "a killed server leaves a catalogue that is whole",
    "what the service makes is its user's alone",
    "the data folder is the owner's alone",
    "makes no data folder",
    "a data folder that cannot be made fails in words",
    // The doctor of a folder; test/binary/doctor.test.ts has a part of its own for a database.
    "beside its server has no trouble but the missing backup, and none after it",
    "is left byte for byte as it was",
    "is read by a person: a line a check, advice below, in colour",
    "that does not exist yet is no failure, and is not made",
    "is explained by the setting that it comes from",
    "is ok, about to end, ended, or nothing that a start could use",
    "that is a file fails",
    "that this user may not make fails as serve does",
    "with what a killed restore left is warned of",
    "that its own user cannot list is warned of",
    "that others can enter, and a file that others can read, are warned of",
    "with a damaged page fails with the restore to be done",
    "of damaged counters says to move them away: a backup has none",
    "of another program fails",
    "of a newer program fails",
    "a backup of last week is too old",
    // Files that go away under a server, and what a start refuses of them.
    "a data folder that is reached through a link is watched where it is",
    "a folder that is moved back serves again, with every animal that was acknowledged",
    "a long one that lacks its end, with a log beside it, is refused",
    "a pipe holds nobody up",
    "a restore follows none either",
    "a second server on new counters does not double what the first one admits",
    "another folder is in its place: 503, not ready, an error, exit code 1",
    "is empty beside counters that were used: refused, with what to do",
    "is missing beside counters that were used: refused, with what to do",
    "limits.db: no mode, owner or byte of what it names is changed",
    "rehome.db-wal: no mode, owner or byte of what it names is changed",
    "rehome.db: no mode, owner or byte of what it names is changed",
    "the catalogue is replaced by a copy of itself: 503, not ready, an error, exit code 1",
    "the catalogue's log is removed: 503, not ready, an error, exit code 1",
    "the counters are removed: 503, not ready, an error, exit code 1",
    // A disk that cannot be written to.
    "where creates get 503, the server is not ready until it ends",
    "where lists get 503, the server is not ready until it ends",
    "the folder is moved: 503, not ready, an error, exit code 1",
    "the folder is removed: 503, not ready, an error, exit code 1",
    "with a link for a catalogue fails as serve does",
    "with an empty catalogue beside used counters fails as serve does",
    "with no catalogue beside used counters fails as serve does",
  ],
  "a database has a clock of its own, by which it decides": [
    "a clock behind what the store has seen is warned of",
  ],
  "one lock guards the whole catalogue in SQLite only": [
    "/ready names the lock of the catalogue while it is held",
    "are kept while another process holds the lock at the stop",
  ],
  "a connection to a database takes a descriptor, which may have to be opened anew": [
    "a server without any answers on, stores on, and says so",
  ],
  "a database does not tell whether others changed the counters; they are taken to have as time goes by":
    ["that others gave back are asked for once, not every second from then on"],
  "a database is not asked for the press of a Tab": [
    "by id, the newest first, with label and plan",
    "by label, unless it would command the terminal",
    "of the folder that is being named",
    "while a server has the store",
    "by the first digits of their ids, fifty at the most",
  ],
  "Bun closes a connection when a request is pipelined behind one whose answer takes more than a turn":
    ["a pipeline is answered in its order"],
};
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
  expect(skipped.toSorted()).toEqual(Object.values(testsLeftOut).flat().toSorted());
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
