import { Command, InvalidArgumentError, Option } from "commander";
import { isPetName, petStatuses, type PetStatus } from "../../domain/pet.ts";
import type { Io } from "../io.ts";
import { addJson } from "../json.ts";
import { withServices } from "../open.ts";
import { addSettings, configOf, parseInt64Value, storeSettings } from "../options.ts";
import { petSchema, printPet } from "./pet.ts";

interface Options {
  readonly name: string;
  readonly category: bigint;
  readonly status?: PetStatus;
  readonly json?: true;
}

export function addCommand(io: Io): Command {
  const command = new Command("add")
    .description("add an animal; it is on the disk when the command returns")
    .addOption(
      new Option("--name <name>", "its name, any text")
        .argParser((value: string) => {
          if (isPetName(value)) return value;
          throw new InvalidArgumentError("It must be well-formed Unicode without NUL.");
        })
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--category <id>", "id of its category")
        .argParser(parseInt64Value)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--status <status>", "its status; without one none is kept").choices([
        ...petStatuses,
      ]),
    )
    .addHelpText(
      "after",
      `
Examples:
  rehome pets add --name Rex --category 1 --status available
  rehome pets add --name Luna --category 2 --json | jq .id`,
    );
  addJson(addSettings(command, storeSettings), petSchema);
  return command.action(async (options: Options) => {
    const { name, category: categoryId, status } = options;
    const { config } = configOf(command, io);
    await withServices(
      config,
      io,
      async ({ pets }) => {
        const pet = { name, categoryId, status };
        printPet(io, { ...pet, id: await pets.create(pet) }, "Added", options);
      },
      { begins: true },
    );
  });
}
