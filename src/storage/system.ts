import { closeSync, openSync, readFileSync } from "node:fs";

/**
 * How many file descriptors this process may have; Infinity where the system does not say (proc(5),
 * /proc/self/limits).
 */
export function descriptorsMax(): number {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const soft = /^Max open files +(\d+)/m.exec(limits)?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}

/** True when this process may open `count` more files, sockets or pipes. */
export function descriptorsAreFree(count: number): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync("/dev/null", "r"));
    return true;
  } catch (error) {
    const { code } = error as { code?: string };
    return code !== "EMFILE" && code !== "ENFILE";
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** True when a process with this id is running, also of another user. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
