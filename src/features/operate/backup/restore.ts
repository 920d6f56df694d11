/** `rehome restore`: puts a backup in the place of the catalogue. */
import { existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { Argument, type Command, Option } from "commander";
import { beginOnStore, commandOf } from "../../command.ts";
import { printJson, json, type Static } from "../../json.ts";
import type { Io } from "../../../cli/io.ts";
import { addSettings, yesOption } from "../../options.ts";
import { serveWith } from "../../../cli/serve.ts";
import { confirm } from "../../confirm.ts";
import { counted, printable } from "../../../cli/terminal/text.ts";
import { isoSeconds, systemClock } from "../../../domain/clock.ts";
import { AppError } from "../../../domain/errors.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import { isFull } from "../../../storage/sqlite/connection.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { prepareFolder, requirePlainFiles } from "../../../storage/sqlite/folder.ts";
import { examine, holdAlone, noSpace } from "../examine-catalogue.ts";
import { checkRules, ofBackup, verify, emptyFile, freeName } from "./copy.ts";
import { flush } from "../../../storage/sqlite/backup.ts";
import {
  carryOver,
  endVisits,
  openCopy,
  pauseSources,
  namedKinds,
  type Named,
} from "./carry-over.ts";
import {
  backupFields,
  bring,
  contentsOf,
  dataFolder,
  findBackup,
  identityOption,
  requireBackup,
} from "./find.ts";
import { backupSettings } from "../settings.ts";

const namedSchema = json.object({
  kind: json.oneOf(namedKinds, "what it is"),
  id: json.text("id"),
  name: json.text("label or name"),
});

export const restoreSchema = json.object({
  ...backupFields,
  replaced: json.orNull(json.text("file with the old catalogue")),
  ended: json.list(namedSchema, {
    description: "who can get in by the backup, and was put out here: they stay so",
  }),
  pausedSources: json.count("followed lists that are paused until somebody resumes them"),
  missingSecrets: json.list(json.text("followed list whose credential the backup does not have")),
  admitted: json.list(namedSchema, {
    description:
      "who can get in by the backup, and could not by the old catalogue, if there was one",
  }),
  unusable: json.list(namedSchema, {
    description: "active keys whose secrets have all ended: rehome keys rotate gives a new one",
  }),
});

interface RestoreOptions {
  readonly json?: true;
  readonly yes?: true;
  readonly resumeSources?: true;
  readonly identity?: string;
  readonly serve?: true;
}

export function restoreCommand(io: Io): Command {
  const command = commandOf({
    name: "restore",
    about: "replace the catalogue with a backup, and keep the old one",
    arguments: [
      new Argument(
        "<file>",
        "backup to restore, also in a bucket; the newest one of a folder or s3://BUCKET/PREFIX",
      ),
    ],
    options: [
      identityOption(),
      yesOption("do not ask; required without a terminal if there is a catalogue"),
      new Option("--resume-sources", "go on following the lists that the backup has"),
      new Option("--serve", "run the service then, with the settings of the environment"),
    ],
    remark: `Stop the service first. The backup is checked before anything changes. Request
counters stay, so no key gets used requests back. Keys that were revoked since, people
who were removed and secrets that ended stay so, and everybody signs in again.`,
    examples: [
      "rehome restore /var/backups/rehome-2026-11-21.db --data /var/lib/rehome",
      "rehome restore rehome.db --data new-folder --json",
      "rehome restore s3://bucket/rehome --identity key.txt --serve",
    ],
    json: restoreSchema,
  });
  addSettings(command, ["data", "movedStore", backupSettings.credentials]);
  return command.action(async (address: string, options: RestoreOptions) => {
    const loaded = beginOnStore(command, io);
    const folder = dataFolder(loaded.config, "restore");
    // A wrong file is reported before the question.
    const backup = await findBackup(address, options.identity, loaded, io);
    if (existsSync(storeFiles(folder).catalogue)) {
      await confirm(io, `Replace the catalogue in ${folder} with ${backup.address}?`, {
        yes: options.yes === true,
        unattended: "refuse",
        why: `There is a catalogue in ${folder}`,
      });
    }
    prepareFolder(folder);
    using brought = await bring(backup, folder, options.identity);
    const made = restore(brought.file, folder, systemClock(), options.resumeSources === true);
    brought[Symbol.dispose]();
    (options.json ? printJson : printRestored)(io, made);
    if (options.serve === true) await serveWith(loaded, io);
  });
}

/** More than these are counted, not listed. */
const shownMax = 50;

function printRestored(io: Io, made: Static<typeof restoreSchema>): void {
  const { animals, keys, file, replaced, pausedSources, missingSecrets } = made;
  io.out(`Restored ${counted(animals, "animal")} and ${counted(keys, "key")} to ${file}.\n`);
  if (replaced !== null) io.err(`The old catalogue is kept in ${replaced}.\n`);
  if (pausedSources > 0) {
    io.err(`${counted(pausedSources, "followed list")} paused: rehome sources resume NAME\n`);
  }
  for (const name of missingSecrets) {
    io.err(
      `The backup lacks the credential of ${name}: rehome sources resume ${name} --secret-file FILE\n`,
    );
  }
  const named = (title: string, who: readonly Named[]) => {
    if (who.length > 0) io.err(`${title}\n`);
    for (const { kind, id, name } of who.slice(0, shownMax)) {
      io.err(`  ${kind.padEnd(6)}  ${id} "${printable(name)}"\n`);
    }
    if (who.length > shownMax) io.err(`  and ${who.length - shownMax} more: rehome keys list\n`);
  };
  named("Put out here since the backup, and still so:", made.ended);
  named("These can get in, and no catalogue that was here let them in:", made.admitted);
  if (made.admitted.length > 0) io.err("Compare them with your records.\n");
  named("Nobody can use these, as their secrets ended: rehome keys rotate ID", made.unusable);
}

/**
 * Replaces the catalogue in `folder` with the backup `file`, and keeps the old one. Checks the
 * backup first. Throws `unavailable` when a process uses the store.
 */
export function restore(
  file: string,
  folder: string,
  nowMs: number,
  follows = false,
): Static<typeof restoreSchema> {
  requireBackup(file);
  verify(file);
  prepareFolder(folder);
  const { catalogue } = storeFiles(folder);
  requirePlainFiles([catalogue]);
  try {
    return replaceWith(file, catalogue, nowMs, follows);
  } catch (error) {
    if (isFull(error)) throw noSpace(catalogue, error);
    if (error instanceof AppError) throw error;
    const message = `${catalogue} could not be replaced: ${reasonOf(error)}.`;
    const hint = "Check the disk and the system's log, then try again.";
    throw new AppError("unavailable", message, { cause: error, hint });
  }
}

function replaceWith(file: string, catalogue: string, nowMs: number, follows: boolean) {
  const partial = `${catalogue}.restoring`;
  const held = holdAlone(catalogue);
  try {
    rmSync(partial, { force: true });
    emptyFile(partial);
    examine(file, (db) => db.run("VACUUM INTO ?", [partial]));
    // Not of the file alone: it may have been replaced meanwhile.
    verify(partial, { what: `The copy of ${file}`, hint: "Check the disk." });
    {
      using copy = openCopy(partial);
      checkRules(copy, ofBackup(file));
    }
    endVisits(partial, nowMs);
    const who = carryOver(held.db, partial, nowMs);
    const sources = pauseSources(partial, follows);
    const contents = contentsOf(partial);
    flush(partial);
    const replaced = replace(partial, catalogue, nowMs) ?? null;
    return { ...contents, file: catalogue, replaced, ...who, ...sources };
  } finally {
    held.release();
    rmSync(partial, { force: true });
  }
}

/** Keeps the old catalogue under another name. With links, one is always whole. */
function replace(partial: string, catalogue: string, nowMs: number): string | undefined {
  const kept = freeName(`${catalogue}.replaced-${isoSeconds(nowMs).replaceAll(":", "")}`);
  // What a damaged or lost database left beside itself belongs to it, and would be taken for the
  // new one's.
  for (const suffix of ["-wal", "-shm"]) {
    if (existsSync(catalogue + suffix)) renameSync(catalogue + suffix, kept + suffix);
  }
  const replaced = existsSync(catalogue) ? kept : undefined;
  if (replaced !== undefined) {
    try {
      linkSync(catalogue, replaced);
    } catch {
      // Some file systems, such as a USB stick's, have no links.
      renameSync(catalogue, replaced);
    }
  }
  renameSync(partial, catalogue);
  flush(dirname(catalogue));
  return replaced;
}
