import { type Command, Option } from "commander";
import {
  type AnySetting,
  dataFolderOf,
  isStoreNamed,
  loadConfig,
  settings,
  type LoadedConfig,
  retiredSettings,
  variableOf,
} from "../config.ts";
import { shellWord } from "../domain/errors.ts";
import type { Io } from "./io.ts";
import { refuseRoot, requireServiceAccount } from "./machine.ts";
import { typedWords } from "./program.ts";
import type { Feature } from "../feature.ts";

/**
 * Reads the settings of a command. Those without a flag come from the environment. Without a folder
 * or a database they are those of this machine's service, if there is one.
 */
export function readSettings(command: Command, io: Io): LoadedConfig {
  const flags: Record<string, string> = {};
  for (const option of command.options) {
    const value: string | boolean | undefined = command.getOptionValue(option.attributeName());
    if (value !== undefined) flags[option.name()] = String(value);
  }
  const service = isStoreNamed(flags, io.env) ? undefined : io.machine.service();
  return loadConfig(flags, io.env, featureSettings(io.features), service);
}

/** Reads the settings of a command, and refuses to work on a store of another account. */
export function beginAsOwner(command: Command, io: Io): LoadedConfig {
  const loaded = readSettings(command, io);
  const folder = dataFolderOf(loaded.config);
  if (loaded.service !== undefined) {
    requireServiceAccount(loaded.service, loaded, typedWords(command), io);
    sayService(loaded, io);
  } else if (folder !== undefined) {
    // sudo and runuser pass no variables on.
    const { source } = loaded.loadedOf(settings.data);
    const named = source === "environment" ? ["--data", folder] : [];
    refuseRoot(folder, [...typedWords(command), ...named], io);
  }
  return loaded;
}

export function sayService({ service }: LoadedConfig, io: Io): void {
  if (service === undefined || !io.stderrIsTTY) return;
  io.err(`On the service of this machine: settings from ${service.file}.\n`);
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

export function addAllSettings(command: Command, { features }: Io): Command {
  for (const setting of Object.values(settings)) addSetting(command, setting);
  for (const setting of featureSettings(features)) addSetting(command, setting);
  return addRetiredSettings(command);
}

/** Takes the flags that do nothing any more, for their warnings. Help does not show them. */
export function addRetiredSettings(command: Command): Command {
  for (const { flag, ...takes } of retiredSettings) {
    const value = "placeholder" in takes ? ` <${takes.placeholder}>` : "";
    command.addOption(new Option(`--${flag}${value}`).hideHelp());
  }
  return command;
}

export function addSetting(
  command: Command,
  setting: AnySetting,
  meaning = setting.description,
): void {
  const { flag, placeholder, default: fallback } = setting;
  const isPlain = typeof fallback === "string" || typeof fallback === "number";
  const note = `${meaning} (${isPlain ? `default ${fallback}, ` : ""}${variableOf(setting)})`;
  const option = new Option(
    placeholder === undefined ? `--${flag}` : `--${flag} <${placeholder}>`,
    note,
  );
  if (Array.isArray(fallback)) {
    option.argParser((value: string, sofar: string | undefined) =>
      sofar === undefined ? value : `${sofar},${value}`,
    );
  }
  command.addOption(option);
}

export function featureSettings(features: readonly Feature[]): AnySetting[] {
  return features.flatMap(({ settings: own = [] }) => own);
}
