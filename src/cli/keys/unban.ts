import type { Command } from "commander";
import type { Io } from "../io.ts";
import { changeCommand, changeKey } from "./change.ts";

export function unbanCommand(io: Io): Command {
  const command = changeCommand("unban", "end a key's ban").addHelpText(
    "after",
    `
Examples:
  rehome keys unban key_7h2m
  rehome keys list --json | jq -r '.[] | select(.state == "banned").id' | xargs -n1 rehome keys unban`,
  );
  return command.action(async (reference: string, options: { json?: true }) => {
    await changeKey(command, io, options, (keys) => keys.unban(reference));
  });
}
