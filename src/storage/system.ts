import { isUtf8 } from "node:buffer";
import { closeSync, openSync, readFileSync } from "node:fs";

/** O_CLOEXEC of open(2) on Linux, which node:fs does not name. */
const closeOnExec = 0o2000000;

/** How many descriptors this process may have, or Infinity (proc(5), /proc/self/limits). */
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

/**
 * True when this process was started without standard output. Bun opens /dev/null in its place, to
 * be closed on exec, and no descriptor that a process inherits is (open(2), O_CLOEXEC).
 */
export function outputIsClosed(): boolean {
  try {
    const info = readFileSync("/proc/self/fdinfo/1", "utf8");
    return (parseInt(/^flags:\s*(\d+)$/m.exec(info)?.[1] ?? "0", 8) & closeOnExec) !== 0;
  } catch {
    return false;
  }
}

/** False when this process was called with bytes that are not UTF-8. Bun reads U+FFFD in them. */
export function argumentsAreText(): boolean {
  try {
    return isUtf8(readFileSync("/proc/self/cmdline"));
  } catch {
    return true;
  }
}
