/** Options and arguments that several commands on animals take. */
import { InvalidArgumentError, Option } from "commander";
import { parseInt64 } from "../../../domain/int64.ts";
import {
  isPetName,
  isPetStatus,
  petNameLengthMax,
  petStatuses,
  type PetStatus,
} from "../../../domain/pet.ts";
import type { CategoryReference } from "../categories.ts";

/** The word for having no status. */
export const none = "none";

/** The statuses that help and completion name; everyday words do too. */
export const statusChoices = [...petStatuses, none];

/** A status that was typed. Commander makes an empty text of null, so none is a word. */
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

export const createCategoryOption = () =>
  new Option("--create-category", "create the category if it does not exist");

export function categoryOf(options: {
  readonly category: string;
  readonly createCategory?: true;
}): CategoryReference {
  return { text: options.category, create: options.createCategory === true };
}

/** A value of the int64 range, written plainly. */
export function parseInt64Value(value: string): bigint {
  const id = parseInt64(value);
  if (id === undefined) throw new InvalidArgumentError("It must be an integer of 64 bits.");
  return id;
}

/** Ids of animals, each once. */
export function parseIds(value: string, sofar: readonly bigint[] | undefined): readonly bigint[] {
  return [...new Set([...(sofar ?? []), parseInt64Value(value)])];
}
