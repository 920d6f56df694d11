import { readdirSync, readlinkSync } from "node:fs";

/** What the descriptors of this process lead to. */
export function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      // The one that listed the others is closed.
      return [];
    }
  });
}
