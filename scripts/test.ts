/**
 * What needs none of Debian's tools: the tests in the test's own process, those of the executable
 * from outside on a data folder, and some of both on PostgreSQL.
 */
import {
  bunTest,
  keepFilesInMemory,
  onPostgres,
  setOff,
  testFiles,
  withPostgres,
} from "./bun-test.ts";

/** Two processors have work while some tests wait. */
const parallel = "--parallel=2";
const longestFirst = "--timings=./test/timings.json";

const inProcess = () => bunTest([parallel, longestFirst, ...testFiles("test/**/*.test.ts")]);

const folders = "{*,{binary,clients,scripts}/*,features/{*,docs/*}}";
const blackBox = (env: object) =>
  bunTest([parallel, longestFirst, ...testFiles(`test-system/${folders}.test.ts`)], env);

const smokeFiles = ["test/storage/contract.test.ts", "test-system/binary/contract.test.ts"];

/** Tests that were counted once already, on the other store. */
async function smoke(env: object) {
  const args = [...onPostgres.args, ...smokeFiles.map((file) => `./${file}`)];
  const run = await bunTest(args, { ...onPostgres.env, ...env }, "pipe");
  process.stdout.write(`On PostgreSQL:\n${setOff(run.text)}\n`);
  return run;
}

keepFilesInMemory();
const runs = [
  await inProcess(),
  ...(await withPostgres(async (env) => [await blackBox(env), await smoke(env)])),
];
process.exit(runs.every(({ isPassed }) => isPassed) ? 0 : 1);
