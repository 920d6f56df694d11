/** Runs of `bun test` for the suites. A failure is a failure: nothing runs a second time. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../test/helpers/postgres.ts";

const root = join(import.meta.dir, "..");
/** Ends a test that hangs. A slow machine needs a third of it for the longest. */
const timeoutMs = 360_000;

export type Variables = Readonly<Record<string, string>>;

interface Outcome {
  readonly isPassed: boolean;
  /** What it printed, unless that went on to the terminal. */
  readonly text: string;
}

/** The folder of Linux that is kept in memory, and more than a run keeps there. */
const memoryFolder = "/dev/shm";
const runMaxBytes = 8 * 1024 ** 3;

/** Has what is run from now on keep its files in memory, if it has room: the disk takes longer. */
export function keepFilesInMemory(): void {
  if (process.platform !== "linux") return;
  const mounts = readFileSync("/proc/mounts", "utf8");
  // Tests start programs there.
  const isFit = /^\S+ \/dev\/shm tmpfs (?!\S*noexec)/m.test(mounts);
  if (!isFit || freemem() < runMaxBytes) return;
  const { bavail, bsize } = statfsSync(memoryFolder);
  if (bavail * bsize >= runMaxBytes) process.env["TMPDIR"] = memoryFolder;
}

/**
 * The runners keep the memory that they have: to give it back and take it again is half of their
 * system time. They load each module once for all files, which is half of the rest. What they start
 * has an environment of its own.
 */
const quick = { MIMALLOC_PURGE_DELAY: "-1" };

/**
 * Runs `bun test` with `args`, which name files and options. What tests leave in the folder for
 * temporary files, such as catalogues in memory that nothing closed, goes with the run.
 */
export async function bunTest(
  args: readonly string[],
  env: Variables = {},
  stdio: "inherit" | "pipe" = "inherit",
): Promise<Outcome> {
  const isolation = args.includes("--isolate") ? [] : ["--no-isolate"];
  const options = ["--timeout", String(timeoutMs), ...isolation];
  const folder = mkdtempSync(join(env["TMPDIR"] ?? tmpdir(), "rehome-run-"));
  // Other accounts, such as that of a database server, read there.
  chmodSync(folder, 0o755);
  try {
    const child = Bun.spawn([process.execPath, "test", ...options, ...args], {
      cwd: root,
      env: { ...process.env, ...quick, ...env, TMPDIR: folder },
      stdin: "ignore",
      stdout: stdio,
      stderr: stdio,
    });
    const streams = [child.stdout, child.stderr].map(async (each) => (await each?.text()) ?? "");
    const text = (await Promise.all(streams)).join("");
    return { isPassed: (await child.exited) === 0, text };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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

/** The options of a run in which each folder that a test names stands for a database. */
export const onPostgres = {
  args: ["--preload", "./test/helpers/clean-up.ts"],
  env: { TEST_STORE: "postgres" },
} as const;

/** `text` as .ci/run counts nothing of it: tests that are counted elsewhere. */
export const setOff = (text: string) => text.replaceAll(/^/gm, "| ");
