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
  type Variables,
  withPostgres,
} from "./bun-test.ts";

/** Two processors have work while some tests wait. */
const parallel = "--parallel=2";
const longestFirst = "--timings=./test/timings.json";

const inProcess = () => bunTest([parallel, longestFirst, ...testFiles("test/**/*")]);

const outside = ["*", "{binary,clients,scripts}/*", "features/*"];
const blackBox = (env: Variables) =>
  bunTest(
    [parallel, longestFirst, ...testFiles(...outside.map((each) => `test-system/${each}`))],
    env,
  );

const smokeFiles = testFiles("test/storage/contract", "test-system/binary/api");

/** Tests that were counted once already, on the other store. */
async function smoke(env: Variables) {
  const run = await bunTest(
    [...onPostgres.args, ...smokeFiles],
    { ...onPostgres.env, ...env },
    "pipe",
  );
  process.stdout.write(`On PostgreSQL:\n${setOff(run.text)}\n`);
  return run;
}

keepFilesInMemory();
const runs = [
  await inProcess(),
  ...(await withPostgres(async (env) => [await blackBox(env), await smoke(env)])),
];
process.exit(runs.every(({ isPassed }) => isPassed) ? 0 : 1);
