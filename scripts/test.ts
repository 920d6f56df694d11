/**
 * What needs none of Debian's tools: the tests in the test's own process, those of the executable
 * from outside on a data folder, and some of both on PostgreSQL.
 */
import {
  bunTest,
  keepFilesInMemory,
  onPostgres,
  parallel,
  testFiles,
  withPostgres,
} from "./bun-test.ts";

const longestFirst = "--timings=./test/timings.json";
const run = (files: readonly string[], env = {}) =>
  bunTest([parallel, longestFirst, ...files], env);

keepFilesInMemory();
const isPassed = await run(testFiles("test/**/*"));
const outside = testFiles("test-system/*", "test-system/{binary,clients,scripts}/*");
const smoke = testFiles("test/storage/contract", "test-system/binary/api");
const others = await withPostgres(async (env) => [
  await run(outside, env),
  await onPostgres(smoke, env),
]);
process.exit(isPassed && others.every(Boolean) ? 0 : 1);
