import { Command } from "commander";
import type { ApiKey } from "../../domain/api-key.ts";
import type { KeyService } from "../../service/keys.ts";
import type { Services } from "../../service/services.ts";
import { printJson, type Io } from "../io.ts";
import { addJson } from "../json.ts";
import { withServices } from "../open.ts";
import { addSettings, configOf, storeSettings } from "../options.ts";
import { printable } from "../terminal/text.ts";
import { keyJson, keySchema } from "./json.ts";
import { accessText, limitsText } from "./shown.ts";

/** A command on one key, which is named by id, beginning of an id, or label. */
export function keyCommand(name: string, description: string): Command {
  const command = new Command(name)
    .description(description)
    .argument("<key>", "id, the beginning of one, or label");
  return addSettings(command, storeSettings);
}

/** A command that changes one key and prints what it is then. */
export function changeCommand(name: string, description: string): Command {
  return addJson(keyCommand(name, description), keySchema);
}

/** Runs one change of a key, which binds every server at its next request, and shows the key. */
export async function changeKey(
  command: Command,
  io: Io,
  options: { readonly json?: true },
  change: (keys: KeyService) => Promise<ApiKey>,
): Promise<void> {
  const { config } = configOf(command, io);
  await withServices(config, io, async ({ keys, clock }: Services) => {
    const key = await change(keys);
    const shown = keyJson(key, clock());
    if (options.json) {
      printJson(io, shown);
      return;
    }
    const until = shown.state === "banned" ? ` until ${shown.bannedUntil}` : "";
    const end = shown.expiresAt === null ? "" : `, until ${shown.expiresAt}`;
    io.out(
      `${key.id} "${printable(key.name)}" is ${shown.state}${until}: plan ${key.plan}, ${limitsText(key)}${accessText(key)}${end}.\n`,
    );
  });
}
