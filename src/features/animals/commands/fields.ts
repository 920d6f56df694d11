/** The fields of an animal as the command line takes and shows them, and animals in words. */
import { Argument, InvalidArgumentError, Option } from "commander";
import type { TSchema } from "@sinclair/typebox";
import { printJson } from "../../json.ts";
import { type Io } from "../../../cli/io.ts";
import { json } from "../../json.ts";
import type { Column } from "../../table.ts";
import { cut } from "../../table.ts";
import { printable } from "../../../cli/terminal/text.ts";
import { parseInt64 } from "../../../domain/int64.ts";
import {
  isPetName,
  isPetStatus,
  type NewPet,
  type Pet,
  type PetField,
  petFieldNames,
  type PetFieldName,
  petFields,
  petNameLengthMax,
  petStatuses,
  type PetStatus,
  plainPet,
} from "../../../domain/pet.ts";
import type { CategoryReference } from "../categories.ts";
import type { PetPatch } from "../changes.ts";

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

export const statusArgument = (description: string) =>
  new Argument("<status>", description).choices(statusChoices).argParser(parseStatusWord);

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

interface ShownField {
  /** What it is, behind "its" or "new". */
  readonly about: string;
  readonly option: (description: string) => Option;
  /** The value of the option that takes it away. */
  readonly none?: string;
  readonly json: TSchema;
  readonly columns: readonly (string | Column)[];
  readonly cells: (pet: Pet, categories: ReadonlyMap<bigint, string>) => readonly string[];
}

/** One entry for each field; what is missing here does not compile. */
export const shownFields = {
  name: {
    about: "name, any text",
    option: nameOption,
    json: json.text("name"),
    columns: [{ title: "NAME", flexible: true }],
    cells: ({ name }) => [name],
  },
  categoryId: {
    about: "category, by name or id",
    option: categoryOption,
    json: json.int64("id of its category, an int64"),
    columns: [
      { title: "CATEGORY", align: "right" },
      { title: "", flexible: true },
    ],
    cells: ({ categoryId }, categories) => [String(categoryId), categories.get(categoryId) ?? ""],
  },
  status: {
    about: "status",
    option: statusOption,
    none,
    json: json.optional(json.oneOf(petStatuses, "status; absent when it has none")),
    columns: ["STATUS"],
    cells: ({ status = "-" }) => [status],
  },
} as const satisfies Readonly<Record<PetFieldName, ShownField>>;

/** The schemas of the fields in `--json`. */
export const fieldSchemas = Object.fromEntries(
  petFieldNames.map((name) => [name, shownFields[name].json]),
) as { readonly [N in PetFieldName]: (typeof shownFields)[N]["json"] };

export const petSchema = json.object({
  id: json.int64("id of the animal, an int64"),
  ...fieldSchemas,
});
export const petListSchema = json.list(petSchema);

/** The fields that a command was given; the category, which may be a name, is apart. */
export type FieldOptions = {
  readonly [N in Exclude<PetFieldName, "categoryId">]?: string;
} & {
  readonly category?: string;
  readonly createCategory?: true;
};

/** An option for each field, described behind `word`. A new animal must have some of them. */
export function fieldOptions(word: "its" | "new"): Option[] {
  return petFieldNames.flatMap((name) => {
    const { about, option } = shownFields[name];
    const { isOptional }: PetField = petFields[name];
    const own = option(`${word} ${about}`).makeOptionMandatory(word === "its" && !isOptional);
    const create = new Option("--create-category", "create the category if it does not exist");
    return name === "categoryId" ? [own, create] : [own];
  });
}

/** The fields among the options, without the category. */
export function fieldsOf(options: FieldOptions): Omit<PetPatch, "categoryId"> {
  const given: Readonly<Record<string, unknown>> = options;
  const fields = petFieldNames.flatMap((name) => {
    const { none: absent }: ShownField = shownFields[name];
    const value = given[name];
    return value === undefined ? [] : [[name, value === absent ? null : value] as const];
  });
  return Object.fromEntries(fields);
}

/** The fields of a new animal among the options: to have none of something is to leave it out. */
export function newFieldsOf(options: FieldOptions): Omit<NewPet, "categoryId"> {
  const given: Readonly<Record<string, unknown>> = Object.fromEntries(
    Object.entries(fieldsOf(options)).filter(([, value]) => value !== null),
  );
  return given as Omit<NewPet, "categoryId">;
}

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
