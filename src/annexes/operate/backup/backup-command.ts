import { Command } from "commander";
import { systemClock } from "../../../domain/clock.ts";
import { reasonNotMade } from "../../../domain/system-error.ts";
import { backupStore } from "./backup.ts";
import { dataFolder } from "../../../cli/data-folder.ts";
import { printJson, type Io } from "../../../cli/io.ts";
import { addJson, json } from "../../../cli/json.ts";
import { addSettings, configOf } from "../../../cli/options.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";

export const backupFields = {
  file: json.text("file that was written"),
  bytes: json.count("size of the file"),
  animals: json.count("animals in it"),
  keys: json.count("keys in it"),
};
export const backupSchema = json.object(backupFields);

/** `rehome backup FILE`: a verified copy of the catalogue, also of one that is in use. */
export function backupCommand(io: Io): Command {
  const command = new Command("backup")
    .description("copy the catalogue and its keys to a new file, while the service runs")
    .argument("<file>", "file to make; it must not exist")
    .addHelpText(
      "after",
      `
The copy is one moment of the store. It gets its name only after it was read through and its rows were counted.
Request counters are not in it.

Examples:
  rehome backup /var/backups/rehome-$(date +%F).db
  rehome backup /mnt/usb/rehome.db --data /var/lib/rehome`,
    );
  addJson(addSettings(command, ["data"]), backupSchema);
  return command.action((file: string, options: { json?: true }) => {
    const { config } = configOf(command, io);
    const made = backupStore(dataFolder(config, "backup"), file, systemClock(), (error) =>
      io.err(`The backup could not be noted in the data folder: ${reasonNotMade(error)}.\n`),
    );
    if (options.json) return printJson(io, made);
    io.out(
      `Backed up ${counted(made.animals, "animal")} and ${counted(made.keys, "key")} to ${made.file} (${grouped(made.bytes)} bytes, verified).\n`,
    );
    return undefined;
  });
}
