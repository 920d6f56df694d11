/** The processes that a process has started: those of `--processes`, and the console's. */
import { readFileSync } from "node:fs";

/** None of a process that is over, and none on a system without /proc. */
export function childrenOf({ pid }: { readonly pid: number }): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return text.trim().split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Ends a process that may be over already. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

export function isRunning(pid: number): boolean {
  try {
    // A process that has ended and was not waited for is a zombie.
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
