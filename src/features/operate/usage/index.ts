import { Command, InvalidArgumentError, Option } from "commander";
import { usageKeptDays } from "../../../domain/windows.ts";
import { printJson, type Io } from "../../../cli/io.ts";
import { addJson } from "../../../cli/json.ts";
import { withServices } from "../../../cli/open.ts";
import {
  addSettings,
  commandHere,
  configOf,
  storeSettings,
  toMakeKey,
} from "../../../cli/options.ts";
import { usageReport, usageSchema } from "./json.ts";
import { printUsage } from "./print.ts";

const defaultDays = 30;

interface Options {
  readonly days: number;
  readonly json?: true;
}

const help = `
Days are UTC days, today included; earlier days are kept for ${usageKeptDays} days. Below the plot, ! marks a day with refusals
(429), and B the start of a ban.

Examples:
  rehome usage
  rehome usage website --days 90
  rehome usage --json | jq '.keys[] | select(.advice)'`;

/** `rehome usage`: what keys did, day by day. */
export function usageCommand(io: Io): Command {
  const command = new Command("usage")
    .description("show requests, refusals and bans day by day, of one key or of all")
    .argument("[key]", "id, the beginning of one, or label; all keys without it")
    .addOption(
      new Option("--days <N>", `how many days, from 1 to ${usageKeptDays}`)
        .default(defaultDays)
        .argParser((value: string) => {
          const days = /^\d{1,3}$/.test(value) ? Number(value) : 0;
          if (days >= 1 && days <= usageKeptDays) return days;
          throw new InvalidArgumentError(`It must be a whole number from 1 to ${usageKeptDays}.`);
        }),
    )
    .addHelpText("after", help);
  addJson(addSettings(command, storeSettings), usageSchema);
  return command.action(async (reference: string | undefined, options: Options) => {
    const loaded = configOf(command, io);
    await withServices(loaded.config, io, async ({ keys, usage }) => {
      const one = reference === undefined ? undefined : await keys.resolve(reference);
      const shown = one === undefined ? await keys.list() : [one];
      const days = await usage.days(options.days, one?.id);
      const report = usageReport(shown, days, usage.today(), options.days);
      if (options.json) printJson(io, report);
      else printUsage(io, report, one, commandHere(toMakeKey, loaded, io));
    });
  });
}
