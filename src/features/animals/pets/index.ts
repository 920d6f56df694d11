import { Command } from "commander";
import type { Io } from "../../../cli/io.ts";
import { addCommand } from "./add.ts";
import { historyCommand } from "./history.ts";
import { listCommand } from "./list.ts";
import { removeCommand } from "./remove.ts";
import { restoreCommand } from "./restore.ts";
import { setStatusCommand } from "./set-status.ts";
import { showCommand } from "./show.ts";
import { updateCommand } from "./update.ts";

/** `rehome pets`: the animals, for operators. */
export function petsCommand(io: Io): Command {
  return new Command("pets")
    .description("show and change animals, one by one or whole catalogues, while the server runs")
    .addCommand(listCommand(io))
    .addCommand(showCommand(io))
    .addCommand(addCommand(io))
    .addCommand(updateCommand(io))
    .addCommand(setStatusCommand(io))
    .addCommand(historyCommand(io))
    .addCommand(removeCommand(io))
    .addCommand(restoreCommand(io))
    .addHelpText(
      "after",
      `
Examples:
  rehome pets list --status available
  rehome pets update 17 --status adopted
  rehome pets import animals.csv --dry-run`,
    );
}
