/** `rehome backup list` and `verify`, and the backup that an address names. */
import { existsSync, statSync, accessSync, constants, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Argument, type Command, Option } from "commander";
import { beginWithoutStore, commandOf } from "../../command.ts";
import { UsageError } from "../../usage-error.ts";
import type { Io } from "../../../cli/io.ts";
import { printJson, json, type Static } from "../../json.ts";
import { addSettings, parseText } from "../../options.ts";
import { printTable } from "../../table.ts";
import { grouped, counted } from "../../../cli/terminal/text.ts";
import { type Config, dataFolderOf, type LoadedConfig } from "../../../config.ts";
import { isoSeconds, systemClock } from "../../../domain/clock.ts";
import { AppError, shellWord } from "../../../domain/errors.ts";
import { freeBytes } from "../../../storage/sqlite/folder.ts";
import { inMemory, migrationsOf } from "../../../storage/sqlite/files.ts";
import { distrust, examine, refuseMovedFolder } from "../examine-catalogue.ts";
import { decryptTo, encryptedEnding, encrypterFor, save, temporary } from "./encryption.ts";
import { datedNames, stagedName } from "./names.ts";
import { bucketAccess } from "./credentials.ts";
import { bucketPlace, folderPlace, isBucket, type Place } from "./places.ts";
import { backupSettings } from "../settings.ts";
import { Database } from "bun:sqlite";
import { tmpdir } from "node:os";
import { reasonOf } from "../../../domain/system-error.ts";
import { checkRules, countsIn, ofBackup, verify } from "./copy.ts";
import { migrate } from "../../../storage/sqlite/migrate.ts";

/** What an address names: a place, or one file there. */
export function locate(
  address: string,
  loaded: LoadedConfig,
  { env }: Pick<Io, "env">,
): { readonly place: Place; readonly name: string | undefined } {
  if (isBucket(address)) {
    const [, prefix = address, name] = /^(s3:\/\/.+)\/([^/]+\.(?:db|age))$/.exec(address) ?? [];
    return { place: bucketPlace(prefix, bucketAccess(loaded, env)), name };
  }
  // What this user may not look at is for reading or writing it to say.
  if (existsSync(address) && statSync(address).isDirectory())
    return { place: folderPlace(address), name: undefined };
  return { place: folderPlace(dirname(address)), name: basename(address) };
}

/**
 * Throws AppError for `--backup-to` where nothing can be backed up, or with an address or
 * credentials that are none. What only may be missing, such as a disk, is for each backup to say.
 */
export async function requireBackups(loaded: LoadedConfig, io: Io): Promise<void> {
  dataFolder(loaded.config, "serve --backup-to");
  const to = loaded.valueOf(backupSettings.to) ?? "";
  const { place, name } = locate(to, loaded, io);
  if (name !== undefined && (place.folder === undefined || existsSync(to))) {
    const hint = "--backup-to names the place; each backup gets a name of its own.";
    throw new UsageError(
      `${to} is one file, and backups need a folder or s3://BUCKET/PREFIX.`,
      hint,
    );
  }
  const recipient = loaded.valueOf(backupSettings.recipient);
  if (recipient !== undefined) await encrypterFor(recipient);
}

/**
 * The data folder of a command that works on files. Throws when the settings name a database
 * server instead, and where the store was moved elsewhere.
 */
export function dataFolder(config: Config, command: string): string {
  const folder = dataFolderOf(config);
  if (folder === undefined || folder === inMemory) {
    const what = folder === undefined ? "a PostgreSQL database" : "a store in memory";
    throw new AppError(
      "invalid_request",
      `rehome ${command} works on a data folder, and the settings name ${what}.`,
      { hint: "pg_dump --format=custom --file=FILE ADDRESS; pg_restore is for the way back." },
    );
  }
  refuseMovedFolder(folder, config);
  return folder;
}

export const identityOption = () =>
  new Option("--identity <file>", "file with the private key of age, for an encrypted backup");

/** A backup at its place. */
interface FoundBackup {
  readonly place: Place;
  readonly name: string;
}

/**
 * The backup that the address names, or the newest there. Throws AppError if there is none, if it
 * is encrypted and there is no `identity`, and if several stores have backups there.
 */
