import { Option, type Command } from "commander";
import type { Feature } from "../feature.ts";
import { retiredSettings, settings, variableOf, type AnySetting } from "../config.ts";
import type { Io } from "./io.ts";

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
