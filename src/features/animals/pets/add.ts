import { Command } from "commander";
import type { Io } from "../../../cli/io.ts";
import { addJson } from "../../../cli/json.ts";
import { withAnimals } from "../open.ts";
import { addSettings, storeSettings } from "../../../cli/options.ts";
import { addFieldOptions, type FieldOptions, newFieldsOf } from "./fields.ts";
import { categoryOf } from "./options.ts";
import { petSchema, printPet } from "./pet.ts";

type Options = FieldOptions & {
  readonly category: string;
  readonly json?: true;
};

export function addCommand(io: Io): Command {
  const command = new Command("add")
    .description("add an animal; it is on the disk when the command returns")
    .addHelpText(
      "after",
      `
Examples:
  rehome pets add --name Rex --category Dog --create-category --status available
  rehome pets add --name Luna --category 2 --json | jq .id`,
    );
  addFieldOptions(command, "its", true);
  addJson(addSettings(command, storeSettings), petSchema);
  return command.action(async (options: Options) => {
    await withAnimals(
      command,
      io,
      async ({ animals }) => {
        const added = { ...newFieldsOf(options), category: categoryOf(options) };
        printPet(io, await animals.add(added), "Added", options);
      },
      { begins: true },
    );
  });
}
