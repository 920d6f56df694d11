/** Runs of `bun test` for the suites. A failure is a failure: nothing runs a second time. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../test/helpers/postgres.ts";

const root = join(import.meta.dir, "..");
/** Ends a test that hangs. A slow machine needs a third of it for the longest. */
const timeoutMs = 360_000;
/** Two processors have work while some tests wait. */
export const parallel = "--parallel=2";

export type Variables = Readonly<Record<string, string>>;

/** The folder of Linux that is kept in memory, and more than a run keeps there. */
const memoryFolder = "/dev/shm";
const runMaxBytes = 8 * 1024 ** 3;

/** Has what is run from now on keep its files in memory, if it has room: the disk takes longer. */
export function keepFilesInMemory(): void {
  const mounts = readFileSync("/proc/mounts", "utf8");
  // Tests start programs there.
  const isFit = /^\S+ \/dev\/shm tmpfs (?!\S*noexec)/m.test(mounts);
  if (!isFit || freemem() < runMaxBytes) return;
  const { bavail, bsize } = statfsSync(memoryFolder);
  if (bavail * bsize >= runMaxBytes) process.env["TMPDIR"] = memoryFolder;
}

/**
 * Runs `bun test` with `args`, which name files and options. True if all passed. What tests leave
 * in the folder for temporary files, such as catalogues in memory that nothing closed, goes too.
 */
export async function bunTest(
  args: readonly string[],
  env: Variables = {},
  isCountedElsewhere = false,
): Promise<boolean> {
  const isolation = args.includes("--isolate") ? [] : ["--no-isolate"];
  const preload = ["--preload", "./test/helpers/give-back.ts"];
  const options = ["--timeout", String(timeoutMs), ...preload, ...isolation];
  const folder = mkdtempSync(join(env["TMPDIR"] ?? tmpdir(), "rehome-run-"));
  // Other accounts, such as that of a database server, read there.
  chmodSync(folder, 0o755);
  const output = isCountedElsewhere ? "pipe" : "inherit";
  try {
    const child = Bun.spawn([process.execPath, "test", ...options, ...args], {
      cwd: root,
      env: { ...process.env, ...env, TMPDIR: folder },
      stdio: ["ignore", output, output],
    });
    // .ci/run counts nothing of what is set off.
    const said = [child.stdout, child.stderr].map(async (each) => (await each?.text()) ?? "");
    for (const text of await Promise.all(said)) {
      process.stdout.write(text.replaceAll(/^(?=.)/gm, "| "));
    }
    return (await child.exited) === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs tests that are counted on a data folder with a database in the place of each folder. */
export function onPostgres(files: readonly string[], env: Variables): Promise<boolean> {
  const args = [parallel, "--preload", "./test/helpers/clean-up.ts", ...files];
  process.stdout.write("On PostgreSQL:\n");
  return bunTest(args, { ...env, TEST_STORE: "postgres" }, true);
}

/** The files that fit one of `patterns`, from the root of the repository. Each fits some. */
export function testFiles(...patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => {
    const files = [...new Bun.Glob(`./${pattern}.test.ts`).scanSync(root)].toSorted();
    // Without a file, `bun test` would run all.
    if (files.length === 0) throw new Error(`there is no ${pattern}.test.ts`);
    return files;
  });
}

/** Runs `work` with the environment that names a PostgreSQL server, which ends with it. */
export async function withPostgres<T>(work: (env: Variables) => Promise<T>): Promise<T> {
  const server = await startServer();
  try {
    return await work({ TEST_SERVER: server.url, TEST_CLUSTER: server.folder });
  } finally {
    await server.stop();
  }
}
