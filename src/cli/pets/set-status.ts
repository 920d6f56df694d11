import { Argument, type Command } from "commander";
import { petStatuses, type PetStatus } from "../../domain/pet.ts";
import type { Io } from "../io.ts";
import { withServices } from "../open.ts";
import { configOf } from "../options.ts";
import { foundPet, petCommand, printPet } from "./pet.ts";

/** The word for having no status. */
const none = "none";

export function setStatusCommand(io: Io): Command {
  const command = petCommand("set-status", "set the status of an animal, or take it away")
    .addArgument(
      new Argument("<status>", `new status; ${none} takes it away`).choices([...petStatuses, none]),
    )
    .addHelpText(
      "after",
      `
A running server shows the change at its next request.

Examples:
  rehome pets set-status 17 pending
  rehome pets set-status 17 sold
  rehome pets set-status 17 none`,
    );
  return command.action(
    async (id: bigint, status: PetStatus | typeof none, options: { json?: true }) => {
      const { config } = configOf(command, io);
      await withServices(config, io, async ({ pets }) => {
        const pet = await pets.setStatus(id, status === none ? undefined : status);
        printPet(io, foundPet(pet, id), "Changed", options);
      });
    },
  );
}
