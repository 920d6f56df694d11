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

const root = join(import.meta.dir, "..");

/** By folder of test/. test/tools/prism.test.ts runs the black-box tests of the API there. */
const onPostgres = Object.entries({
  service:
    "agreed-limits anonymous bans key-directory keys limiter limiter-model skew upkeep usage",
  features: "public/public schedule/schedule sources/pull",
  http: "creates failures response-cache-model",
  binary: "import-beside kill kill-imports secrets sources undo upgrade",
}).flatMap(([folder, names]) => names.split(" ").map((name) => `./test/${folder}/${name}.test.ts`));

/** Two processors have work while some tests wait. */
const beside = { folder: 3, postgres: 1 };

/**
 * The runners keep the memory that they have: to give it back and take it again is half of their
 * system time. As `bun test` alone does, they load each module once for all files, which is half of
 * the rest. What they start has an environment of its own.
 */
const memory = { MIMALLOC_PURGE_DELAY: "-1" };

const server = await startServer();

const reports = mkdtempSync(join(tmpdir(), "rehome-tests-"));

/** One run of files, as the runner's report tells of it. */
interface Run {
  readonly isPassed: boolean;
  readonly text: string;
  readonly failed: readonly string[];
}

/** Runs files of test/. Those that the report does not hold as passed failed, or did not run. */
async function run(
  files: readonly string[],
  env: object,
  stdio: "inherit" | "pipe",
  ...flags: readonly string[]
): Promise<Run> {
  const report = join(reports, `${randomUUIDv7()}.xml`);
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const shared = ["--no-isolate", "--timeout", "360000"];
  const child = Bun.spawn([process.execPath, "test", ...reporter, ...shared, ...flags, ...files], {
    cwd: root,
    env: {
      ...process.env,
      ...memory,
      ...env,
      TEST_SERVER: server.url,
      TEST_CLUSTER: server.folder,
    },
    stdin: "ignore",
    stdout: stdio,
    stderr: stdio,
  });
  const streams = [child.stdout, child.stderr].map(async (stream) => (await stream?.text()) ?? "");
  const text = (await Promise.all(streams)).join("");
  const isPassed = (await child.exited) === 0;
  const xml = existsSync(report) ? readFileSync(report, "utf8") : "";
  const passing = xml.matchAll(/<testsuite name="([^"]+)" file="\1" [^>]*failures="0"/g);
  const passed = new Set([...passing].map(([, file]) => `./${file}`));
  return { isPassed, text, failed: files.filter((file) => !passed.has(file)) };
}

/**
 * Runs each file that failed from its start, with nothing beside it: a busy machine may be late
 * once. What is printed is set off, so that .ci/run counts no test twice.
 */
async function isPassedAlone({ failed }: Run, env: object, ...flags: string[]): Promise<boolean> {
  let isPassed = failed.length > 0;
  for (const file of failed) {
    process.stdout.write(`RUN AGAIN, ALONE: ${file}\n`);
    const second = await run([file], env, "pipe", ...flags);
    process.stdout.write(second.text.replaceAll(/^/gm, "| "));
    isPassed &&= second.isPassed;
  }
  return isPassed;
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
  (first.isPassed || (await isPassedAlone(first, {}))) &&
  (again.isPassed || (await isPassedAlone(again, store, ...cleanUp)));
await server.stop();
rmSync(reports, { recursive: true });
process.exit(isPassed ? 0 : 1);
