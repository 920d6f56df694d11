import { Command } from "commander";
import { existsSync } from "node:fs";
import { systemClock } from "../../../domain/clock.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { requireBackup, restore } from "./restore.ts";
import { backupFields } from "./backup-command.ts";
import { dataFolder } from "./backup.ts";
import { printJson, type Io } from "../../../cli/io.ts";
import { addJson, json } from "../../../cli/json.ts";
import { beginOnStore } from "../../../cli/command.ts";
import { addSettings, yesOption } from "../../../cli/options.ts";
import { confirm } from "../../../cli/terminal/confirm.ts";
import { counted } from "../../../cli/terminal/text.ts";

export const restoreSchema = json.object({
  ...backupFields,
  replaced: json.orNull(json.text("file with the old catalogue")),
});

/** `rehome restore FILE`: puts a backup in the place of the catalogue. */
export function restoreCommand(io: Io): Command {
  const command = new Command("restore")
    .description("replace the catalogue with a backup, and keep the old one")
    .argument("<file>", "backup to restore; it is not changed")
    .addOption(yesOption("do not ask; required without a terminal if there is a catalogue"))
    .addHelpText(
      "after",
      `
Stop the service first. The backup is checked before anything changes. Request counters stay, so no key gets used
requests back.

Examples:
  rehome restore /var/backups/rehome-2026-11-21.db --data /var/lib/rehome
  rehome restore rehome.db --data new-folder --json`,
    );
  addJson(addSettings(command, ["data", "movedStore"]), restoreSchema);
  return command.action(async (file: string, options: { json?: true; yes?: true }) => {
    const { config } = beginOnStore(command, io);
    const folder = dataFolder(config, "restore");
    // A wrong file is reported before the question.
    requireBackup(file);
    if (existsSync(storeFiles(folder).catalogue)) {
      await confirm(io, `Replace the catalogue in ${folder} with ${file}?`, {
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
    if (made.replaced !== undefined) io.err(`The old catalogue is kept in ${made.replaced}.\n`);
  });
}
