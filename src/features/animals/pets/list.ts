import { Command, InvalidArgumentError, Option } from "commander";
import { pageLimit, parsePageLimit } from "../../../domain/page.ts";
import { type Pet, petFieldNames, plainPet } from "../../../domain/pet.ts";
import { shellWord } from "../../../domain/errors.ts";
import type { FoundPets } from "../animals.ts";
import { printJson, type Io } from "../../../cli/io.ts";
import { addJson } from "../../../cli/json.ts";
import { withAnimals } from "../open.ts";
import { addSettings, commandHere, storeSettings } from "../../../cli/options.ts";
import { type Column, printTable } from "../../../cli/terminal/table.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";
import { shownFields } from "./fields.ts";
import {
  categoryOption,
  none,
  parseInt64Value,
  statusOf,
  statusOption,
  type StatusWord,
} from "./options.ts";
import { petListSchema } from "./pet.ts";

interface Options {
  readonly name?: string;
  readonly category?: string;
  readonly status?: StatusWord;
  readonly limit: number;
  readonly after?: bigint;
  readonly json?: true;
}

const help = `
Animals are listed by id, one page at a time; pets export writes all of them. --name finds any part of a name, and ignores
case and accents.

Examples:
  rehome pets list
  rehome pets list --name rex --category Dog
  rehome pets list --status pending --limit 100
  rehome pets list --after 100 --json | jq '.[].name'`;

export function listCommand(io: Io): Command {
  const { min, max } = pageLimit;
  const command = new Command("list")
    .description("show animals, a page at a time")
    .addOption(new Option("--name <text>", "only those whose name contains this text"))
    .addOption(categoryOption("only those of this category, by name or id"))
    .addOption(statusOption("only those of this status"))
    .addOption(
      new Option("--limit <N>", `maximum number of animals, from ${min} to ${max}`)
        .default(pageLimit.default)
        .argParser((value: string) => {
          const limit = parsePageLimit(value);
          if (limit === undefined)
            throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`);
          return limit;
        }),
    )
    .addOption(
      new Option("--after <id>", "only those with a greater id: the next page").argParser(
        parseInt64Value,
      ),
    )
    .addHelpText("after", help);
  addJson(addSettings(command, storeSettings), petListSchema);
  return command.action(async (options: Options) => {
    await listPets(command, io, options);
  });
}

async function listPets(command: Command, io: Io, options: Options): Promise<void> {
  const { json, limit, after, name, category, status } = options;
  const filter = { name, category, status: statusOf(status) };
  await withAnimals(command, io, async ({ animals, categories, pets, place }, loaded) => {
    const found = await animals.find({ ...filter, after, limit: limit + 1 });
    const page = found.pets.slice(0, limit);
    if (json) {
      printJson(io, page.map(plainPet));
      return;
    }
    const isFiltered = Object.values(filter).some((value) => value !== undefined);
    if (page.length === 0) {
      const isSought = isFiltered || after !== undefined;
      io.err(`There is no ${isSought ? "such animal" : "animal"} in ${place}.\n`);
      const here = (line: string) => io.err(`${commandHere(line, loaded, io)}\n`);
      if (isSought) return here("All of them: rehome pets list");
      here("Add one:           rehome pets add --name NAME --category 1 --status available");
      here("Or import a file:  rehome pets import FILE");
      return;
    }
    const named = await categories.names();
    printPage(io, page, named);
    io.err(`${totalsOf(found, page.length, isFiltered ? await pets.count() : undefined)}\n`);
    if (found.pets.length > limit) {
      const next = ["rehome pets list", ...filterFlags(filter), `--limit ${limit}`];
      next.push(`--after ${page.at(-1)?.id}`);
      io.err(`More: ${commandHere(next.join(" "), loaded, io)}\n`);
    }
  });
}

/** `31 of 12,480 animals`: those that match, or those shown where all do. */
function totalsOf({ total }: FoundPets, shown: number, all: number | undefined): string {
  if (all === undefined) return `${grouped(shown)} of ${counted(total, "animal")}.`;
  const part = shown < total ? ` ${grouped(shown)} shown.` : "";
  return `${grouped(total)} of ${counted(all, "animal")}.${part}`;
}

/** The options that ask for the same animals again. */
function filterFlags(filter: Readonly<Record<string, string | null | undefined>>): string[] {
  return Object.entries(filter).flatMap(([flag, value]) =>
    value === undefined ? [] : [`--${flag} ${shellWord(value ?? none)}`],
  );
}

function printPage(io: Io, page: readonly Pet[], named: ReadonlyMap<bigint, string>): void {
  printTable(
    io,
    [
      { title: "ID", align: "right" },
      ...petFieldNames.flatMap((name): readonly (string | Column)[] => shownFields[name].columns),
    ],
    page.map((pet) => [
      String(pet.id),
      ...petFieldNames.flatMap((name) => shownFields[name].cells(pet, named)),
    ]),
  );
}
