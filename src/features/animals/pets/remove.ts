import { Argument, Command } from "commander";
import type { Io } from "../../../cli/io.ts";
import { addJson, json } from "../../../cli/json.ts";
import type { Pet } from "../../../domain/pet.ts";
import { withAnimals } from "../open.ts";
import { addSettings, storeSettings, yesOption } from "../../../cli/options.ts";
import { confirm } from "../../../cli/terminal/confirm.ts";
import { parseIds } from "./options.ts";
import { foundPet, petListSchema, petSchema, petText, printPet, printPets } from "./pet.ts";

/** Animals in a question at the most. */
const shownMax = 5;

export function removeCommand(io: Io): Command {
  const command = new Command("remove")
    .description("remove animals, all or none; their ids are not reused")
    .addArgument(new Argument("<id...>", "ids of the animals").argParser(parseIds))
    .addOption(yesOption("do not ask; required without a terminal"))
    .addHelpText(
      "after",
      `
rehome pets restore brings an animal back with its id, for at least 90 days.

Examples:
  rehome pets remove 17
  rehome pets remove 17 18 --yes --json > removed.json`,
    );
  addJson(
    addSettings(command, storeSettings),
    json.either(petSchema, petListSchema, "the animal; a list if several are removed"),
  );
  return command.action(async (ids: readonly bigint[], options: { json?: true; yes?: true }) => {
    await withAnimals(command, io, async ({ animals, pets }) => {
      const found: Pet[] = [];
      for (const id of ids) found.push(foundPet(await pets.byId(id), id));
      const shown = found.slice(0, shownMax).map(petText);
      const more = found.length > shownMax ? `, and ${found.length - shownMax} more` : "";
      await confirm(io, `Remove ${shown.join(", ")}${more}?`, {
        yes: options.yes === true,
        unattended: "refuse",
        why: "This removes animals",
      });
      const removed = await animals.remove(ids);
      const [first, ...others] = removed;
      if (first !== undefined && others.length === 0) printPet(io, first, "Removed", options);
      else printPets(io, removed, "Removed", options);
    });
  });
}
