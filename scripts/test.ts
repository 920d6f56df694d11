/**
 * The first suite, which needs none of Debian's tools: every test on a data folder, and beside it,
 * on PostgreSQL, those of the services and of the executable that depend on the store. What a
 * feature does with a store its own tests do on both.
 */
import { join } from "node:path";
import { startServer } from "../test/helpers/postgres.ts";

const root = join(import.meta.dir, "..");

/** By folder of test/. test/tools/prism.test.ts runs the black-box tests of the API there. */
const onPostgres = Object.entries({
  service:
    "agreed-limits anonymous bans key-directory keys limiter limiter-model schedule skew upkeep usage",
  http: "creates failures response-cache-model",
  binary: "import-beside kill kill-imports secrets sources undo upgrade",
}).flatMap(([folder, names]) => names.split(" ").map((name) => `./test/${folder}/${name}.test.ts`));

/** Two processors have work while some tests wait. */
const beside = { folder: 3, postgres: 1 };

const server = await startServer();

function run(workers: number, stdio: "inherit" | "pipe", env: object, ...more: string[]) {
  const flags = [`--parallel=${workers}`, "--timeout", "120000"];
  return Bun.spawn([process.execPath, "test", ...flags, ...more], {
    cwd: root,
    env: { ...process.env, ...env, TEST_SERVER: server.url, TEST_CLUSTER: server.folder },
    stdin: "ignore",
    stdout: stdio,
    stderr: stdio,
  });
}

const store = { TEST_STORE: "postgres" };
const cleanUp = ["--preload", "./test/helpers/clean-up.ts"];
const again = run(beside.postgres, "pipe", store, ...cleanUp, ...onPostgres);
const texts = Promise.all(
  [again.stdout, again.stderr].map((stream) => new Response(stream).text()),
);
const longest = "--timings=./test/timings.json";
const first = run(
  beside.folder,
  "inherit",
  {},
  longest,
  "--path-ignore-patterns",
  "test/debian/**",
);
const codes = [await first.exited, await again.exited];
process.stdout.write(`On PostgreSQL:\n${(await texts).join("")}`);
await server.stop();
process.exit(Math.max(...codes));
