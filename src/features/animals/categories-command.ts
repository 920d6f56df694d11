import { Command } from "commander";
import { printJson, type Io } from "../../cli/io.ts";
import { addJson, json } from "../../cli/json.ts";
import { withAnimals } from "./open.ts";
import { parseInt64Value } from "./pets/options.ts";
import { addSettings, commandHere, storeSettings } from "../../cli/options.ts";
import { UsageError } from "../../cli/errors.ts";
import { printTable } from "../../cli/terminal/table.ts";
import { counted, grouped, printable } from "../../cli/terminal/text.ts";

const categorySchema = json.object({
  id: json.int64("id, an int64: the categoryId of its animals"),
  name: json.text("name"),
});
export const categoryListSchema = json.list(
  json.object({
    id: json.int64("id, an int64: the categoryId of its animals"),
    name: json.optional(json.text("name; absent for an id without a name")),
    animals: json.count("number of animals in it"),
  }),
);
const mergedSchema = json.object({
  animals: json.count("number of animals that changed their category"),
});

/** `rehome categories`: the kinds of animals, by name. */
export function categoriesCommand(io: Io): Command {
  return new Command("categories")
    .description("list and change categories; the API uses only their ids")
    .addCommand(listCommand(io))
    .addCommand(addCommand(io))
    .addCommand(renameCommand(io))
    .addCommand(mergeCommand(io))
    .addHelpText(
      "after",
      `
Names are case-insensitive. rehome undo reverses a change.

Examples:
  rehome categories list
  rehome categories add Dog
  rehome categories merge Dogs Hounds --into Dog`,
    );
}

function listCommand(io: Io): Command {
  const command = new Command("list")
    .description("show all categories and their animals")
    .addHelpText("after", "\nExample:\n  rehome categories list");
  addJson(addSettings(command, storeSettings), categoryListSchema);
  return command.action(async (options: { json?: true }) => {
    await withAnimals(command, io, async ({ categories, place }, loaded) => {
      const all = await categories.list();
      if (options.json) printJson(io, all);
      else if (all.length === 0) {
        const add = commandHere("rehome categories add NAME", loaded, io);
        io.err(`There is no category in ${place}. Make one: ${add}\n`);
      } else {
        printTable(
          io,
          [
            { title: "ID", align: "right" },
            { title: "NAME", flexible: true },
            { title: "ANIMALS", align: "right" },
          ],
          all.map(({ id, name, animals }) => [String(id), name ?? "-", grouped(animals)]),
        );
      }
    });
  });
}

function addCommand(io: Io): Command {
  const command = new Command("add")
    .description("name a category: a new one, or an id without a name")
    .argument("<name>", "its name")
    .option("--id <id>", "its id; by default the next one", parseInt64Value)
    .addHelpText(
      "after",
      "\nExamples:\n  rehome categories add Dog\n  rehome categories add Cat --id 7",
    );
  addJson(addSettings(command, storeSettings), categorySchema);
  return command.action(async (name: string, options: { id?: bigint; json?: true }) => {
    await withAnimals(
      command,
      io,
      async ({ categories }) => {
        const made = await categories.add(name, options.id);
        if (options.json) printJson(io, made);
        else io.out(`Category ${printable(made.name)} is ${made.id}.\n`);
      },
      { begins: true },
    );
  });
}

function renameCommand(io: Io): Command {
  const command = new Command("rename")
    .description("rename a category; it keeps its id")
    .argument("<category>", "its name or id")
    .argument("<name>", "its new name")
    .addHelpText(
      "after",
      '\nExamples:\n  rehome categories rename Dogs Dog\n  rehome categories rename 3 "Small animals"',
    );
  addJson(addSettings(command, storeSettings), categorySchema);
  return command.action(async (category: string, name: string, options: { json?: true }) => {
    await withAnimals(command, io, async ({ categories }) => {
      const renamed = await categories.rename(category, name);
      if (options.json) printJson(io, renamed);
      else io.out(`Category ${renamed.id} is ${printable(renamed.name)} now.\n`);
    });
  });
}

function mergeCommand(io: Io): Command {
  const command = new Command("merge")
    .description("merge categories: move their animals to one of them, and remove the others")
    .argument("<categories...>", "names or ids; without --into the last one receives the animals")
    .option("--into <category>", "name or id of the category that receives the animals")
    .addHelpText(
      "after",
      "\nExamples:\n  rehome categories merge Dogs Dog\n  rehome categories merge Dogs Hounds --into Dog",
    );
  addJson(addSettings(command, storeSettings), mergedSchema);
  return command.action(
    async (given: readonly string[], options: { into?: string; json?: true }) => {
      const into = options.into ?? given.at(-1) ?? "";
      const from = options.into === undefined ? given.slice(0, -1) : given;
      if (from.length === 0) {
        throw new UsageError(
          "Name the category to merge, and the one that receives its animals.",
          "rehome categories merge FROM INTO",
        );
      }
      await withAnimals(command, io, async ({ categories }) => {
        const animals = await categories.merge(from, into);
        if (options.json) printJson(io, { animals });
        else io.out(`Moved ${counted(animals, "animal")} to ${printable(into)}.\n`);
      });
    },
  );
}
