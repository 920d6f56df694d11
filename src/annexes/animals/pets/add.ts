import { Command } from "commander";
import type { Io } from "../../../cli/io.ts";
import { addJson } from "../../../cli/json.ts";
import { withAnimals } from "../open.ts";
import { addSettings, configOf, storeSettings } from "../../../cli/options.ts";
import {
  categoryOf,
  categoryOption,
  createCategoryOption,
  nameOption,
  statusOf,
  statusOption,
  type StatusWord,
} from "./options.ts";
import { petSchema, printPet } from "./pet.ts";

interface Options {
  readonly name: string;
  readonly category: string;
  readonly createCategory?: true;
  readonly status?: StatusWord;
  readonly json?: true;
}

export function addCommand(io: Io): Command {
  const command = new Command("add")
    .description("add an animal; it is on the disk when the command returns")
    .addOption(nameOption("its name, any text").makeOptionMandatory())
    .addOption(categoryOption("its category, by name or id").makeOptionMandatory())
    .addOption(createCategoryOption())
    .addOption(statusOption("its status"))
    .addHelpText(
      "after",
      `
Examples:
  rehome pets add --name Rex --category Dog --create-category --status available
  rehome pets add --name Luna --category 2 --json | jq .id`,
    );
  addJson(addSettings(command, storeSettings), petSchema);
  return command.action(async (options: Options) => {
    const { config } = configOf(command, io);
    await withAnimals(
      config,
      io,
      async ({ animals }) => {
        const { name, status } = options;
        const added = {
          name,
          category: categoryOf(options),
          status: statusOf(status) ?? undefined,
        };
        printPet(io, await animals.add(added), "Added", options);
      },
      { begins: true },
    );
  });
}
