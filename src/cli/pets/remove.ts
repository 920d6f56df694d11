import type { Command } from "commander";
import type { Io } from "../io.ts";
import { withServices } from "../open.ts";
import { configOf, yesOption } from "../options.ts";
import { confirm } from "../terminal/confirm.ts";
import { foundPet, petCommand, petText, printPet } from "./pet.ts";

export function removeCommand(io: Io): Command {
  const command = petCommand("remove", "remove an animal for good; its id is not given again")
    .addOption(yesOption("do not ask; needed where there is no terminal"))
    .addHelpText(
      "after",
      `
Examples:
  rehome pets remove 17
  rehome pets remove 17 --yes --json > removed.json`,
    );
  return command.action(async (id: bigint, options: { json?: true; yes?: true }) => {
    const { config } = configOf(command, io);
    await withServices(config, io, async ({ pets }) => {
      const pet = foundPet(await pets.byId(id), id);
      await confirm(io, `Remove ${petText(pet)} for good?`, {
        yes: options.yes === true,
        unattended: "refuse",
      });
      printPet(io, foundPet(await pets.remove(id), id), "Removed", options);
    });
  });
}
