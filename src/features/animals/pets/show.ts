import type { Command } from "commander";
import { printJson, type Io } from "../../../cli/io.ts";
import { withAnimals } from "../open.ts";
import { petFieldNames, plainPet } from "../../../domain/pet.ts";
import { printable } from "../../../cli/terminal/text.ts";
import { shownFields } from "./fields.ts";
import { none } from "./options.ts";
import { foundPet, petCommand } from "./pet.ts";

/** The names of fields stand in so many cells. */
const labelCells = 12;

export function showCommand(io: Io): Command {
  const command = petCommand("show", "show an animal").addHelpText(
    "after",
    `
Examples:
  rehome pets show 17
  rehome pets show 17 --json | jq -r .name`,
  );
  return command.action(async (id: bigint, options: { json?: true }) => {
    await withAnimals(command, io, async ({ pets, categories: known }) => {
      const pet = foundPet(await pets.byId(id), id);
      if (options.json) {
        printJson(io, plainPet(pet));
        return;
      }
      const categories = await known.names();
      io.out(`${"id".padEnd(labelCells)}${pet.id}\n`);
      for (const name of petFieldNames) {
        const cells = shownFields[name].cells(pet, categories).map(printable);
        const [text = "", more = ""] = pet[name] === undefined ? [none] : cells;
        io.out(`${name.padEnd(labelCells)}${text}${more === "" ? "" : ` (${more})`}\n`);
      }
    });
  });
}
