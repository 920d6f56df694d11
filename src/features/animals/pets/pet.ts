import { Command } from "commander";
import { plainPet, type Pet } from "../../../domain/pet.ts";
import { printJson, type Io } from "../../../cli/io.ts";
import { addJson, json } from "../../../cli/json.ts";
import { addSettings, storeSettings } from "../../../cli/options.ts";
import { noSuchAnimal } from "../animals.ts";
import { fieldSchemas } from "./fields.ts";
import { parseInt64Value } from "./options.ts";
import { cut, printable } from "../../../cli/terminal/text.ts";

export const petSchema = json.object({
  id: json.int64("id of the animal, an int64"),
  ...fieldSchemas,
});
export const petListSchema = json.list(petSchema);

/** A name may be 64 KiB long; a sentence takes this much of it. */
const nameCells = 60;

/** A command on one animal, which is named by its id. It prints the animal. */
export function petCommand(name: string, description: string): Command {
  const command = new Command(name)
    .description(description)
    .argument("<id>", "id of the animal", parseInt64Value);
  return addJson(addSettings(command, storeSettings), petSchema);
}

/** An animal in words: `17 "Rex" (category 1, available)`. */
export function petText({ id, name, categoryId, status }: Pet): string {
  const shown = cut(printable(name), nameCells);
  return `${id} "${shown}" (category ${categoryId}, ${status ?? "without a status"})`;
}

/** Prints what became of an animal: as JSON, or as a sentence that begins with `did`. */
export function printPet(io: Io, pet: Pet, did: string, options: { readonly json?: true }): void {
  if (options.json) printJson(io, plainPet(pet));
  else io.out(`${did} ${petText(pet)}.\n`);
}

/** Prints what became of several animals: as a list in JSON, or a sentence each. */
export function printPets(
  io: Io,
  pets: readonly Pet[],
  did: string,
  options: { readonly json?: true },
): void {
  if (options.json) printJson(io, pets.map(plainPet));
  else for (const pet of pets) io.out(`${did} ${petText(pet)}.\n`);
}

/** The animal, or the error that there is none with this id. */
export function foundPet(pet: Pet | undefined, id: bigint): Pet {
  if (pet !== undefined) return pet;
  throw noSuchAnimal([id]);
}
