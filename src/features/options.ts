import { type Command, InvalidArgumentError, Option } from "commander";
import { addSetting } from "../cli/command.ts";
import { type AnySetting, settings, type SettingName } from "../config.ts";
import { durationRule, parseDuration } from "./duration.ts";

/**
 * Adds the flags of these settings to `command`. Help names the variable of each. `meanings`
 * replaces the description of a setting for this command.
 */
export function addSettings(
  command: Command,
  names: readonly (SettingName | AnySetting)[],
  meanings: Partial<Record<SettingName, string>> = {},
): Command {
  for (const name of names) {
    if (typeof name === "string") addSetting(command, settings[name], meanings[name]);
    else addSetting(command, name);
  }
  return command;
}

/** The settings of every command on a store; one that makes a secret takes the environment too. */
export const storeSettings = [
  "data",
  "store",
  "storeFile",
  "movedStore",
] as const satisfies readonly SettingName[];

export const yesOption = (description: string) => new Option("-y, --yes", description);

/** Reads a text that must have something in it: an unset variable in a script leaves nothing. */
export function parseText(value: string): string {
  if (value.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return value;
}

/** Reads a whole number from 1 to `max`. */
export const wholeNumber =
  (max: number) =>
  (value: string): number => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : 0;
    if (number >= 1 && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };

export function durationOf(value: string, minMs: number, rule = durationRule): number {
  const ms = parseDuration(value);
  if (ms === undefined || ms < minMs) throw new InvalidArgumentError(`It ${rule}.`);
  return ms;
}

/** A duration in milliseconds, of at least `minMs`, as `rule` says. */
export const durationOption = (flags: string, description: string, minMs = 0, rule?: string) =>
  new Option(flags, description).argParser((value: string) => durationOf(value, minMs, rule));
