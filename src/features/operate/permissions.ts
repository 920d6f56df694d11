/** Whether others on this machine can read the data folder, and whether that can be changed. */
import { readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { storeFiles } from "../../storage/sqlite/files.ts";

/** File systems (statfs(2), linux/magic.h) whose files have the mode that they are mounted with. */
const fileSystemsWithoutModes: ReadonlyMap<number, string> = new Map([
  [0x4d_44, "FAT"],
  [0x20_11_ba_b0, "exFAT"],
  [0x53_46_54_4e, "NTFS"],
  [0x73_66_74_6e, "NTFS"],
  [0x65_73_55_46, "FUSE"],
]);

/** What to do where a mode cannot be changed. */
export const mountAdvice =
  "Keep the data on another disk, or mount this one for the account alone, such as with uid=rehome,gid=rehome,umask=077.";

/** The first file of the folder, or the folder, that others can read or that is another user's. */
export function sharedFile(folder: string): string | undefined {
  const { uid } = statSync(folder);
  return [".", ...readdirSync(folder)]
    .map((name) => join(folder, name))
    .find((path) => {
      // A log that SQLite has just folded into its file is missing.
      const file = statSync(path, { throwIfNoEntry: false });
      return file !== undefined && (file.uid !== uid || isOpen(file.mode));
    });
}

const isOpen = (mode: number) => (mode & 0o077) !== 0;

/** The kind of the folder's file system, if its files have no modes of their own. */
export function systemWithoutModes(folder: string): string | undefined {
  // The C library gives the kind as a signed number on some machines.
  return fileSystemsWithoutModes.get(statfsSync(folder).type >>> 0);
}

/**
 * What an operator should know once a store is open in the folder: its catalogue was made private,
 * so that others can read it only where the file system takes no such change.
 */
export function openFolderWarning(folder: string): string | undefined {
  const { catalogue } = storeFiles(folder);
  if (!isOpen(statSync(catalogue).mode)) return undefined;
  const system = systemWithoutModes(folder);
  const kind = system === undefined ? "" : ` (${system})`;
  return `Others on this machine can read ${catalogue}: its file system${kind} keeps no permissions. ${mountAdvice}`;
}
