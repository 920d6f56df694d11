import { Command } from "commander";
import type { Io } from "../io.ts";
import { banCommand, unbanCommand } from "./bans.ts";
import { createCommand } from "./create.ts";
import { listCommand } from "./list.ts";
import { revokeCommand } from "./revoke.ts";
import { rotateCommand } from "./rotate.ts";
import { showCommand } from "./show.ts";
import { updateCommand } from "./update.ts";

/** `rehome keys`: everything about keys. */
export function keysCommand(io: Io): Command {
  return new Command("keys")
    .description("make, show and change API keys, with or without a running server")
    .addCommand(createCommand(io))
    .addCommand(listCommand(io))
    .addCommand(showCommand(io))
    .addCommand(updateCommand(io))
    .addCommand(rotateCommand(io))
    .addCommand(revokeCommand(io))
    .addCommand(banCommand(io))
    .addCommand(unbanCommand(io))
    .addHelpText(
      "after",
      `
Name a key by its id, by a unique beginning of its id, or by its label.

Examples:
  rehome keys create --plan pro --name website
  rehome keys show website
  rehome keys rotate website --grace 0`,
    );
}
