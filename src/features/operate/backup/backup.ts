/** `rehome backup`: a checked copy of the catalogue, also of one that is in use. */
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { beginOnStore, commandOf } from "../../../cli/command.ts";
import { UsageError } from "../../../cli/errors.ts";
import { printJson, type Io } from "../../../cli/io.ts";
import { json } from "../../../cli/json.ts";
import { addSettings, parseText } from "../../../cli/options.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";
import { type Config, dataFolderOf } from "../../../config.ts";
import { dayMs, isoSeconds, systemClock } from "../../../domain/clock.ts";
import { AppError } from "../../../domain/errors.ts";
import { reasonNotMade, reasonOf } from "../../../domain/system-error.ts";
import { backup, partialEnding } from "../../../storage/sqlite/backup.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { giveToOwner } from "../../../storage/sqlite/folder.ts";
import { examine } from "../../../storage/sqlite/inspect.ts";
import { refuseMovedFolder } from "../../hold-catalogue.ts";
import { verifyCommand } from "./verify.ts";

export const backupFields = {
  file: json.text("file that was written"),
  bytes: json.count("size of the file"),
  animals: json.count("animals in it"),
  keys: json.count("keys in it"),
};
export const backupSchema = json.object({
  ...backupFields,
  removed: json.list(json.text("older backup that --keep removed")),
});

interface Options {
  readonly keep?: number;
  readonly json?: true;
}

export function backupCommand(io: Io): Command {
  const command = commandOf({
    name: "backup",
    about: "copy the catalogue and its keys to a new file, while the service runs",
    arguments: [
      new Argument("<file>", "new file to write; or a folder, for a dated file in it").argParser(
        parseText,
      ),
    ],
    options: [
      new Option(
        "--keep <N>",
        "dated backups to keep in the folder; older ones are removed",
      ).argParser((value: string) => {
        const count = /^\d{1,5}$/.test(value) ? Number(value) : 0;
        if (count > 0) return count;
        throw new InvalidArgumentError("It must be a whole number from 1 to 99999.");
      }),
    ],
    remark: `The backup is one moment of the store. It gets its name after it was checked. It has
no request counters. In a folder its name is rehome-TIME.db, in UTC. --keep removes
only files with such names, and only after the new backup is complete.`,
    examples: [
      "rehome backup /var/backups/rehome --keep 14",
      "rehome backup /mnt/usb/rehome.db --data /var/lib/rehome",
      "rehome backup verify /mnt/usb/rehome.db",
    ],
    json: backupSchema,
  })
    // What stands behind verify is its own, --json too.
    .enablePositionalOptions()
    .addCommand(verifyCommand(io));
  addSettings(command, ["data", "movedStore"]);
  return command.action((place: string, options: Options) =>
    makeBackup(place, beginOnStore(command, io).config, options, io),
  );
}

function makeBackup(place: string, config: Config, { keep, ...options }: Options, io: Io): void {
  if (place === "-") {
    throw new UsageError(
      "A backup is a file, and does not go to standard output.",
      "Name a file or a folder; ./- for a file of that name.",
    );
  }
  const isDated = isFolder(place);
  if (keep !== undefined && !isDated) {
    throw new UsageError(
      `--keep needs a folder, and ${place} is not a folder.`,
      "Create the folder for the account that makes the backups, and name it.",
    );
  }
  const folder = dataFolder(config, "backup");
  const nowMs = systemClock();
  const file = isDated ? datedFile(place, nowMs) : place;
  if (isDated) removeUnfinished(place, nowMs);
  backup(storeFiles(folder).catalogue, file);
  const made = contentsOf(file);
  try {
    recordBackup(folder, { atMs: nowMs, file, bytes: made.bytes });
  } catch (error) {
    io.err(`The backup could not be recorded in the data folder: ${reasonNotMade(error)}.\n`);
  }
  const removed = keep === undefined ? [] : removeOlder(place, keep, file);
  if (options.json) return printJson(io, { ...made, removed });
  io.out(
    `Backed up ${counted(made.animals, "animal")} and ${counted(made.keys, "key")} to ${file} (${grouped(made.bytes)} bytes, verified).\n`,
  );
  for (const each of removed) io.out(`Removed ${each}\n`);
  return undefined;
}

/**
 * The data folder of a command that works on files. Throws when the settings name a database
 * server instead, and where the store was moved elsewhere.
 */
export function dataFolder(config: Config, command: string): string {
  const folder = dataFolderOf(config);
  if (folder === undefined) {
    throw new AppError(
      "invalid_request",
      `rehome ${command} works on a data folder, and the settings name a PostgreSQL database.`,
      { hint: "Use pg_dump and pg_restore for it, or unset REHOME_STORE and REHOME_STORE_FILE." },
    );
  }
  refuseMovedFolder(folder, config);
  return folder;
}

