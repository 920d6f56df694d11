import { Command, InvalidArgumentError, Option } from "commander";
import { pageLimit, parsePageLimit, type PageQuery } from "../../domain/page.ts";
import { petStatuses, type PetStatus } from "../../domain/pet.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { printJson, type Io } from "../io.ts";
import { addJson } from "../json.ts";
import { withServices } from "../open.ts";
import { addSettings, configOf, parseInt64Value, storeFlags, storeSettings } from "../options.ts";
import { printTable } from "../terminal/table.ts";
import { petFields, petListSchema } from "./pet.ts";

interface Options {
  readonly status?: PetStatus;
  readonly limit: number;
  readonly after?: bigint;
  readonly json?: true;
}

const help = `
Animals come in the order of their ids, a page at a time; pets export writes all of them.

Examples:
  rehome pets list
  rehome pets list --status pending --limit 100
  rehome pets list --after 100 --json | jq '.[].name'`;

export function listCommand(io: Io): Command {
  const { min, max } = pageLimit;
  const command = new Command("list")
    .description("show animals, a page at a time")
    .addOption(
      new Option("--status <status>", "only those of this status").choices([...petStatuses]),
    )
    .addOption(
      new Option("--limit <N>", `most animals to show, from ${min} to ${max}`)
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

const howToBegin = `Add one:           rehome pets add --name NAME --category 1 --status available
Or take a file over: rehome pets import FILE
`;

async function listPets(command: Command, io: Io, options: Options): Promise<void> {
  const { status, limit, after } = options;
  const query: PageQuery = { limit: limit + 1, status, after };
  const loaded = configOf(command, io);
  await withServices(loaded.config, io, async ({ pets, catalogue, place }) => {
    const found = await pets.page(query);
    const page = found.slice(0, limit);
    if (options.json) {
      printJson(io, page.map(petFields));
      return;
    }
    if (page.length === 0) {
      const isFiltered = status !== undefined || after !== undefined;
      io.err(`There is no ${isFiltered ? "such animal" : "animal"} in ${place}.\n`);
      io.err(isFiltered ? "All of them: rehome pets list\n" : howToBegin);
      return;
    }
    const categories = new Map(
      (await catalogue.categories()).map(({ id, name }) => [id, name] as const),
    );
    printTable(
      io,
      [
        { title: "ID", align: "right" },
        { title: "NAME", flexible: true },
        { title: "CATEGORY", align: "right" },
        { title: "", flexible: true },
        "STATUS",
      ],
      page.map((pet) => [
        String(pet.id),
        pet.name,
        String(pet.categoryId),
        categories.get(pet.categoryId) ?? "",
        pet.status ?? "-",
      ]),
    );
    if (found.length > limit) {
      const filter = status === undefined ? "" : ` --status ${status}`;
      const next = `rehome pets list${filter} --limit ${limit} --after ${page.at(-1)?.id}`;
      io.err(`More: ${[next, ...storeFlags(loaded, io).map(shellWord)].join(" ")}\n`);
    }
  });
}
