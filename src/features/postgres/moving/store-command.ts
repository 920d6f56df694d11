import { Command } from "commander";
import type { Io } from "../../../cli/io.ts";
import { copyCommand } from "./copy-command.ts";

/** `rehome store`: what concerns a store as a whole. */
export function storeCommand(io: Io): Command {
  return new Command("store")
    .description("move everything between a data folder and a PostgreSQL database")
    .addCommand(copyCommand(io))
    .addHelpText(
      "after",
      "\nExample:\n  rehome store copy --from /var/lib/rehome --to-file /etc/rehome/store",
    );
}
