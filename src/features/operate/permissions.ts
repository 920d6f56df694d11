/** Whose files are, what this process and others may do with them, and what can be changed. */
import { readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { storeFiles } from "../../storage/sqlite/files.ts";
import { userName } from "../../cli/machine.ts";

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

/** `belongs to root (mode 0755), and this process runs as alice`: the end of a sentence. */
export function ownership(path: string): string {
  const { uid, mode } = statSync(path);
  const permissions = (mode & 0o7777).toString(8).padStart(4, "0");
  const us = userName(process.geteuid?.() ?? 0);
  return `belongs to ${userName(uid)} (mode ${permissions}), and this process runs as ${us}`;
}
