import { type Argument, Command, type Option } from "commander";
import type { TSchema } from "@sinclair/typebox";
import {
  dataFolderOf,
  isStoreNamed,
  loadConfig,
  settings,
  type LoadedConfig,
  type SettingName,
} from "../config.ts";
import { shellWord } from "../domain/errors.ts";
import type { Services } from "../service/services.ts";
import type { Io } from "./io.ts";
import { addJson } from "./json.ts";
import { type MachineService, sayService, workAsOwner, workAsService } from "./machine.ts";
import { type Beginning, withServices } from "./open.ts";
import { addSettings, featureSettings, storeSettings } from "./options.ts";
import { typedWords } from "./program.ts";
import { passwordWarning } from "./warnings.ts";

/** What a command takes, and what its help says. */
export interface CommandForm<Arguments> {
  readonly name: string;
  readonly about: string;
  readonly arguments?: { readonly [Position in keyof Arguments]: Argument };
  readonly options?: readonly Option[];
  readonly remark?: string;
  readonly examples: readonly string[];
  readonly json?: TSchema;
}

/** The values of a command's options, whatever they are, and the settings that it runs with. */
export type Given<Options> = Options & { readonly json?: true; readonly loaded: LoadedConfig };

/** A command without its work. */
export function commandOf<Arguments extends readonly unknown[]>({
  name,
  about,
  remark,
  examples,
  ...takes
}: CommandForm<Arguments>): Command {
  const command = new Command(name).description(about);
  for (const argument of takes.arguments ?? []) command.addArgument(argument);
  for (const option of takes.options ?? []) command.addOption(option);
  const title = `Example${examples.length === 1 ? "" : "s"}:`;
  const lines = [title, ...examples.map((line) => `  ${line}`)].join("\n");
  command.addHelpText("after", `\n${remark === undefined ? "" : `${remark}\n\n`}${lines}`);
  return takes.json === undefined ? command : addJson(command, takes.json);
}

/** Makes a command that opens the store, runs `work`, and closes the store whatever happens. */
export function storeCommand<Options, Arguments extends readonly unknown[] = []>(
  io: Io,
  form: CommandForm<Arguments> & Beginning & { readonly settings?: readonly SettingName[] },
  work: (services: Services, given: Given<Options>, ...args: Arguments) => Promise<void>,
): Command {
  const command = commandOf(form);
  addSettings(command, [...storeSettings, ...(form.settings ?? [])]);
  return command.action(async () => {
    const loaded = beginOnStore(command, io);
    const given = { ...command.opts<Options & { readonly json?: true }>(), loaded };
    const args = command.processedArgs as readonly unknown[] as Arguments;
    await withServices(loaded.config, io, (services) => work(services, given, ...args), form);
  });
}

/** What a command runs with, and the machine's service where its settings apply. */
interface Settings {
  readonly loaded: LoadedConfig;
  readonly service: MachineService | undefined;
}

/**
 * Reads the settings of a command. Those without a flag come from the environment. Without a folder
 * or a database they are those of this machine's service, if there is one.
 */
function readSettings(command: Command, io: Io): Settings {
  const flags: Record<string, string> = {};
  for (const option of command.options) {
    const value: string | boolean | undefined = command.getOptionValue(option.attributeName());
    if (value !== undefined) flags[option.name()] = String(value);
  }
  const service = isStoreNamed(flags, io.env) ? undefined : io.machine.service();
  return { loaded: loadConfig(flags, io.env, featureSettings(io.features), service), service };
}

/** Begins a command that opens the store, and warns of a typed password. */
export function beginOnStore(command: Command, io: Io): LoadedConfig {
  const loaded = beginAsOwner(command, io);
  const warning = passwordWarning(loaded);
  if (warning !== undefined) io.err(`Warning: ${warning}\n`);
  return loaded;
}

/** Reads the settings of a command, and works as the account that owns the store from here on. */
export function beginAsOwner(command: Command, io: Io): LoadedConfig {
  const { loaded, service } = readSettings(command, io);
  const folder = dataFolderOf(loaded.config);
  if (service !== undefined) {
    workAsService(service, loaded, typedWords(command), io);
    sayService(service, io);
  } else if (folder !== undefined) {
    workAsOwner(folder, io);
  }
  return loaded;
}

export function beginWithoutStore(command: Command, io: Io): LoadedConfig {
  const { loaded, service } = readSettings(command, io);
  if (service !== undefined) sayService(service, io);
  return loaded;
}

/**
 * The flags that make another command use this store, in any shell. An address may have a password,
 * so `ADDRESS` replaces a typed one.
 */
export function storeFlags({ config, loadedOf }: LoadedConfig, io: Io): string[] {
  // Another shell need not have our variables.
  const others = Object.entries(io.env).filter(([name]) => !name.startsWith("REHOME_"));
  const { config: bare } = loadConfig(
    {},
    Object.fromEntries(others),
    featureSettings(io.features),
    serviceOrNone(io),
  );
  const places = ["data", "store", "storeFile"] as const;
  if (places.every((name) => config[name] === bare[name])) return [];
  if (config.storeFile !== undefined) return ["--store-file", config.storeFile];
  const isTyped = loadedOf(settings.store).source === "flag";
  if (config.store !== undefined) return isTyped ? ["--store", "ADDRESS"] : [];
  return ["--data", config.data];
}

/** A server must not stop over another installation's settings that it may not read. */
function serviceOrNone(io: Io): MachineService | undefined {
  try {
    return io.machine.service();
  } catch {
    return undefined;
  }
}

/** What makes a first key. */
export const toMakeKey = "rehome keys create --plan free --name LABEL";

/** `command` as it is typed for this store. */
export function commandHere(command: string, loaded: LoadedConfig, io: Io): string {
  return [command, ...storeFlags(loaded, io).map(shellWord)].join(" ");
}
