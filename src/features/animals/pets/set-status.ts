import { Argument, type Command } from "commander";
import type { Io } from "../../../cli/io.ts";
import { withAnimals } from "../open.ts";
import { none, parseStatusWord, statusChoices, statusOf, type StatusWord } from "./options.ts";
import { foundPet, petCommand, printPet } from "./pet.ts";

export function setStatusCommand(io: Io): Command {
  const command = petCommand("set-status", "set or remove the status of an animal")
    .addArgument(
      new Argument("<status>", `new status; ${none} removes it`)
        .choices(statusChoices)
        .argParser(parseStatusWord),
    )
    .addHelpText(
      "after",
      `
A running server shows the change at its next request, or with PostgreSQL within
a second.

Examples:
  rehome pets set-status 17 pending
  rehome pets set-status 17 adopted
  rehome pets set-status 17 none`,
    );
  return command.action(async (id: bigint, word: StatusWord, options: { json?: true }) => {
    await withAnimals(command, io, async ({ animals }) => {
      const [pet] = await animals.update([id], { status: statusOf(word) });
      printPet(io, foundPet(pet, id), "Changed", options);
    });
  });
}
