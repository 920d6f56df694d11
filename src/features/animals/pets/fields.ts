/** The fields of an animal as the command line takes and shows them. */
import type { Command, Option } from "commander";
import type { TSchema } from "@sinclair/typebox";
import { json } from "../../../cli/json.ts";
import type { Column } from "../../../cli/terminal/table.ts";
import {
  type NewPet,
  type Pet,
  type PetField,
  petFieldNames,
  type PetFieldName,
  petFields,
  petStatuses,
} from "../../../domain/pet.ts";
import { categoryOption, createCategoryOption, nameOption, none, statusOption } from "./options.ts";
import type { PetPatch } from "../statements/changes.ts";

interface ShownField {
  /** What it is, behind "its" or "new". */
  readonly about: string;
  readonly option: (description: string) => Option;
  /** The value of the option that takes it away. Commander makes an empty text of null. */
  readonly none?: string;
  /** How `--json` shows it. */
  readonly json: TSchema;
  readonly columns: readonly (string | Column)[];
  /** A cell for each column. */
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

/** The fields that a command was given; the category, which may be a name, is apart. */
export type FieldOptions = {
  readonly [N in Exclude<PetFieldName, "categoryId">]?: string;
} & {
  readonly category?: string;
  readonly createCategory?: true;
};

/**
 * Gives `command` an option for each field, described behind `word`. With `isNew` those that an
 * animal must have are mandatory.
 */
export function addFieldOptions(command: Command, word: string, isNew: boolean): Command {
  for (const name of petFieldNames) {
    const { about, option } = shownFields[name];
    const { isOptional }: PetField = petFields[name];
    const isMandatory = isNew && isOptional !== true;
    command.addOption(option(`${word} ${about}`).makeOptionMandatory(isMandatory));
    if (name === "categoryId") command.addOption(createCategoryOption());
  }
  return command;
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
