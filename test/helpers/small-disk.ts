/** Disks that can be filled: file systems in memory of some megabytes. */
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./binary.ts";

/** A disk that is gone when it is disposed of. Mounting takes root's rights. */
export function smallDisk(megabytes: number) {
  const folder = temporaryFolder();
  const size = `size=${megabytes}m,mode=0700`;
  const mount = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", size, "tmpfs", folder.path]);
  if (!mount.success) throw new Error(`no disk: ${mount.stderr.toString()}`);
  return {
    path: folder.path,
    [Symbol.dispose]() {
      Bun.spawnSync(["umount", "--lazy", folder.path]);
      folder[Symbol.dispose]();
    },
  };
}

/** Fills the disk to its last byte until what it returns is disposed of. */
export function fill(folder: string): Disposable {
  const file = join(folder, "ballast");
  const { bavail, bsize } = statfsSync(folder);
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize + bsize));
  } catch {
    // Full is what it should be.
  }
  if (statfsSync(folder).bavail !== 0) throw new Error(`${folder} could not be filled`);
  return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
}
