import type { Command } from "commander";
import type { Io } from "../../../cli/io.ts";
import { withAnimals } from "../open.ts";
import { petCommand, printPet } from "./pet.ts";

export function restoreCommand(io: Io): Command {
  const command = petCommand("restore", "bring back a removed animal with its id").addHelpText(
    "after",
    `
Examples:
  rehome pets restore 17`,
  );
  return command.action(async (id: bigint, options: { json?: true }) => {
    await withAnimals(command, io, async ({ animals }) => {
      printPet(io, await animals.restore(id), "Brought back", options);
    });
  });
}
