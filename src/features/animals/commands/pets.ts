import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { type Io } from "../../../cli/io.ts";
import { commandHere } from "../../../cli/command.ts";
import { counted, grouped, printable } from "../../../cli/terminal/text.ts";
import { isoSeconds } from "../../../domain/clock.ts";
import { shellWord } from "../../../domain/errors.ts";
import { jsonText } from "../../../domain/exact-json.ts";
import { parseInt64 } from "../../../domain/int64.ts";
import { pageLimit, type Pet, petNameProblem, petStatuses } from "../../../domain/pet.ts";
import { petOfRow } from "../../../storage/pet-row.ts";
import { commandGroup, type Given, storeCommand } from "../../command.ts";
import { confirm } from "../../confirm.ts";
import { json, printJson } from "../../json.ts";
import { longWork } from "../../long-work.ts";
import { wholeNumber, yesOption } from "../../options.ts";
import { cut, flexible, optional, printTable, right } from "../../table.ts";
import { UsageError } from "../../usage-error.ts";
import { isVisible } from "../../visible.ts";
import {
  addAnimal,
  animalsWith,
  type FieldValue,
  type HistoryEvent,
  historyOf,
  mergeAnimals,
  removeAnimals,
  restoreAnimal,
  updateAnimals,
} from "../animals.ts";
import { categoryNames, resolveCategory } from "../categories.ts";
import { editingOf } from "../changes.ts";
import { findPets } from "../find.ts";

/** The word for having no status: commander makes an empty text of null. */
const none = "none";
const statusChoices = [...petStatuses, none] as const;
type StatusWord = (typeof statusChoices)[number];

/** What people type for a status: these, or what they say at a front desk. */
const statusWords: ReadonlyMap<string, StatusWord> = new Map<string, StatusWord>([
  ...statusChoices.map((word) => [word, word] as const),
  ["adoptable", "available"],
  ["reserved", "pending"],
  ["on hold", "pending"],
  ["adopted", "sold"],
]);

/** A status, or an everyday word for one, in any case. */
export function parseStatusWord(value: string): StatusWord {
  const status = statusWords.get(value.trim().toLowerCase());
  if (status !== undefined) return status;
  throw new InvalidArgumentError(`Allowed choices are ${statusChoices.join(", ")}.`);
}

const statusOf = (word: StatusWord | undefined) => (word === none ? null : word);

const statusOption = (description: string) =>
  new Option("--status <status>", description).choices(statusChoices).argParser(parseStatusWord);

const categoryOption = (description: string) => new Option("--category <category>", description);

export const nameOption = (description: string) =>
  new Option("--name <name>", description).argParser((value: string) => {
    const problem = petNameProblem(value);
    if (problem === undefined) return value;
    throw new InvalidArgumentError(`It ${problem}.`);
  });

function parseInt64Value(value: string): bigint {
  const id = parseInt64(value);
  if (id === undefined) throw new InvalidArgumentError("It must be an integer of 64 bits.");
  return id;
}

export const idArgument = (description = "id of the animal", name = "<id>") =>
  new Argument(name, description).argParser(parseInt64Value);

const idsArgument = () =>
  new Argument("<id...>", "ids of the animals").argParser((value, sofar?: readonly bigint[]) => [
    ...new Set(sofar).add(parseInt64Value(value)),
  ]);

export const idOption = (flags: string, description: string) =>
  new Option(flags, description).argParser(parseInt64Value);

const petFieldsSchema = {
  name: json.text("name"),
  categoryId: json.int64("id of its category, an int64"),
  status: json.optional(json.oneOf(petStatuses, "status; absent when it has none")),
};
const petSchema = json.object({ id: json.int64("id of the animal, an int64"), ...petFieldsSchema });
const petListSchema = json.list(petSchema);

interface FieldOptions {
  readonly name?: string;
  readonly category?: string;
  readonly createCategory?: true;
  readonly status?: StatusWord;
}

