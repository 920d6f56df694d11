/**
 * The first suite, which needs none of Debian's tools: every test on a data folder, and beside it,
 * on PostgreSQL, those of the services and of the executable that depend on the store. What a
 * feature does with a store its own tests do on both.
 */
import { join } from "node:path";
import { startServer } from "../test/helpers/postgres.ts";
import { attempt, type Attempt, keepFilesInMemory, setOff } from "./attempt.ts";

const root = join(import.meta.dir, "..");

/** test-system/tools/prism.test.ts runs the black-box tests of the API there, too. */
const onPostgres = Object.entries({
  service:
    "agreed-limits anonymous bans key-directory keys limiter limiter-model skew upkeep usage",
  features: "public/public schedule/schedule sources/pull",
  http: "creates failures response-cache-model",
  binary: "import-beside kill kill-imports secrets sources undo upgrade",
}).flatMap(([folder, names]) => {
  const top = folder === "binary" ? "test-system" : "test";
  return names.split(" ").map((name) => `./${top}/${folder}/${name}.test.ts`);
});

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

/** Runs files of test/. */
async function run(
  files: readonly string[],
  env: object,
  stdio: "inherit" | "pipe",
  ...flags: readonly string[]
): Promise<Attempt> {
  const where = { TEST_SERVER: server.url, TEST_CLUSTER: server.folder };
  return attempt(["--no-isolate", ...flags, ...files], { ...memory, ...env, ...where }, stdio);
}

const store = { TEST_STORE: "postgres" };
const cleanUp = ["--preload", "./test/helpers/clean-up.ts"];
const all = [...new Bun.Glob("./{test,test-system}/**/*.test.ts").scanSync(root)];
const onFolder = all.filter((path) => !path.startsWith("./test-system/debian/"));
const longestFirst = "--timings=./test/timings.json";

const running = run(onPostgres, store, "pipe", `--parallel=${beside.postgres}`, ...cleanUp);
const first = await run(onFolder, {}, "inherit", `--parallel=${beside.folder}`, longestFirst);
const again = await running;
// The same tests on another store: each is counted once.
process.stdout.write(`On PostgreSQL:\n${setOff(again.text)}\n`);
await server.stop();
process.exit(first.isPassed && again.isPassed ? 0 : 1);
