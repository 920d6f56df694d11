import { existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { serviceDataFolder } from "../../../config.ts";
import { shellWord, type AppError } from "../../../domain/errors.ts";
import { freeBytes } from "../../../storage/sqlite/checks.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import {
  folderRemedy,
  mayWrite,
  ownership,
  refuseNetwork,
  requireMakeable,
  requireReachable,
} from "../../../storage/sqlite/folder.ts";
import { bytesText, fail, failWith, ok, warn, type Finding } from "./finding.ts";

/** Below this, free some space now. Commits still work for a while, and `/ready` passes. */
const freeFailBytes = 64 * 1024 * 1024;
/** A backup or a migration writes the catalogue once more. This much should be left beside it. */
const freeSpareBytes = 256 * 1024 * 1024;
/** Bits of a mode that let anybody but the owner in. */
const othersMask = 0o077;

/** The data folder: whether it is there, on a disk that locks hold on, and can be written. */
export function checkFolder(folder: string, why: string): Finding {
  const check = "data folder";
  const from = `${folder} (${why})`;
  const isEmpty = !hasCatalogue(folder);
  if (isEmpty && hasCatalogue(serviceDataFolder)) {
    return fail(
      check,
      `${from} holds no catalogue, but ${serviceDataFolder} does`,
      `Name that folder with --data ${serviceDataFolder} or REHOME_DATA, or run the command as its owner.`,
    );
  }
  try {
    requireReachable(folder);
    if (!existsSync(folder)) {
      requireMakeable(folder);
      return warn(check, `${from} does not exist yet`, "rehome serve makes it.");
    }
    refuseNetwork(folder, statfsSync(folder).type);
  } catch (error) {
    return failWith(check, error as AppError, "Name another folder with --data.");
  }
  if (!mayWrite(folder)) {
    return fail(check, `${from} cannot be written: it ${ownership(folder)}`, folderRemedy(folder));
  }
  if (isEmpty) return warn(check, `${from} holds no catalogue yet`, "rehome serve makes one.");
  return ok(check, from);
}

function hasCatalogue(folder: string): boolean {
  return existsSync(storeFiles(folder).catalogue);
}

/** Whether its owner alone can read the folder, and owns all files in it. */
export function checkPermissions(folder: string): Finding {
  const check = "permissions";
  const { mode, uid } = statSync(folder);
  if ((mode & othersMask) !== 0) {
    return warn(
      check,
      `others can enter ${folder}: it ${ownership(folder)}`,
      `chmod 700 ${shellWord(folder)}`,
    );
  }
  if ((mode & 0o400) === 0) {
    return warn(check, `${folder} cannot be listed: it ${ownership(folder)}`, folderRemedy(folder));
  }
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const file = statSync(path, { throwIfNoEntry: false });
    // A log that SQLite has just folded into its file.
    if (file === undefined) continue;
    if ((file.mode & othersMask) !== 0) {
      const mode = file.isDirectory() ? "700" : "600";
      return warn(
        check,
        `others can read ${path}: it ${ownership(path)}`,
        `chmod ${mode} ${shellWord(path)}`,
      );
    }
    if (file.uid !== uid) {
      return warn(
        check,
        `${path} has another owner than the folder: it ${ownership(path)}`,
        `chown --reference=${shellWord(folder)} ${shellWord(path)}`,
      );
    }
  }
  return ok(check, "only the folder's user can read it");
}

/** Room on the disk, beside a catalogue of `catalogueBytes`. */
export function checkDisk(folder: string, catalogueBytes: number): Finding {
  const check = "disk";
  const free = freeBytes(folder);
  const detail = `${bytesText(free)} free, the catalogue takes ${bytesText(catalogueBytes)}`;
  if (free < freeFailBytes) {
    return fail(check, detail, "Free some space now: creates are refused when the disk is full.");
  }
  if (free < catalogueBytes + freeSpareBytes) {
    return warn(check, detail, "Free some space: an upgrade needs as much as the catalogue takes.");
  }
  return ok(check, detail);
}
