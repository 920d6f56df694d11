import { Command } from "commander";
import type { Io } from "../io.ts";
import { addCommand } from "./add.ts";
import { listCommand } from "./list.ts";
import { removeCommand } from "./remove.ts";
import { setStatusCommand } from "./set-status.ts";
import { showCommand } from "./show.ts";

/** `rehome pets`: the animals, for operators. */
export function petsCommand(io: Io): Command {
  return new Command("pets")
    .description("show and change animals, one by one or whole catalogues, beside a running server")
    .addCommand(listCommand(io))
    .addCommand(showCommand(io))
    .addCommand(addCommand(io))
    .addCommand(setStatusCommand(io))
    .addCommand(removeCommand(io))
    .addHelpText(
      "after",
      `
Examples:
  rehome pets list --status available
  rehome pets set-status 17 sold
  rehome pets import animals.csv --dry-run`,
    );
}
