/** The processes that a process has started: those of `--processes`, and the console's. */
import { readFileSync } from "node:fs";

export function childrenOf({ pid }: { readonly pid: number }): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.trim().split(" ").filter(Boolean).map(Number);
}

export function isRunning(pid: number): boolean {
  try {
    // A process that has ended and was not waited for is a zombie.
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
