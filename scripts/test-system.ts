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
  setOff,
  testFiles,
  type Variables,
  withPostgres,
} from "./bun-test.ts";
import { needPackages, systemPackages } from "./debian-packages.ts";

const root = join(import.meta.dir, "..");
const parallel = "--parallel=2";

const named = process.argv.slice(2).map((path) => basename(path));
const debian = testFiles("test-system/debian/*");
const unknown = named.filter((name) => !debian.some((path) => path.endsWith(`/${name}`)));
if (unknown.length > 0) misused(`There is no ${unknown.join(" or ")} in test-system/debian.`);

/** Tests of stores that several processes have open. */
const ofStores = testFiles("test/**/*").filter((path) =>
  readFileSync(join(root, path), "utf8").includes("helpers/stores.ts"),
);

/** Other tests that hold for PostgreSQL too. Prism's run has those of the API. */
const alsoThere = Object.entries({
  "test/service": "agreed-limits anonymous bans key-directory limiter limiter-model skew upkeep",
  "test/features": "keys/keys keys/usage public/public schedule/schedule sources/pull",
  "test/http": "creates failures response-cache-model",
  "test-system/binary": "import-beside kill kill-imports secrets sources",
}).flatMap(([folder, names]) => testFiles(...names.split(" ").map((name) => `${folder}/${name}`)));

/** What was counted on a data folder is counted once. */
async function again(args: readonly string[], env: Variables): Promise<boolean> {
  const { isPassed, text } = await bunTest([parallel, ...args], env, "pipe");
  process.stdout.write(`On PostgreSQL:\n${setOff(text)}\n`);
  return isPassed;
}

async function runOnPostgres(env: Variables): Promise<boolean> {
  const own = testFiles("test-system/tools/*", "test-system/features/postgres/**/*");
  const { isPassed } = await bunTest([parallel, ...own], env);
  const there = await again([...onPostgres.args, ...ofStores, ...alsoThere], {
    ...onPostgres.env,
    ...env,
  });
  return isPassed && there;
}

/**
 * Tests that seal files, or start a system of their own whose files are kept beside them. Two of
 * those systems at a time would take each other's control groups.
 */
const onDisk = /\/(?:guide|limits-disk|systemd)\.test\.ts$/;

async function runOnDebian(files: readonly string[]): Promise<boolean> {
  const disk = tmpdir();
  keepFilesInMemory();
  const [first, second] = [
    files.filter((path) => !onDisk.test(path)),
    files.filter((path) => onDisk.test(path)),
  ] as const;
  let isPassed = true;
  for (const [paths, atOnce, env] of [
    [first, 2, {}],
    [second, 1, { TMPDIR: disk }],
  ] as const) {
    if (paths.length === 0) continue;
    // Each file has a process of its own: it changes what belongs to the process.
    const options = ["--isolate", `--parallel=${atOnce}`];
    isPassed = (await bunTest([...options, ...paths], env)).isPassed && isPassed;
  }
  return isPassed;
}

needPackages(systemPackages);
if (named.length > 0) {
  const files = debian.filter((path) => named.includes(basename(path)));
  process.exit((await runOnDebian(files)) ? 0 : 1);
}
const onBoth = await withPostgres(runOnPostgres);
process.exit((await runOnDebian(debian)) && onBoth ? 0 : 1);
