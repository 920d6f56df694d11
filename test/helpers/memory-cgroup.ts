import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The files of a memory cgroup, as version 1 and version 2 of the interface name them. */
const versions = [
  {
    root: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    most: "memory.max_usage_in_bytes",
  },
  { root: "/sys/fs/cgroup", limit: "memory.max", most: "memory.peak" },
] as const;

export interface MemoryCgroup {
  /** The most memory that the group had, buffers of its files and connections included. */
  mostBytes(): number;
  /** Removes the group, once its processes have ended. */
  [Symbol.dispose](): void;
}

/**
 * Gives the process `pid` at most `limitBytes` of memory: beyond it the system kills it. Returns
 * undefined, and says so, where there is no right to make such a group.
 */
export function memoryCgroup(pid: number, limitBytes: number): MemoryCgroup | undefined {
  const files = versions.find(({ root }) => existsSync(join(root, "cgroup.procs")));
  if (files === undefined) return missing("there is none on this machine");
  const folder = join(files.root, `rehome-test-${pid}`);
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, files.limit), String(limitBytes));
    writeFileSync(join(folder, "cgroup.procs"), String(pid));
  } catch (error) {
    if (existsSync(folder)) rmdirSync(folder);
    return missing(String(error));
  }
  return {
    mostBytes: () => Number(readFileSync(join(folder, files.most), "utf8")),
    [Symbol.dispose]: () => rmdirSync(folder),
  };
}

function missing(why: string): undefined {
  process.stderr.write(`Without a memory cgroup: ${why}\n`);
}
