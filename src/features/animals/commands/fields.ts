/** The fields of an animal as the command line takes and shows them, and animals in words. */
import { Argument, InvalidArgumentError, Option } from "commander";
import { printJson } from "../../json.ts";
import { type Io } from "../../../cli/io.ts";
import { json } from "../../json.ts";
import { cut } from "../../table.ts";
import { printable } from "../../../cli/terminal/text.ts";
import { parseInt64 } from "../../../domain/int64.ts";
import {
  isPetName,
  isPetStatus,
  type Pet,
  petNameLengthMax,
  petStatuses,
  type PetStatus,
  plainPet,
} from "../../../domain/pet.ts";
import type { CategoryReference } from "../categories.ts";

/** The word for having no status: commander makes an empty text of null. */
export const none = "none";

/** The statuses that help and completion name; everyday words do too. */
const statusChoices = [...petStatuses, none];
export type StatusWord = PetStatus | typeof none;

/** Everyday words for a status, as people at a front desk say them. */
const statusWords: ReadonlyMap<string, PetStatus> = new Map([
  ["adoptable", "available"],
  ["reserved", "pending"],
  ["on hold", "pending"],
  ["adopted", "sold"],
]);

/** A status in any case, or an everyday word for one. */
export function parseStatusWord(value: string): StatusWord {
  const word = value.trim().toLowerCase();
  const status = word === none || isPetStatus(word) ? word : statusWords.get(word);
  if (status !== undefined) return status;
  throw new InvalidArgumentError(`Allowed choices are ${statusChoices.join(", ")}.`);
}

/** What the store keeps for a status that was typed: null for none. */
export function statusOf(word: StatusWord | undefined): PetStatus | null | undefined {
  return word === none ? null : word;
}

export const statusOption = (description: string) =>
  new Option("--status <status>", description).choices(statusChoices).argParser(parseStatusWord);

export const nameOption = (description: string) =>
  new Option("--name <name>", description).argParser((value: string) => {
    if (isPetName(value)) return value;
    throw new InvalidArgumentError(
      `It must be well-formed Unicode without NUL, of at most ${petNameLengthMax} characters.`,
    );
  });

export const categoryOption = (description: string) =>
  new Option("--category <category>", description);

/** A value of the int64 range, written plainly. */
export function parseInt64Value(value: string): bigint {
  const id = parseInt64(value);
  if (id === undefined) throw new InvalidArgumentError("It must be an integer of 64 bits.");
  return id;
}

export const idArgument = (description = "id of the animal", name = "<id>") =>
  new Argument(name, description).argParser(parseInt64Value);

export const idsArgument = (description = "ids of the animals") =>
  new Argument("<id...>", description).argParser(
    (value: string, sofar: readonly bigint[] | undefined): readonly bigint[] => [
      ...new Set([...(sofar ?? []), parseInt64Value(value)]),
    ],
  );

export const petFieldsSchema = {
  name: json.text("name"),
  categoryId: json.int64("id of its category, an int64"),
  status: json.optional(json.oneOf(petStatuses, "status; absent when it has none")),
};

export const petSchema = json.object({
  id: json.int64("id of the animal, an int64"),
  ...petFieldsSchema,
});
export const petListSchema = json.list(petSchema);

/** The fields that a command was given. */
export interface FieldOptions {
  readonly name?: string;
  readonly category?: string;
  readonly createCategory?: true;
  readonly status?: StatusWord;
}

/** An option for each field, described behind `word`. A new animal must have some of them. */
export const fieldOptions = (word: "its" | "new"): Option[] => [
  nameOption(`${word} name, any text`).makeOptionMandatory(word === "its"),
  categoryOption(`${word} category, by name or id`).makeOptionMandatory(word === "its"),
  new Option("--create-category", "create the category if it does not exist"),
  statusOption(`${word} status`),
];

export function categoryOf({ category, createCategory }: FieldOptions): CategoryReference {
  return { text: category ?? "", create: createCategory === true };
}

/** A name may have 1,000 characters; a sentence takes this much of it. */
const nameCells = 60;

/** An animal in words: `17 "Rex" (category 1, available)`. */
export function petText({ id, name, categoryId, status }: Pet): string {
  const shown = cut(printable(name), nameCells);
  return `${id} "${shown}" (category ${categoryId}, ${status ?? "without a status"})`;
}

/** Prints what became of an animal, or of several: as JSON, or a sentence each. */
export function printPets(
  io: Io,
  pets: Pet | readonly Pet[],
  did: string,
  options: { readonly json?: true },
): void {
  const isOne = "id" in pets;
  if (options.json) printJson(io, isOne ? plainPet(pets) : pets.map(plainPet));
  else for (const pet of isOne ? [pets] : pets) io.out(`${did} ${petText(pet)}.\n`);
}
