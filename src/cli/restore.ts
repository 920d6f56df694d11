import { Command } from "commander";
import { systemClock } from "../domain/clock.ts";
import { restoreStore } from "../service/open-store.ts";
import { dataFolder } from "./data-folder.ts";
import { printJson, type Io } from "./io.ts";
import { addSettings, configOf, jsonOption } from "./options.ts";

/** `rehome restore FILE`: puts a backup in the place of the catalogue. */
export function restoreCommand(io: Io): Command {
  const command = new Command("restore")
    .description("put a backup in the place of the catalogue, and keep what was there")
    .argument("<file>", "backup to restore; it stays as it is")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The backup is read through before anything is touched, and the service must be stopped. Request counters stay as they
are: restoring hands out no spent quota.

Example:
  rehome restore /var/backups/rehome-2026-11-21.db --data /var/lib/rehome`,
    );
  return addSettings(command, ["data"]).action((file: string, options: { json?: true }) => {
    const { config } = configOf(command, io);
    const made = restoreStore(file, dataFolder(config, "restore"), systemClock());
    if (options.json) return printJson(io, { ...made, replaced: made.replaced ?? null });
    io.out(`Restored ${made.animals} animals and ${made.keys} keys to ${made.file}.\n`);
    if (made.replaced !== undefined) io.err(`What was there is kept in ${made.replaced}.\n`);
    return undefined;
  });
}
