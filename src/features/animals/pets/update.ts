import { Argument, Command } from "commander";
import type { Io } from "../../../cli/io.ts";
import { addJson } from "../../../cli/json.ts";
import { withAnimals } from "../open.ts";
import { addSettings, storeSettings } from "../../../cli/options.ts";
import { UsageError } from "../../../cli/errors.ts";
import { addFieldOptions, type FieldOptions, fieldsOf } from "./fields.ts";
import { categoryOf, parseIds } from "./options.ts";
import { petListSchema, printPets } from "./pet.ts";

type Options = FieldOptions & { readonly json?: true };

export function updateCommand(io: Io): Command {
  const command = new Command("update")
    .description("change animals, all or none")
    .addArgument(new Argument("<id...>", "ids of the animals").argParser(parseIds))
    .addHelpText(
      "after",
      `
A running server shows the change at its next request, or with PostgreSQL within
a second. rehome undo reverses it.

Examples:
  rehome pets update 17 --name "Rex II"
  rehome pets update 17 18 19 --status adopted
  rehome pets update 17 --category Dog --status none`,
    );
  addFieldOptions(command, "new", false);
  addJson(addSettings(command, storeSettings), petListSchema);
  return command.action(async (ids: readonly bigint[], options: Options) => {
    const { category } = options;
    const fields = fieldsOf(options);
    if (category === undefined && Object.keys(fields).length === 0) {
      throw new UsageError(
        "There is nothing to change. Name at least one field to set.",
        "rehome pets update --help",
      );
    }
    await withAnimals(command, io, async ({ animals }) => {
      const reference = category === undefined ? undefined : categoryOf({ ...options, category });
      const changed = await animals.update(ids, { ...fields, category: reference });
      printPets(io, changed, "Changed", options);
    });
  });
}
