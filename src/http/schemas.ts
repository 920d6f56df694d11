/**
 * The wire shapes. They check and describe; they never convert, so that "5" stays no integer. Each rule comes from the
 * domain, and each kind knows how to say its rule to a caller. Annotations are what the document says of a field; a
 * `title` is the name under which the document keeps a schema.
 */
import { Kind, Type, TypeRegistry, type TSchema, type TUnsafe } from "@sinclair/typebox";
import type { ErrorKind } from "../domain/errors.ts";
import { parseInt64 } from "../domain/int64.ts";
import { pageLimit, parsePageLimit } from "../domain/page.ts";
import { isPetName, isPetStatus, petStatuses, type PetStatus } from "../domain/pet.ts";
import { statusOf } from "./errors.ts";

const rules = new Map<string, string>();

/** A kind of value: the JSON Schema that describes it, the rule in words, and the check that holds it. */
function kind<T>(
  name: string,
  rule: string,
  schema: Record<string, unknown>,
  check: (value: unknown) => boolean,
): TUnsafe<T> {
  TypeRegistry.Set(name, (_schema, value) => check(value));
  rules.set(name, rule);
  return Type.Unsafe<T>({ ...schema, [Kind]: name });
}

/** What a value of this schema must be, as the end of a sentence that begins with its name. */
export function ruleOf(schema: TSchema): string {
  return rules.get(schema[Kind]) ?? "is not valid";
}

const text = (accepts: (value: string) => boolean) => (value: unknown) =>
  typeof value === "string" && accepts(value);

const int64Schema = { type: "integer", format: "int64" };
const int64Rule = "must be an integer of 64 bits";

/** An int64 in a JSON body, as `parseJson` hands it over. */
const Int64 = kind<number | bigint>(
  "Int64",
  int64Rule,
  int64Schema,
  (value) => typeof value === "bigint" || Number.isSafeInteger(value),
);

/** An int64 in a path or a query, as plain decimal text. */
const Int64Text = kind<string>(
  "Int64Text",
  int64Rule,
  int64Schema,
  text((value) => parseInt64(value) !== undefined),
);

const PageLimitText = kind<string>(
  "PageLimitText",
  `must be an integer from ${pageLimit.min} to ${pageLimit.max}`,
  {
    type: "integer",
    format: "int32",
    minimum: pageLimit.min,
    maximum: pageLimit.max,
    // `default` here would make Elysia put it into the query; the document's finaliser renames this one.
    "x-default": pageLimit.default,
  },
  text((value) => parsePageLimit(value) !== undefined),
);

const PetName = kind<string>(
  "PetName",
  "must be a string of well-formed Unicode without the character U+0000",
  { type: "string" },
  text(isPetName),
);

const PetStatusSchema = kind<PetStatus>(
  "PetStatus",
  `must be one of ${petStatuses.join(", ")}`,
  {
    type: "string",
    enum: [...petStatuses],
    title: "PetStatus",
    description: "Availability of an animal.",
  },
  isPetStatus,
);

/** `schema` as it is used in one place; what is added is for the document alone. */
function described<S extends TSchema>(schema: S, description: string, example?: unknown): S {
  return { ...schema, description, ...(example === undefined ? {} : { example }) };
}

/** Unknown fields and parameters are ignored, so that a client may know more than this version does. */
const open = { additionalProperties: true } as const;

const newPetFields = {
  name: described(
    PetName,
    "The animal's name: any well-formed Unicode text without U+0000, kept as it is sent.",
    "Rex",
  ),
  categoryId: described(Int64, "Identifier of the category that the animal belongs to.", 1),
  status: Type.Optional(PetStatusSchema),
};

export const NewPetSchema = Type.Object(newPetFields, {
  ...open,
  title: "NewPet",
  description: "An animal to be added. Fields beyond these are ignored.",
});

export const ListQuery = Type.Object(
  {
    limit: Type.Optional(described(PageLimitText, "The most animals to be returned.")),
    status: Type.Optional(
      described(PetStatusSchema, "Only animals of this status. Without it, animals of all."),
    ),
    after: Type.Optional(
      described(
        Int64Text,
        "Only animals whose id is greater than this one. The `Link` header of a page sets it; use that instead of writing it yourself.",
      ),
    ),
  },
  open,
);

export const PetPath = Type.Object({
  petId: described(Int64Text, "Identifier of the animal.", 1),
});

/** An animal as it is returned. Answers are written from the store as they are, so this one only describes. */
const PetSchema = Type.Object(
  {
    id: described(Int64, "Assigned by the service on creation: 1, 2, 3, ... and never reused.", 1),
    ...newPetFields,
  },
  { title: "Pet", description: "An animal. Without a status when it was added without one." },
);

const PetsSchema = Type.Array(PetSchema, {
  title: "Pets",
  description: "Animals in ascending order of their ids.",
  maxItems: pageLimit.max,
});

const ErrorSchema = Type.Object(
  {
    code: Type.Unsafe<ErrorKind>({
      type: "string",
      enum: Object.keys(statusOf),
      description: "Machine-readable error code.",
    }),
    message: Type.String({ description: "What is wrong, in one sentence for a person." }),
    status: Type.Unsafe<number>({
      type: "integer",
      format: "int32",
      minimum: Math.min(...Object.values(statusOf)),
      maximum: Math.max(...Object.values(statusOf)),
      description: "The HTTP status code of the response.",
    }),
  },
  { title: "Error", description: "The body of every refusal and failure." },
);

/** The schemas that the document names, each by its title. */
export const namedSchemas = [PetSchema, NewPetSchema, PetStatusSchema, PetsSchema, ErrorSchema];