export async function findBackup(
  given: string,
  identity: string | undefined,
  loaded: LoadedConfig,
  io: Io,
): Promise<FoundBackup & { readonly address: string }> {
  const { place, name = await newest(place, given) } = locate(given, loaded, io);
  const address = place.at(name);
  if (name.endsWith(encryptedEnding) && identity === undefined) {
    throw new UsageError(`${address} is encrypted.`, "Name the private key: --identity FILE.");
  }
  if (place.folder !== undefined) requireBackup(address);
  return { place, name, address };
}

/**
 * Returns a backup as a plain file: itself, or what was brought and decrypted into `folder`, which
 * is removed again on disposal.
 */
export async function bring(
  { place, name }: FoundBackup,
  folder: string,
  identity?: string,
): Promise<Disposable & { readonly file: string }> {
  const isEncrypted = name.endsWith(encryptedEnding);
  const found = place.at(name);
  if (place.folder !== undefined && !isEncrypted) {
    return { file: found, [Symbol.dispose]: () => undefined };
  }
  const bytes = await place.sizeOf(name);
  if (bytes === undefined) throw noBackup(found);
  if (bytes > freeBytes(folder)) {
    throw new AppError("unavailable", `There is no space in ${folder} for ${found}.`, {
      hint: `It has ${grouped(bytes)} bytes. Free some space, or name another folder in TMPDIR.`,
    });
  }
  const file = join(folder, stagedName());
  const brought = { ...temporary(file), file };
  try {
    await place.read(name, bytes, (content) =>
      isEncrypted ? decryptTo(content, file, identity ?? "") : save(content, file),
    );
  } catch (error) {
    brought[Symbol.dispose]();
    throw error;
  }
  return brought;
}

async function newest(place: Place, address: string): Promise<string> {
  const now = isoSeconds(systemClock());
  const all = datedNames((await place.list()).map(({ name }) => name));
  // A name from the future was given while the clock was wrong.
  const past = all.filter(({ at }) => at <= now);
  const names = past.length > 0 ? past : all;
  // Older names have no mark, and are of the store that has later ones there.
  const stores = new Set(names.map(({ store }) => store).filter((store) => store !== ""));
  const last = names.at(-1);
  if (last === undefined) {
    throw new AppError("not_found", `There is no dated backup in ${address}.`, {
      hint: "Name the file itself.",
    });
  }
  if (stores.size <= 1) return last.name;
  throw new AppError("invalid_request", `${address} has backups of ${stores.size} stores.`, {
    hint: `Name one of them: rehome backup list ${shellWord(address)}`,
  });
}

export const listSchema = json.list(
  json.object({
    file: json.text("path or address"),
    bytes: json.count("size"),
    at: json.time("when it was made"),
    store: json.orNull(json.text("mark of its store; null for one of an older version")),
    encrypted: json.flag("true if it is encrypted"),
  }),
);

export function listCommand(io: Io): Command {
  const command = commandOf({
    name: "list",
    about: "list the dated backups in a folder or a bucket, newest first",
    arguments: [
      new Argument(
        "[place]",
        "folder or s3://BUCKET/PREFIX; by default where --backup-to says",
      ).argParser(parseText),
    ],
    examples: ["rehome backup list", "rehome backup list s3://bucket/rehome --json"],
    json: listSchema,
  });
  addSettings(command, [backupSettings.credentials]);
  return command.action(async (given: string | undefined, options: { json?: true }) => {
    const loaded = beginWithoutStore(command, io);
    const address = given ?? loaded.valueOf(backupSettings.to);
    if (address === undefined) {
      throw new UsageError("No place is named.", "rehome backup list s3://BUCKET/PREFIX");
    }
    const { place, name: file } = locate(address, loaded, io);
    if (file !== undefined && place.folder !== undefined) {
      throw new AppError("not_found", `There is no folder ${address}.`, {
        hint: "Name the folder that backups are written to, or s3://BUCKET/PREFIX.",
      });
    }
    const files = new Map((await place.list()).map(({ name, bytes }) => [name, bytes]));
    const found = datedNames([...files.keys()]).toReversed();
    const rows = found.map(({ name, at, store, isEncrypted }) => ({
      file: place.at(name),
      bytes: files.get(name) ?? 0,
      at,
      store: store === "" ? null : store,
      encrypted: isEncrypted,
    }));
    if (options.json) return printJson(io, rows);
    const cells = rows.map(({ at, store, bytes, file }) => [
      at,
      store ?? "-",
      grouped(bytes),
      file,
    ]);
    return printTable(io, ["TIME", "STORE", "BYTES", { title: "FILE", flexible: true }], cells);
  });
}

