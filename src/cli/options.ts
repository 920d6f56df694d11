import { InvalidArgumentError, Option, type Command } from "commander";
import type { Feature } from "../feature.ts";
import { settings, variableOf, type AnySetting, type SettingName } from "../config.ts";
import { durationRule, parseDuration } from "../domain/duration.ts";
import { isLimit, limitMax, planNames } from "../domain/plan.ts";
import type { Io } from "./io.ts";

/**
 * Adds the flags of these settings to `command`. Help names the variable of each. `meanings`
 * replaces the description of a setting for this command.
 */
export function addSettings(
  command: Command,
  names: readonly SettingName[],
  meanings: Partial<Record<SettingName, string>> = {},
): Command {
  for (const name of names) addSetting(command, settings[name], meanings[name]);
  return command;
}

/** Gives `command` the flags of all settings: the core's, then those of the features. */
export function addAllSettings(command: Command, { features }: Io): Command {
  for (const setting of Object.values(settings)) addSetting(command, setting);
  for (const setting of featureSettings(features)) addSetting(command, setting);
  return command;
}

/** Adds the flag of one setting. Help names its variable. */
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

/** The settings that the features declare. */
export function featureSettings(features: readonly Feature[]): AnySetting[] {
  return features.flatMap(({ settings: own = [] }) => own);
}

/** The settings of every command on a store; one that makes a secret takes the environment too. */
export const storeSettings = [
  "data",
  "store",
  "storeFile",
  "movedStore",
] as const satisfies readonly SettingName[];

export const yesOption = (description: string) => new Option("-y, --yes", description);

export const planOption = (description = "plan of the key") =>
  new Option("--plan <plan>", description).choices([...planNames]);

/** Reads a text that must have something in it: an unset variable in a script leaves nothing. */
export function parseText(value: string): string {
  if (value.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return value;
}

export const labelOption = (description: string) =>
  new Option("--name <label>", description).argParser(parseText);

export function limitOption(window: "minute" | "day"): Option {
  const description = `requests per ${window} (plan enterprise only)`;
  return new Option(`--per-${window} <N>`, description).argParser((value: string) => {
    const limit = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!isLimit(limit))
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${limitMax}.`);
    return limit;
  });
}

function durationOf(value: string, minMs: number, rule = durationRule): number {
  const ms = parseDuration(value);
  if (ms === undefined || ms < minMs) throw new InvalidArgumentError(`It ${rule}.`);
  return ms;
}

/** A duration in milliseconds, of at least `minMs`. */
export const durationOption = (flags: string, description: string, minMs = 0) =>
  new Option(flags, description).argParser((value: string) => durationOf(value, minMs));

/** When a key expires: a duration in milliseconds, or `never`. */
export const expiryOption = (description: string) =>
  new Option("--expires-in <duration>", description).argParser((value: string) =>
    value === "never" ? value : durationOf(value, 1, `${durationRule}, or never`),
  );

/** `--read-only`, in the words of `description`; it and `--read-write` exclude each other. */
export const readOnlyOption = (description: string) =>
  new Option("--read-only", description).conflicts("readWrite");

export const readWriteOption = (description: string) =>
  new Option("--read-write", description).conflicts("readOnly");
