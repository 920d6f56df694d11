/** Whose a file is, and what this process may do with it, in words. */
import { accessSync, constants, statSync } from "node:fs";
import { reasonOf } from "../../domain/system-error.ts";
import { userName } from "../../storage/system.ts";

/** Why this process may not write to the file or folder; undefined if it may. */
export function whyNotWritable(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK);
    return undefined;
  } catch (error) {
    return `${reasonOf(error)}, and it ${ownership(path)}`;
  }
}

/** `belongs to root (mode 0755), and this process runs as alice`: the end of a sentence. */
export function ownership(path: string): string {
  const { uid, mode } = statSync(path);
  const permissions = (mode & 0o7777).toString(8).padStart(4, "0");
  const us = userName(process.geteuid?.() ?? 0);
  return `belongs to ${userName(uid)} (mode ${permissions}), and this process runs as ${us}`;
}