export const backupFields = {
  file: json.text("path or address of the file"),
  bytes: json.count("size of the file"),
  animals: json.count("animals in it"),
  keys: json.count("keys in it"),
};
const contentsSchema = json.object(backupFields);
/** A file with a catalogue, and how much is in it. */
export type Contents = Static<typeof contentsSchema>;

export const contentsOf = (file: string): Contents => ({
  file,
  bytes: statSync(file).size,
  ...examine(file, countsIn),
});

export const verifiedSchema = json.object({
  ...backupFields,
  newest: json.orNull(json.time("newest change of a key")),
  pending: json.list(json.text("migration that a start from it would apply")),
});

/** `rehome backup verify`: whether a backup can be restored, and what is in it. */
export function verifyCommand(io: Io): Command {
  const command = commandOf({
    name: "verify",
    about: "test a backup in memory, and print what it contains",
    arguments: [
      new Argument(
        "<file>",
        "backup to test, also in a bucket; the newest one of a folder or s3://BUCKET/PREFIX",
      ),
    ],
    options: [identityOption()],
    remark: `It needs as much memory as the file has bytes, but no data folder. What is encrypted or
in a bucket is copied to TMPDIR meanwhile. The exit code is 0 if the backup can be
restored.`,
    examples: [
      "rehome backup verify /var/backups/rehome",
      "rehome backup verify s3://bucket/rehome --identity key.txt",
      "rehome backup verify rehome.db --json | jq .animals",
    ],
    json: verifiedSchema,
  });
  addSettings(command, [backupSettings.credentials]);
  return command.action(async (address: string, options: { json?: true; identity?: string }) => {
    const loaded = beginWithoutStore(command, io);
    const backup = await findBackup(address, options.identity, loaded, io);
    using brought = await bring(backup, tmpdir(), options.identity);
    const file = backup.address;
    const found = { ...verifyBackup(brought.file), file };
    if (options.json) return printJson(io, found);
    const { bytes, animals, keys, newest, pending } = found;
    const schema = pending.length === 0 ? "schema up to date" : `a start updates its schema`;
    io.out(`${file} can be restored: ${grouped(bytes)} bytes, read through, ${schema}.\n`);
    io.out(`  ${counted(animals, "animal")}, ${counted(keys, "key")}\n`);
    if (newest !== null) io.out(`  newest change of a key: ${newest}\n`);
    return undefined;
  });
}

/**
 * Checks the backup `file`, applies all migrations to it in memory, and returns what it contains.
 * Throws AppError when it is not a backup, or is damaged.
 */
export function verifyBackup(file: string): Static<typeof verifiedSchema> {
  requireBackup(file);
  verify(file);
  const image = readFileSync(file);
  // A catalogue in use says that it has a log (sqlite.org/fileformat2.html, section 1.3.3).
  image.fill(1, 18, 20);
  using db = Database.deserialize(image);
  distrust(db);
  checkRules(db, ofBackup(file));
  const pending = migrate(db, file, migrationsOf.catalogue);
  const sql = "SELECT max(at_ms) AS newest FROM key_events";
  const { newest } = db.query<{ newest: number | null }, []>(sql).get() ?? { newest: null };
  const bytes = statSync(file).size;
  const at = newest === null ? null : isoSeconds(newest);
  return { file, bytes, ...countsIn(db), newest: at, pending };
}

function noBackup(address: string): AppError {
  return new AppError("not_found", `There is no backup ${address}.`, {
    hint: "See which there are: rehome backup list PLACE",
  });
}

/** Throws when `file` cannot be read, or is a folder, a pipe or a device. */
export function requireBackup(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") throw noBackup(file);
    throw new AppError("unavailable", `The backup ${file} cannot be read: ${reasonOf(error)}.`, {
      cause: error,
      hint: "Copy it to a folder that this user can read, such as /tmp.",
    });
  }
  if (statSync(file).isFile()) return;
  throw new AppError("unavailable", `${file} is not a file; it is not a backup.`, {
    hint: "Name a file that rehome backup made.",
  });
}
