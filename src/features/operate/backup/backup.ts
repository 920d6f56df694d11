/** `rehome backup`: a checked copy of the catalogue, also of one that is in use. */
import { Database } from "bun:sqlite";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { Argument, type Command, Option } from "commander";
import { beginOnStore, commandOf } from "../../../cli/command.ts";
import { messageOf, UsageError } from "../../../cli/errors.ts";
import { printJson, type Io } from "../../../cli/io.ts";
import { json, type Static } from "../../../cli/json.ts";
import { randomShare, withServices } from "../../../cli/open.ts";
import { addSetting, addSettings, parseText, wholeNumber } from "../../../cli/options.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";
import type { LoadedConfig } from "../../../config.ts";
import { dayMs, systemClock } from "../../../domain/clock.ts";
import { parseDuration } from "../../../domain/duration.ts";
import { AppError } from "../../../domain/errors.ts";
import { reasonNotMade } from "../../../domain/system-error.ts";
import { findJob, finishJob, jobName, type JobOutcome } from "../../jobs.ts";
import { backup, partialEnding } from "../../../storage/sqlite/backup.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { othersMayLink } from "../../../storage/sqlite/folder.ts";
import { examine } from "../../../storage/sqlite/inspect.ts";
import { storeIdFact } from "../../../storage/store-state.ts";
import { blankSecrets } from "./carry-over.ts";
import { encryptedEnding, encryptFile, temporary } from "./encryption.ts";
import { dataFolder, listCommand, locate } from "./find.ts";
import { isUnfinished, newName, olderBackups, stagedName } from "./names.ts";
import { deliver, isBucket, NotReadBack, type Place } from "./places.ts";
import { backupSettings } from "./settings.ts";
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
type Made = Static<typeof backupSchema>;
/** A file with a catalogue, and how much is in it. */
type Contents = Omit<Made, "removed">;

interface Options {
  readonly keep?: number;
  readonly scheduled?: true;
  readonly json?: true;
}

export function backupCommand(io: Io): Command {
  const command = commandOf({
    name: "backup",
    about:
      "copy the catalogue and its keys to a file, a folder or a bucket, while the service runs",
    arguments: [
      new Argument(
        "[place]",
        "new file to write; or a folder or s3://BUCKET/PREFIX, for a dated file there; by default where --backup-to says",
      ).argParser(parseText),
    ],
    options: [
      new Option(
        "--keep <N>",
        "dated backups of this store to keep there; older ones are removed",
      ).argParser(wholeNumber(99_999)),
      // For the service: what went wrong is on the schedule, and no failure of the command.
      new Option("--scheduled").hideHelp(),
    ],
    remark: `The backup is one moment of the store. It gets its name after it was checked. It has
no request counters, and no credentials of followed lists unless it is encrypted; one
within an address (?key=...) stays. Dated names are rehome-STORE-TIME.db, in UTC, with
.age behind them if encrypted. --keep removes only such files of this store, and only
after the new backup is complete.`,
    examples: [
      "rehome backup /var/backups/rehome --keep 14",
      "rehome backup s3://bucket/rehome --backup-recipient age1...",
      "rehome backup list s3://bucket/rehome",
      "rehome backup verify /mnt/usb/rehome.db",
    ],
    json: backupSchema,
  })
    // What stands behind verify is its own, --json too.
    .enablePositionalOptions()
    .addCommand(verifyCommand(io))
    .addCommand(listCommand(io));
  addSettings(command, ["data", "movedStore"]);
  addSetting(command, backupSettings.recipient);
  addSetting(command, backupSettings.credentials);
  return command.action((place: string | undefined, options: Options) => {
    const loaded = beginOnStore(command, io);
    return options.scheduled ? makeScheduled(loaded, io) : makeNow(place, options, loaded, io);
  });
}

async function makeNow(
  place: string | undefined,
  options: Options,
  loaded: LoadedConfig,
  io: Io,
): Promise<void> {
  if (place === "-") {
    throw new UsageError(
      "A backup is a file, and does not go to standard output.",
      "Name a file or a folder; ./- for a file of that name.",
    );
  }
  const { contents, removeOlder } = await makeBackup(place, loaded, io, options);
  const made: Made = { ...contents, removed: await removeOlder() };
  if (options.json) return printJson(io, made);
  io.out(
    `Backed up ${counted(made.animals, "animal")} and ${counted(made.keys, "key")} to ${made.file} (${grouped(made.bytes)} bytes, verified).\n`,
  );
  for (const each of made.removed) io.out(`Removed ${each}\n`);
  return undefined;
}

