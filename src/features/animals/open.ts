import { type Argument, Command, type Option } from "commander";
import type { TSchema } from "@sinclair/typebox";
import type { Io } from "../../cli/io.ts";
import { addJson } from "../../cli/json.ts";
import { type Beginning, withServices } from "../../cli/open.ts";
import { addSettings, configOf, storeSettings } from "../../cli/options.ts";
import type { LoadedConfig } from "../../config.ts";
import type { Services } from "../../service/services.ts";
import { AnimalService } from "./animals.ts";
import { CategoryService } from "./categories.ts";

/** What people do with animals and categories, beside what the core offers. */
export interface AnimalServices extends Services {
  readonly animals: AnimalService;
  readonly categories: CategoryService;
}

/** The services for work on animals, in the name of the one who runs this process. */
export function animalServices(services: Services): AnimalServices {
  return {
    ...services,
    animals: new AnimalService(services),
    categories: new CategoryService(services),
  };
}

/** A command on the store that its settings name. */
interface StoreCommand<Arguments> extends Beginning {
  readonly name: string;
  readonly about: string;
  readonly arguments?: { readonly [Position in keyof Arguments]: Argument };
  readonly options?: readonly Option[];
  /** What help adds: a remark, and lines to be typed. */
  readonly remark?: string;
  readonly examples: readonly string[];
  /** What `--json` prints. */
  readonly json: TSchema;
}

/** The values of a command's options, whatever they are, and the settings that it runs with. */
export type Given<Options> = Options & { readonly json?: true; readonly loaded: LoadedConfig };

/** Makes a command that opens the store, runs `work`, and closes the store whatever happens. */
export function storeCommand<Options, Arguments extends readonly unknown[] = []>(
  io: Io,
  { name, about, remark, examples, ...is }: StoreCommand<Arguments>,
  work: (services: AnimalServices, given: Given<Options>, ...args: Arguments) => Promise<void>,
): Command {
  const command = new Command(name).description(about);
  for (const argument of is.arguments ?? []) command.addArgument(argument);
  for (const option of is.options ?? []) command.addOption(option);
  const title = `Example${examples.length === 1 ? "" : "s"}:`;
  const lines = [title, ...examples.map((line) => `  ${line}`)].join("\n");
  command.addHelpText("after", `\n${remark === undefined ? "" : `${remark}\n\n`}${lines}`);
  addJson(addSettings(command, storeSettings), is.json);
  return command.action(async () => {
    const loaded = configOf(command, io);
    const given = { ...command.opts<Options & { readonly json?: true }>(), loaded };
    const args = command.processedArgs as readonly unknown[] as Arguments;
    await withServices(loaded.config, io, (own) => work(animalServices(own), given, ...args), is);
  });
}
