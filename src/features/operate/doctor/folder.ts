/** What the doctor finds of the data folder: its disk, its permissions, and what the unit lets in. */
import { existsSync, readdirSync, readFileSync, realpathSync, statfsSync, statSync } from "node:fs";
import { type LoadedConfig, serviceDataFolder } from "../../../config.ts";
import { type AppError, shellWord } from "../../../domain/errors.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import { freeBytes } from "../../../storage/sqlite/checks.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { refuseNetwork, requireFolder } from "../../../storage/sqlite/folder.ts";
import { backupSettings } from "../backup/settings.ts";
import { ownership } from "../ownership.ts";
import { mountAdvice, sharedFile, systemWithoutModes } from "../permissions.ts";
import { packagedUnit, unitFile, unitName } from "../systemd/units.ts";
import { bytesText, fail, failWith, type Finding, ok, warn } from "./finding.ts";

/** Below this, free some space now. Commits still work for a while, and `/ready` passes. */
const freeFailBytes = 64 * 1024 * 1024;
/** A backup or a migration writes the catalogue once more. This much should be left beside it. */
const freeSpareBytes = 256 * 1024 * 1024;
/** SQLite cuts its log back to 16 MiB, unless somebody reads what came before. */
const logMaxBytes = 64 * 1024 * 1024;

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
    requireFolder(folder);
    if (!existsSync(folder)) {
      return warn(check, `${from} does not exist yet`, "rehome serve makes it.");
    }
    refuseNetwork(folder, statfsSync(folder).type);
  } catch (error) {
    return failWith(check, error as AppError, "Name another folder with --data.");
  }
  const { catalogue, limits } = storeFiles(folder);
  if (isEmpty && existsSync(limits)) {
    const detail = `${from} holds no catalogue: ${catalogue} is missing, but ${limits} is there`;
    return fail(check, detail, "Put it back, or restore a backup.");
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
  const at = shellWord(folder);
  const advice = `Give all of it to one user: chown -R --reference=${at} ${at}; chmod -R u+rwX,go= ${at}`;
  try {
    const path = sharedFile(folder);
    if (path === undefined) return ok(check, "only the folder's user can read it");
    const system = systemWithoutModes(folder);
    return system === undefined
      ? warn(check, `others can read or change ${path}: it ${ownership(path)}`, advice)
      : warn(check, `others can read ${path}: ${system} keeps no permissions`, mountAdvice);
  } catch (error) {
    return warn(check, `${folder} cannot be listed: ${reasonOf(error)}`, advice);
  }
}

/** A log that grew because it cannot be moved into the database. */
export function checkLog(folder: string): Finding[] {
  const log = `${storeFiles(folder).catalogue}-wal`;
  const bytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes <= logMaxBytes) return [];
  const detail = `${log} has ${bytesText(bytes)}: somebody has been reading the database for long`;
  return [warn("log", detail, `Find and end that process: fuser -v ${shellWord(log)}`)];
}

/** The folders of the settings that the unit of the service lets nobody write to. */
export function checkUnit({ config, service, valueOf }: LoadedConfig): Finding[] {
  // Its settings apply to this command because they are the service's.
  const unit = service === undefined ? new Map<string, string[]>() : unitSettings();
  if (unit.get("ProtectSystem")?.at(-1) !== "strict") return [];
  const wordsOf = (name: string) => unit.get(name)?.flatMap((each) => each.split(/ +/)) ?? [];
  const open = [
    ...wordsOf("StateDirectory").map((name) => `/var/lib/${name}`),
    ...wordsOf("ReadWritePaths").map((path) => path.replace(/^[-+]*/, "")),
    // FROM:TO, or one path for both.
    ...wordsOf("BindPaths").map((paths) => paths.replace(/^-?(?:[^:]*:)?([^:]*).*$/, "$1")),
  ];
  const backups = valueOf(backupSettings.to);
  const folders = [config.data, ...(backups?.startsWith("/") === true ? [backups] : [])];
  const isOpen = (path: string) =>
    open.some((each) => `${path}/`.startsWith(`${each.replace(/\/+$/, "")}/`));
  return folders
    .filter((folder) => !isOpen(folder) && !(existsSync(folder) && isOpen(realpathSync(folder))))
    .map((folder) => {
      const line = `ReadWritePaths=${folder}`;
      const advice = `sudo systemctl edit ${unitName}, add [Service] and ${line}, then: sudo systemctl restart rehome`;
      return fail("unit", `${unitName} may not write to ${folder}`, advice);
    });
}

/** The settings of the service's unit and of its drop-ins, by name, in their order. */
function unitSettings(): Map<string, string[]> {
  const unit = [unitFile, packagedUnit].find(existsSync);
  const dropIns = existsSync(`${unitFile}.d`) ? readdirSync(`${unitFile}.d`).toSorted() : [];
  const files = dropIns.filter((name) => name.endsWith(".conf"));
  const all = [
    ...(unit === undefined ? [] : [unit]),
    ...files.map((each) => `${unitFile}.d/${each}`),
  ];
  const found = new Map<string, string[]>();
  for (const line of all.flatMap((file) => readFileSync(file, "utf8").split("\n"))) {
    const [, name, value = ""] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    // An empty value forgets what was set before.
    if (name !== undefined)
      found.set(name, value === "" ? [] : [...(found.get(name) ?? []), value]);
  }
  return found;
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