/** Makes the backup of the settings, and stores on the schedule how it ended. */
async function makeScheduled(loaded: LoadedConfig, io: Io): Promise<void> {
  await withServices(loaded.config, io, async ({ store, clock }) => {
    const name = jobName("backup", "");
    const begun = await store.db.read((tx) => findJob(tx, name));
    const outcome = await outcomeOf(loaded, io);
    const spread = randomShare();
    await store.db.transaction((tx) => finishJob(tx, name, outcome, clock(), spread, begun));
  });
}

async function outcomeOf(loaded: LoadedConfig, io: Io): Promise<JobOutcome> {
  try {
    const { removeOlder } = await makeBackup(undefined, loaded, io, { scheduled: true });
    return await removeOlder().then(
      () => ({ ok: true }),
      (error) => ({ ok: true, note: { text: messageOf(error) } }),
    );
  } catch (error) {
    const problem = { text: messageOf(error) };
    if (!(error instanceof NotReadBack)) return { ok: false, problem };
    // The next one would be sent in vain, too, and all of it stays there.
    return {
      ok: false,
      problem,
      retryAfterMs: parseDuration(loaded.valueOf(backupSettings.every)),
    };
  }
}

interface Backup {
  readonly contents: Contents;
  /** Removes all of this store there but the newest `keep`, and returns where they were. */
  removeOlder(): Promise<string[]>;
}

/**
 * Makes a backup at `address`, or where the settings have them. Throws AppError when that fails; a
 * backup that has its name is whole.
 */
async function makeBackup(
  address: string | undefined,
  loaded: LoadedConfig,
  io: Io,
  { keep: wanted, scheduled }: Options,
): Promise<Backup> {
  const isOfSettings = address === undefined;
  const keep = wanted ?? (isOfSettings ? loaded.valueOf(backupSettings.keep) : undefined);
  const folder = dataFolder(loaded.config, "backup");
  const { place, name: given } = isOfSettings
    ? ofSettings(folder, loaded, io, scheduled === true)
    : locate(address, loaded, io);
  if (keep !== undefined && given !== undefined) {
    throw new UsageError(
      `--keep needs a folder, and ${place.at(given)} is not a folder.`,
      "Create the folder for the account that makes the backups, and name it.",
    );
  }
  const recipient = loaded.valueOf(backupSettings.recipient);
  if (recipient !== undefined && given?.endsWith(encryptedEnding) === false) {
    throw new UsageError(
      "The name of an encrypted backup ends in .age.",
      `Name it ${given}${encryptedEnding}.`,
    );
  }
  const nowMs = systemClock();
  const { catalogue } = storeFiles(folder);
  for (const each of new Set([folder, place.folder ?? folder])) removeUnfinished(each, nowMs);
  const ending = recipient === undefined ? "" : encryptedEnding;
  const name = given ?? (await newName(place, storeMark(catalogue), nowMs, ending));
  const made =
    place.folder !== undefined && recipient === undefined && !othersMayLink(place.folder)
      ? copied(catalogue, place.at(name))
      : await sent(catalogue, folder, place, name, recipient);
  try {
    const marked = isOfSettings && place.folder !== undefined ? mark(place.folder) : undefined;
    recordBackup(folder, { atMs: nowMs, file: made.file, bytes: made.bytes, marked });
  } catch (error) {
    io.err(`The backup could not be recorded in the data folder: ${reasonNotMade(error)}.\n`);
  }
  return {
    contents: made,
    removeOlder: async () => (keep === undefined ? [] : removeOlder(place, keep, name)),
  };
}

/** The folder or bucket of `--backup-to`; a folder is made in one that is there. */
function ofSettings(
  data: string,
  loaded: LoadedConfig,
  io: Io,
  isScheduled: boolean,
): ReturnType<typeof locate> {
  const to = loaded.valueOf(backupSettings.to);
  if (to === undefined) {
    throw new UsageError("A backup needs a place.", "Name a file, a folder or s3://BUCKET/PREFIX.");
  }
  if (isBucket(to)) return locate(to, loaded, io);
  if (isScheduled && lastBackup(data)?.marked === resolve(to) && !existsSync(join(to, marker))) {
    throw new AppError("unavailable", `${to} had backups, and is not the same folder now.`, {
      hint: "Mount its disk. To use the folder as it is: rehome backup",
    });
  }
  if (existsSync(to)) return locate(to, loaded, io);
  try {
    mkdirSync(to, { mode: 0o700 });
  } catch (error) {
    throw new AppError("unavailable", `${to} cannot be made: ${reasonNotMade(error)}.`, {
      cause: error,
      hint: "Make it for the account of the service. Its unit needs ReadWritePaths= for a folder elsewhere.",
    });
  }
  return locate(to, loaded, io);
}

/** What the service leaves in its folder of backups: an empty mount point does not have it. */
const marker = ".rehome-backups";

/** Marks a folder of backups, and returns its whole path. */
function mark(folder: string): string {
  const file = join(folder, marker);
  if (!existsSync(file)) writeFileSync(file, "", { mode: 0o600, flag: "wx" });
  return resolve(folder);
}

