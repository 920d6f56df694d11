/**
 * A small file in the data folder that is given back where a change must be made on a full disk: a
 * leaked key has to be stoppable.
 */
import { randomBytes } from "node:crypto";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freeBytes } from "../../storage/sqlite/folder.ts";
import { storeFiles } from "../../storage/sqlite/files.ts";

const roomBytes = 1024 * 1024;
const freeMinBytes = 64 * roomBytes;

const fileIn = (folder: string) => join(folder, "rehome.spare");

/** Makes the file of a data folder whose disk has room, if it is missing. */
export function reserveRoom(folder: string): void {
  try {
    if (!existsSync(fileIn(folder)) && freeBytes(folder) >= freeMinBytes) write(fileIn(folder));
  } catch {
    // It is of use later, if ever; what is wrong with the disk others say.
  }
}

export function giveRoom(folder: string): boolean {
  try {
    rmSync(fileIn(folder));
    return true;
  } catch {
    return false;
  }
}

/** Runs `work`, which may give the room back, and then takes what is left of it again. */
export async function withRoom<T>(
  folder: string,
  work: (give: () => void) => Promise<T>,
): Promise<T> {
  if (!existsSync(storeFiles(folder).catalogue)) return work(() => undefined);
  let isGiven = false;
  try {
    return await work(() => void (isGiven = giveRoom(folder)));
  } finally {
    if (isGiven) write(fileIn(folder));
  }
}

/** Writes as much as the disk takes. What it has is random: some file systems store no zeros. */
function write(file: string): void {
  try {
    writeFileSync(file, randomBytes(roomBytes), { flag: "wx", mode: 0o600 });
  } catch {
    // A part of it is better than nothing.
  }
}
