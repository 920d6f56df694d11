/** Runs of `bun test`, for both suites. A failure is a failure: nothing runs a second time. */
import { readFileSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
/** Ends a test that hangs. A slow machine needs a third of it for the longest. */
const timeoutMs = 360_000;

export interface Attempt {
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

/** Runs `bun test` with `args`, which name files of test/. */
export async function attempt(
  args: readonly string[],
  env: object = {},
  stdio: "inherit" | "pipe" = "pipe",
): Promise<Attempt> {
  const command = [process.execPath, "test", "--timeout", String(timeoutMs), ...args];
  const child = Bun.spawn(command, {
    cwd: root,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: stdio,
    stderr: stdio,
  });
  const streams = [child.stdout, child.stderr].map(async (stream) => (await stream?.text()) ?? "");
  const text = (await Promise.all(streams)).join("");
  return { isPassed: (await child.exited) === 0, text };
}

/** `text` as .ci/run counts nothing of it: tests that are counted elsewhere. */
export const setOff = (text: string) => text.replaceAll(/^/gm, "| ");
