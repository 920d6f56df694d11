/**
 * The first suite, which needs none of Debian's tools: every test on a data folder, and beside it,
 * on PostgreSQL, those of the services and of the executable that depend on the store. What a
 * feature does with a store its own tests do on both.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUIDv7 } from "bun";
import { startServer } from "../test/helpers/postgres.ts";
import { attempt, type Attempt, keepFilesInMemory, passAlone, setOff } from "./attempt.ts";

const root = join(import.meta.dir, "..");

/** By folder of test/. test/tools/prism.test.ts runs the black-box tests of the API there. */
const onPostgres = Object.entries({
  service:
    "agreed-limits anonymous bans key-directory keys limiter limiter-model skew upkeep usage",
  features: "public/public schedule/schedule sources/pull",
  http: "creates failures response-cache-model",
  binary: "import-beside kill kill-imports secrets sources undo upgrade",
}).flatMap(([folder, names]) => names.split(" ").map((name) => `./test/${folder}/${name}.test.ts`));

/** Two processors have work while some tests wait; a fourth runner only makes all slower. */
const beside = { folder: 2, postgres: 1 };

/**
 * The runners keep the memory that they have: to give it back and take it again is half of their
 * system time. As `bun test` alone does, they load each module once for all files, which is half of
 * the rest. What they start has an environment of its own.
 */
const memory = { MIMALLOC_PURGE_DELAY: "-1" };

keepFilesInMemory();
const server = await startServer();

const reports = mkdtempSync(join(tmpdir(), "rehome-tests-"));

/** Runs files of test/. Those that the report does not hold as passed failed, or did not run. */
async function run(
  files: readonly string[],
  env: object,
  stdio: "inherit" | "pipe",
  ...flags: readonly string[]
): Promise<Attempt & { readonly failed: readonly string[] }> {
  const report = join(reports, `${randomUUIDv7()}.xml`);
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const where = { TEST_SERVER: server.url, TEST_CLUSTER: server.folder };
  const args = ["--no-isolate", ...reporter, ...flags, ...files];
  const tried = await attempt(args, { ...memory, ...env, ...where }, stdio);
  const xml = existsSync(report) ? readFileSync(report, "utf8") : "";
  const passing = xml.matchAll(/<testsuite name="([^"]+)" file="\1" [^>]*failures="0"/g);
  const passed = new Set([...passing].map(([, file]) => `./${file}`));
  return { ...tried, failed: files.filter((file) => !passed.has(file)) };
}

/** Tries the files that failed alone. What is printed is set off: .ci/run counts no test twice. */
async function passesAlone(failed: readonly string[], env: object, ...flags: string[]) {
  if (failed.length === 0) return false;
  return passAlone(failed, (file) => run([file], env, "pipe", ...flags), setOff);
}

const store = { TEST_STORE: "postgres" };
const cleanUp = ["--preload", "./test/helpers/clean-up.ts"];
const all = [...new Bun.Glob("./test/**/*.test.ts").scanSync(root)];
const onFolder = all.filter((path) => !path.startsWith("./test/debian/"));
const longestFirst = "--timings=./test/timings.json";

const running = run(onPostgres, store, "pipe", `--parallel=${beside.postgres}`, ...cleanUp);
const first = await run(onFolder, {}, "inherit", `--parallel=${beside.folder}`, longestFirst);
const again = await running;
process.stdout.write(`On PostgreSQL:\n${again.text}`);
const isPassed =
  (first.isPassed || (await passesAlone(first.failed, {}))) &&
  (again.isPassed || (await passesAlone(again.failed, store, ...cleanUp)));
await server.stop();
rmSync(reports, { recursive: true });
process.exit(isPassed ? 0 : 1);
