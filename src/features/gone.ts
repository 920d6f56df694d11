import { Command } from "commander";
import type { CommandEntry } from "../feature.ts";
import { UsageError } from "./usage-error.ts";

/** A command of an earlier version, with whatever was behind it: it says what to use. */
export function gone(path: string, use: string): CommandEntry {
  const made = () =>
    new Command(path.split(" ").at(-1))
      .argument("[words...]")
      .allowUnknownOption()
      .helpOption(false)
      .action(() => {
        throw new UsageError(`There is no command rehome ${path} any more.`, use);
      });
  return { path, hidden: true, load: async () => made };
}
