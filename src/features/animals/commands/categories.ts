import { Argument, type Command } from "commander";
import { commandGroup, storeCommand } from "../../command.ts";
import { type Io } from "../../../cli/io.ts";
import { json, printJson } from "../../json.ts";
import { commandHere } from "../../../cli/command.ts";
import { longWork } from "../../long-work.ts";
import { flexible, printTable, right } from "../../table.ts";
import { counted, grouped, printable } from "../../../cli/terminal/text.ts";
import { addCategory, categoriesInUse, mergeCategories, renameCategory } from "../categories.ts";
import { editingOf } from "../changes.ts";
import { idOption } from "./pets.ts";

const id = json.int64("id, an int64: the categoryId of its animals");
const categorySchema = json.object({ id, name: json.text("name") });
const name = json.optional(json.text("name; absent for an id without a name"));
const usedSchema = json.object({ id, name, animals: json.count("number of animals in it") });

export function categoriesCommand(io: Io): Command {
  const form = {
    name: "categories",
    about: "list and change categories; the API uses only their ids",
    remark: "Names are case-insensitive. rehome undo reverses a change.",
    examples: ["rehome categories list", "rehome categories merge Dogs Dog"],
  };
  return commandGroup(io, form, [listCommand, addCommand, renameCommand, mergeCommand]);
}

const listCommand = storeCommand<object>({
  name: "list",
  about: "show all categories and their animals",
  examples: ["rehome categories list"],
  json: json.list(usedSchema),
  async run(io, { store, place }, { json, loaded }) {
    const all = await store.db.read(categoriesInUse, longWork);
    if (json) return printJson(io, all);
    if (all.length === 0) {
      const add = commandHere("rehome categories add NAME", loaded);
      return io.err(`There is no category in ${place}. Make one: ${add}\n`);
    }
    const rows = all.map(({ id, name, animals }) => [String(id), name ?? "-", grouped(animals)]);
    printTable(io, [right("ID"), flexible("NAME"), right("ANIMALS")], rows);
  },
});

const addCommand = storeCommand<{ readonly id?: bigint }, [string]>({
  name: "add",
  about: "name a category: a new one, or an id without a name",
  arguments: [new Argument("<name>", "its name")],
  options: [idOption("--id <id>", "its id; by default the next one")],
  examples: ["rehome categories add Dog", "rehome categories add Cat --id 7"],
  json: categorySchema,
  begins: true,
  async run(io, services, given, name) {
    const made = await addCategory(editingOf(services), name, given.id);
    if (given.json) printJson(io, made);
    else io.out(`Category ${printable(made.name)} is ${made.id}.\n`);
  },
});

const renameCommand = storeCommand<object, [string, string]>({
  name: "rename",
  about: "rename a category; it keeps its id",
  arguments: [new Argument("<category>", "its name or id"), new Argument("<name>", "its new name")],
  examples: ["rehome categories rename Dogs Dog", 'rehome categories rename 3 "Small animals"'],
  json: categorySchema,
  async run(io, services, given, category, name) {
    const renamed = await renameCategory(editingOf(services), category, name);
    if (given.json) printJson(io, renamed);
    else io.out(`Category ${renamed.id} is ${printable(renamed.name)} now.\n`);
  },
});

const mergeCommand = storeCommand<object, [string, string]>({
  name: "merge",
  about: "merge two categories: move the animals of one to the other, and remove it",
  arguments: [
    new Argument("<from>", "name or id of the category that goes"),
    new Argument("<into>", "name or id of the category that receives its animals"),
  ],
  examples: ["rehome categories merge Dogs Dog"],
  json: json.object({ animals: json.count("number of animals that changed their category") }),
  async run(io, services, given, from, into) {
    const animals = await mergeCategories(editingOf(services), from, into);
    if (given.json) printJson(io, { animals });
    else io.out(`Moved ${counted(animals, "animal")} to ${printable(into)}.\n`);
  },
});