/** A file with a catalogue, and how much is in it. */
export interface Contents {
  readonly file: string;
  readonly bytes: number;
  readonly animals: number;
  readonly keys: number;
}

export function contentsOf(file: string): Contents {
  const sql =
    "SELECT (SELECT count(*) FROM pets) AS animals, (SELECT count(*) FROM api_keys) AS keys";
  const counts = examine(file, (db) => db.query<{ animals: number; keys: number }, []>(sql).get());
  return { file, bytes: statSync(file).size, ...(counts ?? { animals: 0, keys: 0 }) };
}

/** What a dated backup is called: rehome-20261122T021900Z.db. The names sort by their times. */
export const datedName = /^rehome-\d{8}T\d{6}Z(?:-\d+)?\.db$/;

/** A free name in `folder` for a backup made at `nowMs`, in UTC. */
export function datedFile(folder: string, nowMs: number): string {
  const time = isoSeconds(nowMs).replaceAll(/[-:]/g, "");
  for (let number = 1; ; number += 1) {
    const path = join(folder, `rehome-${time}${number === 1 ? "" : `-${number}`}.db`);
    if (!existsSync(path)) return path;
  }
}

/** True if `path` is a folder. Throws `unavailable` if this user may not look at it. */
function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch (error) {
    throw new AppError("unavailable", `${path} cannot be reached: ${reasonOf(error)}.`, {
      cause: error,
      hint: "Name a folder that this user can write to.",
    });
  }
}

/** The names in a folder; none where it cannot be listed, which a backup may not need. */
function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Removes what backups into the folder left that were killed more than a day ago. */
function removeUnfinished(folder: string, nowMs: number): void {
  for (const name of listed(folder)) {
    const isUnfinished =
      name.endsWith(partialEnding) && datedName.test(basename(name, partialEnding));
    const path = join(folder, name);
    if (isUnfinished && statSync(path).mtimeMs < nowMs - dayMs) rmSync(path, { force: true });
  }
}

/**
 * Removes all dated backups of the folder but the newest `keepCount`, and returns their paths.
 * `newest` was made just now. A name with a later time is older: the clock was wrong then, or is
 * now. Other files stay. Throws `unavailable` when one cannot be removed.
 */
export function removeOlder(folder: string, keepCount: number, newest: string): string[] {
  const names = readdirSync(folder).filter((name) => datedName.test(name));
  // Without the ending, so that the second of one second comes after the first.
  const ordered = names.toSorted((a, b) => (a.slice(0, -3) < b.slice(0, -3) ? -1 : 1));
  const end = ordered.indexOf(basename(newest)) + 1;
  const byAge = [...ordered.slice(end), ...ordered.slice(0, end)];
  const older = byAge.slice(0, Math.max(0, names.length - keepCount));
  const paths = older.map((name) => join(folder, name));
  for (const path of paths) remove(path);
  return paths;
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    throw new AppError("unavailable", `${path} cannot be removed: ${reasonOf(error)}.`, {
      cause: error,
      hint: "The new backup is complete. Give the older ones to the account that makes the backups.",
    });
  }
}

/** The last backup that was made of a data folder. */
interface BackupRecord {
  readonly atMs: number;
  /** The whole path that it was written to. */
  readonly file: string;
  readonly bytes: number;
}

const recordFile = (folder: string) => join(folder, "last-backup.json");

/** Records in the data folder that a backup was made, for the doctor. */
export function recordBackup(folder: string, record: BackupRecord): void {
  const file = recordFile(folder);
  const partial = `${file}.${process.pid}${partialEnding}`;
  const text = JSON.stringify({ ...record, file: resolve(record.file) });
  rmSync(partial, { force: true });
  try {
    // A file that is there, or a link that somebody put there meanwhile, is not written to.
    writeFileSync(partial, `${text}\n`, { mode: 0o600, flag: "wx" });
    giveToOwner(partial, folder);
    renameSync(partial, file);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** The last backup that was noted, or undefined when there is no note that can be read. */
export function lastBackup(folder: string): BackupRecord | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(recordFile(folder), "utf8"));
    const { atMs, file, bytes } = note as Partial<Record<keyof BackupRecord, unknown>>;
    const isRecord =
      typeof atMs === "number" && typeof file === "string" && typeof bytes === "number";
    return isRecord ? { atMs, file, bytes } : undefined;
  } catch {
    return undefined;
  }
}
