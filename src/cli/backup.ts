import { Command } from "commander";
import { systemClock } from "../domain/clock.ts";
import { backupStore } from "../service/open-store.ts";
import { dataFolder } from "./data-folder.ts";
import { printJson, type Io } from "./io.ts";
import { addSettings, configOf, jsonOption } from "./options.ts";

/** `rehome backup FILE`: a verified copy of the catalogue, also of one that is in use. */
export function backupCommand(io: Io): Command {
  const command = new Command("backup")
    .description("copy the catalogue and its keys to a new file, while the service runs")
    .argument("<file>", "file to make; it must not exist")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The copy is one moment of the store. It gets its name only after it was read through and its rows were counted.
Request counters are not in it.

Examples:
  rehome backup /var/backups/rehome-$(date +%F).db
  rehome backup /mnt/usb/rehome.db --data /var/lib/rehome`,
    );
  return addSettings(command, ["data"]).action((file: string, options: { json?: true }) => {
    const { config } = configOf(command, io);
    const made = backupStore(dataFolder(config, "backup"), file, systemClock(), (error) =>
      io.err(`The backup could not be noted in the data folder: ${(error as Error).message}.\n`),
    );
    if (options.json) return printJson(io, made);
    io.out(
      `Backed up ${made.animals} animals and ${made.keys} keys to ${made.file} (${made.bytes} bytes, verified).\n`,
    );
    return undefined;
  });
}