/** An option for each field, described behind `word`. A new animal must have some of them. */
const fieldOptions = (word: "its" | "new"): Option[] => [
  nameOption(`${word} name, any text`).makeOptionMandatory(word === "its"),
  categoryOption(`${word} category, by name or id`).makeOptionMandatory(word === "its"),
  new Option("--create-category", "create the category if it does not exist"),
  statusOption(`${word} status`),
];

const categoryOf = ({ category, createCategory }: FieldOptions) =>
  category === undefined ? undefined : { text: category, create: createCategory === true };

/** An animal in words: `17 "Rex" (category 1, available)`. */
function petText({ id, name, categoryId, status }: Pet): string {
  // A name may have 1,000 characters.
  const shown = cut(printable(name), 60);
  return `${id} "${shown}" (category ${categoryId}, ${status ?? "without a status"})`;
}

/** Prints what became of an animal, or of several: as JSON, or a sentence each. */
function printPets(io: Io, pets: Pet | readonly Pet[], did: string, given: Given<object>): void {
  if (given.json) return printJson(io, pets);
  for (const pet of [pets].flat()) io.out(`${did} ${petText(pet)}.\n`);
}

const list = storeCommand<FieldOptions & { readonly limit: number; readonly after?: bigint }>({
  name: "list",
  about: "show animals, a page at a time",
  options: [
    new Option("--name <text>", "only those whose name contains this text"),
    categoryOption("only those of this category, by name or id"),
    statusOption("only those of this status"),
    new Option("--limit <N>", `maximum number of animals, up to ${pageLimit.max}`)
      .default(pageLimit.default)
      .argParser(wholeNumber(pageLimit.max)),
    idOption("--after <id>", "only those with a greater id: the next page"),
  ],
  remark: "They are listed by id. pets export writes all of them. --name ignores case and accents.",
  examples: ["rehome pets list --name rex --category Dog", "rehome pets list --status pending"],
  json: petListSchema,
  async run(io, { store: { db }, place }, given) {
    const { json, limit, after, name, category, status, loaded } = given;
    const found = await db.read(async (tx) => {
      const categoryId =
        category === undefined ? undefined : await resolveCategory(tx, { text: category });
      const filter = { name, categoryId, status: statusOf(status) };
      return findPets(tx, filter, { limit: limit + 1, after });
    }, longWork);
    const page = found.pets.slice(0, limit).map(petOfRow);
    if (json) return printJson(io, page);
    // The options that ask for the same animals again.
    const filter = Object.entries({ name, category, status }).flatMap(([flag, value]) =>
      value === undefined ? [] : [`--${flag} ${shellWord(value)}`],
    );
    const say = (before: string, line: string) => io.err(`${before}${commandHere(line, loaded)}\n`);
    if (page.length === 0) {
      const isSought = filter.length > 0 || after !== undefined;
      io.err(`There is no ${isSought ? "such animal" : "animal"} in ${place}.\n`);
      if (isSought) return;
      say("Add one:           ", "rehome pets add --name NAME --category 1 --status available");
      return say("Or import a file:  ", "rehome pets import FILE");
    }
    const named = await categoryNames(db);
    const rows = page.map(({ id, name, categoryId, status = "-" }) => {
      const shown = isVisible(name) ? name : "Unnamed";
      return [String(id), shown, String(categoryId), named.get(categoryId) ?? "", status];
    });
    const header = [right("ID"), flexible("NAME"), right("CATEGORY"), flexible(""), "STATUS"];
    printTable(io, header, rows);
    const such = filter.length === 0 ? "animal" : "such animal";
    io.err(`${grouped(page.length)} of ${counted(found.total, such)}.\n`);
    if (found.pets.length <= limit) return;
    const next = ["rehome pets list", ...filter, `--limit ${limit}`].join(" ");
    say("More: ", `${next} --after ${page.at(-1)?.id}`);
  },
});