/** Makes a copy, without credentials unless it is to be encrypted. */
function copied(catalogue: string, file: string, recipient?: string): Contents {
  backup(catalogue, file, { prepare: recipient === undefined ? blankSecrets : undefined });
  return contentsOf(file);
}

/**
 * Makes the backup in the data folder, encrypts it there, and sends it to its place. In a folder
 * where others can put links, SQLite would follow them.
 */
async function sent(
  catalogue: string,
  folder: string,
  place: Place,
  name: string,
  recipient?: string,
): Promise<Contents> {
  const plain = join(folder, stagedName());
  const encrypted = plain + partialEnding;
  using _files = temporary(plain, encrypted);
  const contents = copied(catalogue, plain, recipient);
  if (recipient !== undefined) {
    await encryptFile(plain, encrypted, recipient);
    rmSync(plain);
  }
  const file = recipient === undefined ? plain : encrypted;
  await deliver(place, name, file);
  return { ...contents, file: place.at(name), bytes: statSync(file).size };
}

/**
 * The first digits of the store's own id, which the names of its backups have; "" for a store from
 * before there were any.
 */
function storeMark(catalogue: string): string {
  if (!existsSync(catalogue)) return "";
  try {
    using db = new Database(catalogue, { readwrite: true, create: false });
    db.run("PRAGMA busy_timeout = 5000");
    db.run("INSERT INTO store_state (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", [
      storeIdFact,
      crypto.randomUUID(),
    ]);
    const id = "SELECT value FROM store_state WHERE name = ?";
    return db.query<{ value: string }, [string]>(id).get(storeIdFact)?.value.slice(0, 8) ?? "";
  } catch {
    // What is wrong with the catalogue is for the copy to say.
    return "";
  }
}

export function contentsOf(file: string): Contents {
  const sql =
    "SELECT (SELECT count(*) FROM pets) AS animals, (SELECT count(*) FROM api_keys) AS keys";
  const counts = examine(file, (db) => db.query<{ animals: number; keys: number }, []>(sql).get());
  return { file, bytes: statSync(file).size, ...(counts ?? { animals: 0, keys: 0 }) };
}

/** Removes what backups left in the folder that were killed more than a day ago. */
function removeUnfinished(folder: string, nowMs: number): void {
  let names: string[] = [];
  try {
    names = readdirSync(folder);
  } catch {
    // A backup may not need to list it.
  }
  for (const name of names.filter(isUnfinished)) {
    const path = join(folder, name);
    const left = statSync(path, { throwIfNoEntry: false });
    if (left !== undefined && left.mtimeMs < nowMs - dayMs) rmSync(path, { force: true });
  }
}

/** Removes all dated backups of the store but the newest `keep`; returns where they were. */
async function removeOlder(place: Place, keep: number, newest: string): Promise<string[]> {
  const names = (await place.list()).map(({ name }) => name);
  const older = olderBackups(names, keep, newest);
  try {
    for (const name of older) await place.remove(name);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.kind, error.message, {
      cause: error,
      hint: "The new backup is complete. Let the account that makes the backups remove older ones.",
    });
  }
  return older.map((name) => place.at(name));
}

/** The last backup that was made of a data folder. */
interface BackupRecord {
  readonly atMs: number;
  /** The whole path that it was written to, or its address in a bucket. */
  readonly file: string;
  readonly bytes: number;
  /** The folder of the service's backups, which has a marker. */
  readonly marked?: string | undefined;
}

const recordFile = (folder: string) => join(folder, "last-backup.json");

/** Records in the data folder that a backup was made, for the doctor. */
export function recordBackup(folder: string, record: BackupRecord): void {
  const file = recordFile(folder);
  const partial = `${file}.${process.pid}${partialEnding}`;
  const whole = isBucket(record.file) ? record.file : resolve(record.file);
  const marked = record.marked ?? lastBackup(folder)?.marked;
  const text = JSON.stringify({ ...record, file: whole, marked });
  rmSync(partial, { force: true });
  try {
    // A file that is there, or a link that somebody put there meanwhile, is not written to.
    writeFileSync(partial, `${text}\n`, { mode: 0o600, flag: "wx" });
    renameSync(partial, file);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** The last backup that was noted, or undefined when there is no note that can be read. */
export function lastBackup(folder: string): BackupRecord | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(recordFile(folder), "utf8"));
    const { atMs, file, bytes, marked } = note as Partial<Record<keyof BackupRecord, unknown>>;
    const isRecord =
      typeof atMs === "number" && typeof file === "string" && typeof bytes === "number";
    if (!isRecord) return undefined;
    return { atMs, file, bytes, ...(typeof marked === "string" && { marked }) };
  } catch {
    return undefined;
  }
}
