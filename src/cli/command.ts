import type { Command } from "commander";
import {
  type AnySetting,
  dataFolderOf,
  isStoreNamed,
  loadConfig,
  settings,
  type LoadedConfig,
} from "../config.ts";
import { shellWord } from "../domain/errors.ts";
import type { Io } from "./io.ts";
import { type MachineService, refuseRoot, requireServiceAccount, sayService } from "./machine.ts";
import { featureSettings } from "./options.ts";
import { typedWords } from "./program.ts";

interface Settings {
  readonly loaded: LoadedConfig;
  readonly service: MachineService | undefined;
}

/**
 * Reads the settings of a command. Those without a flag come from the environment. Without a folder
 * or a database they are those of this machine's service, if there is one.
 */
export function readSettings(command: Command, io: Io): Settings {
  const flags: Record<string, string> = {};
  for (const option of command.options) {
    const value: string | boolean | undefined = command.getOptionValue(option.attributeName());
    if (value !== undefined) flags[option.name()] = String(value);
  }
  const service = isStoreNamed(flags, io.env) ? undefined : io.machine.service();
  return { loaded: loadConfig(flags, io.env, featureSettings(io.features), service), service };
}

/** Reads the settings of a command, and refuses to work on a store of another account. */
export function beginAsOwner(command: Command, io: Io): LoadedConfig {
  const { loaded, service } = readSettings(command, io);
  const folder = dataFolderOf(loaded.config);
  if (service !== undefined) {
    requireServiceAccount(service, loaded, typedWords(command), io);
    sayService(service, io);
  } else if (folder !== undefined) {
    // sudo and runuser pass no variables on.
    const { source } = loaded.loadedOf(settings.data);
    const named = source === "environment" ? ["--data", folder] : [];
    refuseRoot(folder, [...typedWords(command), ...named], io);
  }
  return loaded;
}

/**
 * The flags that make another command use this store, in any shell: one need not have our
 * variables. An address may have a password, so `ADDRESS` replaces a typed one.
 */
export function storeFlags({ config, loadedOf }: LoadedConfig): string[] {
  const isOurs = (setting: AnySetting) =>
    ["flag", "environment"].includes(loadedOf(setting).source);
  if (config.storeFile !== undefined)
    return isOurs(settings.storeFile) ? ["--store-file", config.storeFile] : [];
  if (config.store !== undefined)
    return loadedOf(settings.store).source === "flag" ? ["--store", "ADDRESS"] : [];
  return isOurs(settings.data) ? ["--data", config.data] : [];
}

export const toMakeKey = "rehome keys create --plan free --name LABEL";

/** `command` as it is typed for this store. */
export function commandHere(command: string, loaded: LoadedConfig): string {
  return [command, ...storeFlags(loaded).map(shellWord)].join(" ");
}
