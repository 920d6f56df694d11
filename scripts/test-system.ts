/**
 * The second half of .ci/run, or the files of test-system/debian/ that are named: the services, the
 * features and the executable on PostgreSQL, Prism as a judge of what the executable says there,
 * and what needs Debian's tools (strace, nginx, a browser, systemd, ...).
 */
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { misused } from "./arguments.ts";
import {
  bunTest,
  keepFilesInMemory,
  onPostgres,
  parallel,
  testFiles,
  type Variables,
  withPostgres,
} from "./bun-test.ts";
import { needPackages, systemPackages } from "./debian-packages.ts";

const root = join(import.meta.dir, "..");
const named = process.argv.slice(2).map((path) => basename(path));
const debian = testFiles("test-system/debian/*");
const unknown = named.filter((name) => !debian.some((path) => path.endsWith(`/${name}`)));
if (unknown.length > 0) misused(`There is no ${unknown.join(" or ")} in test-system/debian.`);

/** Tests of stores that several processes have open. */
const ofStores = testFiles("test/**/*").filter((path) =>
  readFileSync(join(root, path), "utf8").includes("helpers/stores.ts"),
);

/** Other tests that hold for PostgreSQL too. Prism's run has those of the API. */
const alsoThere = testFiles(
  "test/service/*",
  "test/features/keys/{keys,usage}",
  "test/features/{public,schedule}/{public,schedule}",
  "test/features/sources/pull",
  "test/http/{answers,response-cache-model}",
  "test-system/binary/{import-beside,kill,kill-imports,secrets,sources,two-versions}",
  "test-system/pet-fields",
);

async function runOnPostgres(env: Variables): Promise<boolean> {
  const own = testFiles("test-system/tools/*", "test-system/features/postgres/**/*");
  const isPassed = await bunTest([parallel, ...own], env);
  return (await onPostgres([...ofStores, ...alsoThere], env)) && isPassed;
}

/**
 * Tests that start a system of their own, whose files are kept beside them. Two of those systems at
 * a time would take each other's control groups.
 */
const onDisk = /\/(?:guide|systemd)\.test\.ts$/;

async function runOnDebian(files: readonly string[]): Promise<boolean> {
  const disk = { TMPDIR: tmpdir() };
  keepFilesInMemory();
  let isPassed = true;
  for (const [isOnDisk, option, env] of [
    [false, parallel, {}],
    [true, "--parallel=1", disk],
  ] as const) {
    const paths = files.filter((path) => onDisk.test(path) === isOnDisk);
    // Each file has a process of its own: it changes what belongs to the process.
    if (paths.length > 0)
      isPassed = (await bunTest(["--isolate", option, ...paths], env)) && isPassed;
  }
  return isPassed;
}

needPackages(systemPackages);
const isPassed = named.length > 0 || (await withPostgres(runOnPostgres));
const chosen = debian.filter((path) => named.length === 0 || named.includes(basename(path)));
process.exit((await runOnDebian(chosen)) && isPassed ? 0 : 1);
