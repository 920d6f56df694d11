import type { Command } from "commander";
import type { PlanName } from "../../domain/plan.ts";
import { UsageError } from "../errors.ts";
import type { Io } from "../io.ts";
import { labelOption, limitOption, planOption } from "../options.ts";
import { changeCommand, changeKey } from "./change.ts";

interface Options {
  readonly plan?: PlanName;
  readonly name?: string;
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly json?: true;
}

export function updateCommand(io: Io): Command {
  const command = changeCommand(
    "update",
    "change a key's plan, limits or label; what it has used stays used",
  )
    .addOption(planOption())
    .addOption(limitOption("per-minute", "requests per minute (plan enterprise only)"))
    .addOption(limitOption("per-day", "requests per day (plan enterprise only)"))
    .addOption(labelOption("new label"))
    .addHelpText(
      "after",
      `
Examples:
  rehome keys update key_7h2m --plan business
  rehome keys update "city of Austin" --per-minute 10000`,
    );
  return command.action(async (reference: string, options: Options) => {
    const { plan, name, perMinute, perDay } = options;
    if ([plan, name, perMinute, perDay].every((value) => value === undefined)) {
      throw new UsageError(
        "There is nothing to change.",
        "Give --plan, --per-minute, --per-day or --name.",
      );
    }
    await changeKey(command, io, options, (keys) => keys.update(reference, options));
  });
}