const show = storeCommand<object, [bigint]>({
  name: "show",
  about: "show an animal",
  arguments: [idArgument()],
  examples: ["rehome pets show 17", "rehome pets show 17 --json | jq -r .name"],
  json: petSchema,
  async run(io, { store }, { json }, id) {
    const [pet] = (await animalsWith(store.db, [id])) as [Pet];
    if (json) return printJson(io, pet);
    const name = (await categoryNames(store.db)).get(pet.categoryId);
    const categoryId = `${pet.categoryId}${name === undefined ? "" : ` (${name})`}`;
    const shown = { ...pet, categoryId, status: pet.status ?? none };
    for (const [label, value] of Object.entries(shown)) {
      io.out(`${label.padEnd(12)}${printable(String(value))}\n`);
    }
  },
});

const add = storeCommand<FieldOptions>({
  name: "add",
  about: "add an animal; it is on the disk when the command returns",
  options: fieldOptions("its"),
  examples: ["rehome pets add --name Rex --category Dog --create-category --status available"],
  json: petSchema,
  begins: true,
  async run(io, services, given) {
    const { name = "" } = given;
    const status = statusOf(given.status) ?? undefined;
    const added = { name, status, category: categoryOf(given) ?? { text: "" } };
    printPets(io, await addAnimal(editingOf(services), added), "Added", given);
  },
});

const update = storeCommand<FieldOptions, [readonly bigint[]]>({
  name: "update",
  about: "change animals, all or none",
  arguments: [idsArgument()],
  options: fieldOptions("new"),
  remark: "A server shows it at once, or with PostgreSQL within a second. rehome undo reverses it.",
  examples: ["rehome pets update 17 18 --status adopted", 'rehome pets update 17 --name "Rex II"'],
  json: petListSchema,
  async run(io, services, given, ids) {
    const { name } = given;
    const patch = { name, status: statusOf(given.status), category: categoryOf(given) };
    if (Object.values(patch).every((value) => value === undefined)) {
      const message = "There is nothing to change. Name at least one field to set.";
      throw new UsageError(message, "rehome pets update --help");
    }
    printPets(io, await updateAnimals(editingOf(services), ids, patch), "Changed", given);
  },
});

const remove = storeCommand<{ readonly yes?: true }, [readonly bigint[]]>({
  name: "remove",
  about: "remove animals, all or none; their ids are not reused",
  arguments: [idsArgument()],
  options: [yesOption("do not ask; required without a terminal")],
  remark: "rehome pets restore brings an animal back with its id, for at least 90 days.",
  examples: ["rehome pets remove 17", "rehome pets remove 17 18 --yes --json > removed.json"],
  json: json.either(petSchema, petListSchema, "the animal; a list if several are removed"),
  async run(io, services, given, ids) {
    const asked = (await animalsWith(services.store.db, ids)).map(petText).join(", ");
    const [yes, why] = [given.yes === true, "This removes animals"];
    await confirm(io, `Remove ${asked}?`, { yes, unattended: "refuse", why });
    const removed = await removeAnimals(editingOf(services), ids);
    printPets(io, removed.length === 1 ? (removed[0] as Pet) : removed, "Removed", given);
  },
});

const restore = storeCommand<object, [bigint]>({
  name: "restore",
  about: "bring back a removed animal with its id",
  arguments: [idArgument()],
  examples: ["rehome pets restore 17"],
  json: petSchema,
  async run(io, services, given, id) {
    printPets(io, await restoreAnimal(editingOf(services), id), "Brought back", given);
  },
});

