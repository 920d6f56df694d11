import { Database } from "bun:sqlite";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { Argument, type Command } from "commander";
import { beginWithoutStore, commandOf } from "../../command.ts";
import { printJson } from "../../json.ts";
import { type Io } from "../../../cli/io.ts";
import { json, type Static } from "../../json.ts";
import { addSetting } from "../../../cli/options.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";
import { isoSeconds } from "../../../domain/clock.ts";
import { AppError } from "../../../domain/errors.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import { migrationsOf } from "../../../storage/sqlite/files.ts";
import { distrust } from "../examine-catalogue.ts";
import { checkRules, ofBackup, verify } from "./checks.ts";
import { migrate } from "../../../storage/sqlite/migrate.ts";
import { findBackup, identityOption } from "./find.ts";
import { backupSettings } from "./settings.ts";

const { text, count, list, object, orNull, time } = json;

export const verifiedSchema = object({
  file: text("file that was read"),
  bytes: count("size of the file"),
  animals: count("animals in it"),
  keys: count("keys in it"),
  newest: orNull(time("newest change of a key")),
  pending: list(text("migration that a start from it would apply")),
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
  addSetting(command, backupSettings.credentials);
  return command.action(async (address: string, options: { json?: true; identity?: string }) => {
    const loaded = beginWithoutStore(command, io);
    const backup = await findBackup(address, options.identity, loaded, io);
    using brought = await backup.bring(tmpdir());
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
  const counts = db
    .query<Counts, []>(
      `SELECT (SELECT count(*) FROM pets) AS animals, (SELECT count(*) FROM api_keys) AS keys,
         (SELECT max(at_ms) FROM key_events) AS newest`,
    )
    .get() as Counts;
  return {
    file,
    bytes: statSync(file).size,
    animals: counts.animals,
    keys: counts.keys,
    newest: counts.newest === null ? null : isoSeconds(counts.newest),
    pending,
  };
}

interface Counts {
  readonly animals: number;
  readonly keys: number;
  readonly newest: number | null;
}

export function noBackup(address: string): AppError {
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
