import type { Command } from "commander";
import { UsageError } from "../errors.ts";
import type { Io } from "../io.ts";
import {
  expiryOption,
  labelOption,
  limitOption,
  planOption,
  readOnlyOption,
  readWriteOption,
} from "../options.ts";
import { changeCommand, changeKey } from "./change.ts";
import type { KeyOptions } from "./create.ts";

interface Options extends Partial<KeyOptions> {
  readonly readWrite?: true;
}

export function updateCommand(io: Io): Command {
  const command = changeCommand(
    "update",
    "change a key's plan, limits, access, label or expiry; used requests stay used",
  )
    .addOption(planOption())
    .addOption(limitOption("minute"))
    .addOption(limitOption("day"))
    .addOption(labelOption("new label"))
    .addOption(
      expiryOption("when the key expires, counted from now, such as 90d; never removes the expiry"),
    )
    .addOption(readOnlyOption("from now on the key can read animals but not add them"))
    .addOption(readWriteOption("from now on the key may also add animals"))
    .addHelpText(
      "after",
      `
Examples:
  rehome keys update key_7h2m --plan business
  rehome keys update "city of Austin" --per-minute 10000
  rehome keys update trial --expires-in 90d     from now on, of an expired key too`,
    );
  return command.action(async (reference: string, options: Options) => {
    const { plan, name, perMinute, perDay, expiresIn } = options;
    const readOnly = options.readWrite === undefined ? options.readOnly : false;
    const wanted = [plan, name, perMinute, perDay, expiresIn, readOnly];
    if (wanted.every((value) => value === undefined)) {
      throw new UsageError(
        "There is nothing to change.",
        "Give --plan, --per-minute, --per-day, --name, --expires-in, --read-only or --read-write.",
      );
    }
    await changeKey(command, io, options, (keys) =>
      keys.update(reference, { ...options, expiresInMs: expiresIn, readOnly }),
    );
  });
}
