import { Command } from "commander";
import type { KeyService } from "../../service/keys.ts";
import { type Io, printJson } from "../io.ts";
import { withServices } from "../open.ts";
import { addSettings, configOf, durationOption, jsonOption, storeSettings } from "../options.ts";
import { changeKey } from "./change.ts";
import { createCommand } from "./create.ts";
import { listCommand } from "./list.ts";
import { issuedJson } from "./shown.ts";
import { updateCommand } from "./update.ts";

/** How long the old secret goes on after a rotation. */
const defaultGraceMs = 86_400_000;

/** `rehome keys`: everything about keys. */
export function keysCommand(io: Io): Command {
  return new Command("keys")
    .description("make, show and change API keys, beside a running server or without one")
    .addCommand(createCommand(io))
    .addCommand(listCommand(io))
    .addCommand(updateCommand(io))
    .addCommand(rotateCommand(io))
    .addCommand(changeCommand(io, "revoke", "end a key for good", (keys, key) => keys.revoke(key)))
    .addCommand(banCommand(io))
    .addCommand(changeCommand(io, "unban", "end a key's ban", (keys, key) => keys.unban(key)));
}

function keyCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument("<key>", "id, the beginning of one, or label")
    .addOption(jsonOption());
}

function changeCommand(
  io: Io,
  name: string,
  description: string,
  change: (keys: KeyService, reference: string) => ReturnType<KeyService["revoke"]>,
): Command {
  const command = keyCommand(name, description).addHelpText(
    "after",
    `\nExample:\n  rehome keys ${name} key_7h2m`,
  );
  return addSettings(command, storeSettings).action(
    async (reference: string, options: { json?: true }) => {
      await changeKey(command, io, options, (keys) => change(keys, reference));
    },
  );
}

function banCommand(io: Io): Command {
  const command = keyCommand("ban", "refuse a key for a time")
    .addOption(durationOption("--for <duration>", "how long, such as 1h").makeOptionMandatory())
    .addHelpText("after", "\nExample:\n  rehome keys ban key_7h2m --for 1h");
  return addSettings(command, storeSettings).action(
    async (reference: string, options: { for: number; json?: true }) => {
      await changeKey(command, io, options, (keys) => keys.ban(reference, options.for));
    },
  );
}

function rotateCommand(io: Io): Command {
  const command = keyCommand("rotate", "give a key a new secret; counters, plan and bans go along")
    .addOption(
      durationOption(
        "--grace <duration>",
        "how long the old secret goes on; 0 ends it at once",
      ).default(defaultGraceMs, "24h"),
    )
    .addHelpText(
      "after",
      `
Examples:
  rehome keys rotate key_7h2m
  rehome keys rotate key_7h2m --grace 0     the old secret leaked`,
    );
  return addSettings(command, storeSettings).action(
    async (reference: string, options: { grace: number; json?: true }) => {
      const { config } = configOf(command, io);
      await withServices(config, io, async ({ keys, clock }) => {
        const issued = await keys.rotate(reference, options.grace);
        if (options.json) {
          printJson(io, issuedJson(issued, clock()));
          return;
        }
        io.err(`${issued.key.id} "${issued.key.name}" has a new secret. It is shown only now:\n`);
        io.out(`${issued.secret}\n`);
      });
    },
  );
}
