import type { Command } from "commander";
import type { Io } from "../io.ts";
import { durationOption } from "../options.ts";
import { changeCommand, changeKey } from "./change.ts";

export function banCommand(io: Io): Command {
  const command = changeCommand("ban", "ban a key for some time")
    .addOption(durationOption("--for <duration>", "how long, such as 1h", 1).makeOptionMandatory())
    .addHelpText(
      "after",
      `
Examples:
  rehome keys ban key_7h2m --for 1h
  rehome keys ban website --for 7d`,
    );
  return command.action(async (reference: string, options: { for: number; json?: true }) => {
    await changeKey(command, io, options, (keys) => keys.ban(reference, options.for));
  });
}

export function unbanCommand(io: Io): Command {
  const command = changeCommand("unban", "end a key's ban").addHelpText(
    "after",
    `
Examples:
  rehome keys unban key_7h2m
  rehome keys list --json | jq -r '.[] | select(.state == "banned").id' | xargs -rn1 rehome keys unban`,
  );
  return command.action(async (reference: string, options: { json?: true }) => {
    await changeKey(command, io, options, (keys) => keys.unban(reference));
  });
}
