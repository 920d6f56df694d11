import type { Command } from "commander";
import type { Io } from "../io.ts";
import { yesOption } from "../options.ts";
import { confirm } from "../terminal/confirm.ts";
import { printable } from "../terminal/text.ts";
import { changeCommand, changeKey } from "./change.ts";

export function revokeCommand(io: Io): Command {
  const command = changeCommand("revoke", "end a key for good, with all its secrets")
    .addOption(yesOption("do not ask"))
    .addHelpText(
      "after",
      `
It asks on a terminal, but not in a script, so that an alarm can revoke a leaked key.

Examples:
  rehome keys revoke key_7h2m
  rehome keys revoke website --yes`,
    );
  return command.action(async (reference: string, options: { json?: true; yes?: true }) => {
    await changeKey(command, io, options, async (keys) => {
      const { id, name } = await keys.resolve(reference);
      await confirm(io, `End ${id} "${printable(name)}" for good?`, {
        yes: options.yes === true,
        unattended: "proceed",
      });
      return keys.revoke(id);
    });
  });
}
