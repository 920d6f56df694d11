import { Command } from "commander";
import { isoSeconds } from "../../domain/clock.ts";
import { printJson, printTable, type Io } from "../io.ts";
import { withServices } from "../open.ts";
import { addSettings, configOf, jsonOption, storeSettings } from "../options.ts";
import { keyJson, limitsText } from "./shown.ts";

export function listCommand(io: Io): Command {
  const command = new Command("list")
    .description("show all keys; never their secrets")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  rehome keys list
  rehome keys list --json | jq '.[] | select(.state == "banned")'`,
    );
  return addSettings(command, storeSettings).action(async (options: { json?: true }) => {
    const { config } = configOf(command, io);
    await withServices(config, io, async ({ keys, clock, place }) => {
      const all = (await keys.list()).map((key) => ({ key, shown: keyJson(key, clock()) }));
      if (options.json) {
        printJson(
          io,
          all.map(({ shown }) => shown),
        );
        return;
      }
      if (all.length === 0) {
        io.err(
          `There is no key in ${place}. Make one: rehome keys create --plan free --name LABEL\n`,
        );
        return;
      }
      printTable(
        io,
        ["ID", "LABEL", "PLAN", "LIMITS", "STATE", "CREATED"],
        all.map(({ key, shown }) => [
          key.id,
          key.name,
          key.plan,
          limitsText(key),
          shown.state,
          isoSeconds(key.createdAtMs),
        ]),
      );
    });
  });
}
