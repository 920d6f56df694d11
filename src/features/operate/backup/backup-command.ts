import { Command, InvalidArgumentError, Option } from "commander";
import type { Config } from "../../../config.ts";
import { systemClock } from "../../../domain/clock.ts";
import { reasonNotMade } from "../../../domain/system-error.ts";
import { backupStore, dataFolder } from "./backup.ts";
import { datedFile, isFolder, removeOlder } from "./dated.ts";
import { verifyCommand } from "./verify-command.ts";
import { printJson, type Io } from "../../../cli/io.ts";
import { addJson, json } from "../../../cli/json.ts";
import { beginOnStore } from "../../../cli/command.ts";
import { addSettings, parseText } from "../../../cli/options.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";
import { UsageError } from "../../../cli/errors.ts";

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

/** `rehome backup FILE`: a verified copy of the catalogue, also of one that is in use. */
export function backupCommand(io: Io): Command {
  const command = new Command("backup")
    .description("copy the catalogue and its keys to a new file, while the service runs")
    .argument("<file>", "new file to write; or a folder, for a dated file in it", parseText)
    .addOption(
      new Option(
        "--keep <N>",
        "dated backups to keep in the folder; older ones are removed",
      ).argParser((value: string) => {
        const count = /^\d{1,5}$/.test(value) ? Number(value) : 0;
        if (count > 0) return count;
        throw new InvalidArgumentError("It must be a whole number from 1 to 99999.");
      }),
    )
    // What stands behind verify is its own, --json too.
    .enablePositionalOptions()
    .addCommand(verifyCommand(io))
    .addHelpText(
      "after",
      `
The backup is one moment of the store. It gets its name after it was checked and its rows were counted. It has no request
counters. In a folder its name is rehome-TIME.db, in UTC. --keep removes only files with such names, and only after the
new backup is complete.

Examples:
  rehome backup /var/backups/rehome --keep 14
  rehome backup /mnt/usb/rehome.db --data /var/lib/rehome
  rehome backup verify /mnt/usb/rehome.db`,
    );
  addJson(addSettings(command, ["data", "movedStore"]), backupSchema);
  return command.action((place: string, options: Options) => {
    makeBackup(place, beginOnStore(command, io).config, options, io);
  });
}

interface Options {
  readonly keep?: number;
  readonly json?: true;
}

function makeBackup(place: string, config: Config, options: Options, io: Io): void {
  const { keep: keepCount } = options;
  if (place === "-") {
    throw new UsageError(
      "A backup is a file, and does not go to standard output.",
      "Name a file or a folder; ./- for a file of that name.",
    );
  }
  const isDated = isFolder(place);
  if (keepCount !== undefined && !isDated) {
    throw new UsageError(
      `--keep needs a folder, and ${place} is not a folder.`,
      "Create the folder for the account that makes the backups, and name it.",
    );
  }
  const nowMs = systemClock();
  const file = isDated ? datedFile(place, nowMs) : place;
  const made = backupStore(dataFolder(config, "backup"), file, nowMs, (error) =>
    io.err(`The backup could not be recorded in the data folder: ${reasonNotMade(error)}.\n`),
  );
  const removed = keepCount === undefined ? [] : removeOlder(place, keepCount, file);
  if (options.json) return printJson(io, { ...made, removed });
  io.out(
    `Backed up ${counted(made.animals, "animal")} and ${counted(made.keys, "key")} to ${made.file} (${grouped(made.bytes)} bytes, verified).\n`,
  );
  for (const each of removed) io.out(`Removed ${each}\n`);
}