const merge = storeCommand<{ readonly into: bigint }, [bigint]>({
  name: "merge",
  about: "make one animal of two entries of it: one stays, the other goes",
  arguments: [idArgument("id of the entry that goes")],
  options: [idOption("--into <id>", "id of the entry that stays").makeOptionMandatory()],
  remark: `For an animal that was added by hand and is in an imported list too. The entry that stays keeps its name, category and status.
It gets the id that the list has for the animal, so that the next import finds it. rehome undo reverses it.`,
  examples: ["rehome pets merge 31 --into 17"],
  json: petSchema,
  async run(io, services, given, id) {
    const stays = await mergeAnimals(editingOf(services), id, given.into);
    printPets(io, stays, `Merged ${id} into`, given);
  },
});

const fieldsSchema = json.object({
  ...petFieldsSchema,
  externalId: json.optional(json.text("its id in the source of the import")),
  source: json.text("source of that id; empty if unknown"),
});

const historySchema = json.object({
  pet: petSchema,
  removed: json.flag("whether it was removed"),
  created: json.object({
    at: json.optional(json.time("when it was added; absent if unknown")),
    by: json.optional(json.text("who added it: a person, an account, or a key by its label")),
    action: json.optional(json.text("how: create through the interface, add, import")),
    change: json.optional(json.int64("the change, if rehome undo can reverse it")),
  }),
  events: json.list(
    json.object({
      at: json.time("when"),
      actor: json.text("who changed it"),
      action: json.text("what was done"),
      change: json.int64("the change, which rehome undo reverses as a whole"),
      before: json.optional(fieldsSchema),
      after: json.optional(fieldsSchema),
    }),
    { description: "what happened to it in the last 90 days, oldest first" },
  ),
});

const history = storeCommand<object, [bigint]>({
  name: "history",
  about: "show the history of an animal: when, who, and the values before and after",
  arguments: [idArgument("id of the animal, which may be removed")],
  remark: "CHANGE is the number for rehome undo. Changes are stored for 90 days, an origin always.",
  examples: ["rehome pets history 17", "rehome pets history 17 --json | jq '.events[].actor'"],
  json: historySchema,
  async run(io, { store }, given, id) {
    const { pet, isRemoved, created, events } = await historyOf(store.db, id);
    const { atMs, ...origin } = created;
    const at = atMs === undefined ? undefined : isoSeconds(atMs);
    if (given.json) {
      const told = events.map(({ atMs, actor, action, change, before, after }) => {
        return { at: isoSeconds(atMs), actor, action, change, before, after };
      });
      return printJson(io, { pet, removed: isRemoved, created: { at, ...origin }, events: told });
    }
    io.out(`${petText(pet)}${isRemoved ? ", removed" : ""}\n\n`);
    const { by = "-", action = "-", change = "-" } = origin;
    const known = at === undefined ? "not recorded" : "added";
    const rows = events.map((event) => {
      const { atMs, actor, change, action } = event;
      return [isoSeconds(atMs), actor, String(change), action, textOfEvent(event)];
    });
    const header = ["WHEN", optional("WHO"), right("CHANGE"), optional("ACTION"), flexible("WHAT")];
    printTable(io, header, [[at ?? "-", by, String(change), action, known], ...rows]);
  },
});

/** What an event did, in words: `brought back, name "Rex" to "Max", status available to none`. */
function textOfEvent({ did, changed }: HistoryEvent): string {
  const what = did === "restored" ? "brought back" : did;
  const fields = changed.map(
    ({ field, before, after }) => `${field} ${textOf(field, before)} to ${textOf(field, after)}`,
  );
  return [what, ...fields].filter((each) => each !== undefined).join(", ");
}

function textOf(field: string, value: FieldValue): string {
  if (value === null || (field === "source" && value === "")) return "none";
  return typeof value === "string" && /^\w+$/.test(value) ? value : jsonText(value);
}

export function petsCommand(io: Io): Command {
  const form = {
    name: "pets",
    about: "show and change animals, one by one or whole catalogues, while the server runs",
    examples: [
      "rehome pets update 17 --status adopted",
      "rehome pets import animals.csv --dry-run",
    ],
  };
  return commandGroup(io, form, [list, show, add, update, history, remove, restore, merge]);
}
