import type { Command } from "commander";
import { printJson, type Io } from "../../../cli/io.ts";
import { withAnimals } from "../open.ts";
import { configOf } from "../../../cli/options.ts";
import { printable } from "../../../cli/terminal/text.ts";
import { petFields, foundPet, petCommand } from "./pet.ts";

export function showCommand(io: Io): Command {
  const command = petCommand("show", "show an animal").addHelpText(
    "after",
    `
Examples:
  rehome pets show 17
  rehome pets show 17 --json | jq -r .name`,
  );
  return command.action(async (id: bigint, options: { json?: true }) => {
    const { config } = configOf(command, io);
    await withAnimals(config, io, async ({ pets, categories: known }) => {
      const pet = foundPet(await pets.byId(id), id);
      if (options.json) {
        printJson(io, petFields(pet));
        return;
      }
      const categories = await known.named();
      const category = categories.find((each) => each.id === pet.categoryId)?.name;
      const named = category === undefined ? "" : ` (${printable(category)})`;
      io.out(`id          ${pet.id}\n`);
      io.out(`name        ${printable(pet.name)}\n`);
      io.out(`categoryId  ${pet.categoryId}${named}\n`);
      io.out(`status      ${pet.status ?? "none"}\n`);
    });
  });
}
