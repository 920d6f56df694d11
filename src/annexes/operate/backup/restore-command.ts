import { Command } from "commander";
import { existsSync } from "node:fs";
import { systemClock } from "../../../domain/clock.ts";
import { catalogueFile } from "../../../service/open-store.ts";
import { requireBackup, restore } from "./restore.ts";
import { backupFields } from "./backup-command.ts";
import { dataFolder } from "./backup.ts";
import { printJson, type Io } from "../../../cli/io.ts";
import { addJson, json } from "../../../cli/json.ts";
import { addSettings, configOf, yesOption } from "../../../cli/options.ts";
import { confirm } from "../../../cli/terminal/confirm.ts";
import { counted } from "../../../cli/terminal/text.ts";

export const restoreSchema = json.object({
  ...backupFields,
  replaced: json.orNull(json.text("file that keeps the catalogue that was there before")),
});

/** `rehome restore FILE`: puts a backup in the place of the catalogue. */
export function restoreCommand(io: Io): Command {
  const command = new Command("restore")
    .description("put a backup in the place of the catalogue, and keep what was there")
    .argument("<file>", "backup to restore; it stays as it is")
    .addOption(yesOption("do not ask; needed where there is no terminal and a catalogue is there"))
    .addHelpText(
      "after",
      `
The backup is read through before anything is touched, and the service must be stopped. Request counters stay as they
are: restoring hands out no spent quota.

Examples:
  rehome restore /var/backups/rehome-2026-11-21.db --data /var/lib/rehome
  rehome restore rehome.db --data new-folder --json`,
    );
  addJson(addSettings(command, ["data", "movedStore"]), restoreSchema);
  return command.action(async (file: string, options: { json?: true; yes?: true }) => {
    const { config } = configOf(command, io);
    const folder = dataFolder(config, "restore");
    // A wrong file is reported before the question.
    requireBackup(file);
    if (existsSync(catalogueFile(folder))) {
      await confirm(io, `Put ${file} in the place of the catalogue in ${folder}?`, {
        yes: options.yes === true,
        unattended: "refuse",
        why: `There is a catalogue in ${folder}`,
      });
    }
    const made = restore(file, folder, systemClock());
    if (options.json) {
      printJson(io, { ...made, replaced: made.replaced ?? null });
      return;
    }
    io.out(
      `Restored ${counted(made.animals, "animal")} and ${counted(made.keys, "key")} to ${made.file}.\n`,
    );
    if (made.replaced !== undefined) io.err(`What was there is kept in ${made.replaced}.\n`);
  });
}
