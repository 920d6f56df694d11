/**
 * The shapes of requests. Each field documents itself, reads its value once, and has its rule for
 * messages. The rules are the domain's. Elysia runs the shapes through Standard Schema
 * (standardschema.dev).
 */
import type { OpenAPIV3 } from "openapi-types";
import type { ErrorKind } from "../domain/errors.ts";
import { grouped, parseInt64 } from "../domain/int64.ts";
import { pageLimit, parsePageLimit } from "../domain/page.ts";
import {
  isPetName,
  petNameProblem,
  isPetStatus,
  type NewPet,
  type PetFieldName,
  petNameLengthMax,
  petStatuses,
  type PetStatus,
} from "../domain/pet.ts";
import type { Refusal } from "../service/admission.ts";
import type { Read } from "./body.ts";
import { refusal, statusOf, type ErrorBody } from "./errors.ts";

type JsonSchema = OpenAPIV3.SchemaObject;

interface Field<T> {
  /** What the document says of it. */
  readonly schema: JsonSchema;
  /** What it must be, as the end of a sentence that begins with its name. */
  readonly rule: string;
  /** The value, or undefined if it breaks the rule. */
  readonly read: (value: unknown) => T | undefined;
  /** What is wrong with a value, where that says more than the rule. */
  readonly problem?: (value: unknown) => string | undefined;
  readonly isOptional?: boolean;
}

const optional = <F extends object>(field: F) => ({ ...field, isOptional: true as const });

/** `field` as it is used in one place; what is added is for the document alone. */
export function described<T>(field: Field<T>, description: string, example: unknown): Field<T> {
  return { ...field, schema: { ...field.schema, description, example } };
}

const text =
  <T>(parse: (value: string) => T | undefined) =>
  (value: unknown) =>
    typeof value === "string" ? parse(value) : undefined;

const int64Schema = { type: "integer", format: "int64" } as const;
const int64Rule = "must be an integer of 64 bits";

/** An int64 in a JSON body, as `parseJson` hands it over. */
export const int64: Field<number | bigint> = {
  schema: int64Schema,
  rule: int64Rule,
  read: (value) =>
    typeof value === "bigint" || Number.isSafeInteger(value)
      ? (value as number | bigint)
      : undefined,
};

/** An int64 in a path or a query, as plain decimal text. */
const int64Text: Field<bigint> = { schema: int64Schema, rule: int64Rule, read: text(parseInt64) };

const pageLimitText: Field<number> = {
  schema: {
    type: "integer",
    format: "int32",
    minimum: pageLimit.min,
    maximum: pageLimit.max,
    default: pageLimit.default,
  },
  rule: `must be an integer from ${pageLimit.min} to ${pageLimit.max}`,
  read: text(parsePageLimit),
};

const petName: Field<string> = {
  schema: { type: "string", maxLength: petNameLengthMax },
  rule: `must be a string of at most ${grouped(petNameLengthMax)} characters`,
  problem: text(petNameProblem),
  read: text((value) => (isPetName(value) ? value : undefined)),
};

const statusRule = `must be one of ${petStatuses.join(", ")}`;

const petStatus: Field<PetStatus> = {
  schema: {
    type: "string",
    enum: [...petStatuses],
    title: "PetStatus",
    description: "Availability of an animal.",
  },
  rule: statusRule,
  problem: (value) => (value === null ? `${statusRule}; leave it out if there is none` : undefined),
  read: (value) => (isPetStatus(value) ? value : undefined),
};

type Fields = Readonly<Record<string, Field<unknown>>>;
type ValueOf<F> = F extends Field<infer T> ? T : never;
type ReadOf<F extends Fields> = {
  readonly [N in keyof F as F[N] extends { isOptional: true } ? N : never]?: ValueOf<F[N]>;
} & {
  readonly [N in keyof F as F[N] extends { isOptional: true } ? never : N]: ValueOf<F[N]>;
};

/** Reads the fields of an object. Unknown fields are ignored, so that newer clients work. */
function reader<F extends Fields>(fields: F) {
  const known = Object.entries(fields);
  return (given: Readonly<Record<string, unknown>>): Read<ReadOf<F>> => {
    const value: Record<string, unknown> = {};
    for (const [name, { isOptional, problem, read, rule }] of known) {
      const sent = given[name];
      if (sent === undefined) {
        if (isOptional === true) continue;
        return invalid(`${name} is required: it ${rule}.`);
      }
      const found = read(sent);
      if (found === undefined) return invalid(`${name} ${problem?.(sent) ?? rule}.`);
      value[name] = found;
    }
    return { value: value as ReadOf<F> };
  };
}

const invalid = (message: string) => ({ refusal: refusal("invalid_request", message) });

export function objectSchema(fields: Fields, more: JsonSchema = {}): JsonSchema {
  const names = Object.keys(fields);
  return {
    type: "object",
    required: names.filter((name) => fields[name]?.isOptional !== true),
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, { schema }]) => [name, schema]),
    ),
    ...more,
  };
}

/** Why Elysia ended a request: what `refusedBy` finds in its error again. */
interface Issue {
  readonly message: string;
  readonly refusal: Refusal;
}

/** A shape as Elysia takes it: JSON Schema for the document, Standard Schema to read a `T`. */
function shape<T>(schema: JsonSchema, read: (value: unknown) => Read<T>) {
  return {
    ...schema,
    "~standard": {
      version: 1 as const,
      vendor: "rehome",
      types: undefined as { readonly input: unknown; readonly output: T } | undefined,
      validate(value: unknown) {
        const result = read(value);
        if ("value" in result) return result;
        const { refusal } = result;
        return { issues: [{ message: refusal.message, refusal }] satisfies Issue[] };
      },
    },
  };
}

export function refusedBy(error: { readonly valueError?: unknown }): Refusal | undefined {
  return (error.valueError as Issue | undefined)?.refusal;
}

export const newPetFields = {
  name: described(
    petName,
    "The animal's name: any well-formed Unicode text without U+0000, kept as it is sent.",
    "Rex",
  ),
  categoryId: described(int64, "Identifier of the category that the animal belongs to.", 1),
  status: optional(petStatus),
} satisfies Readonly<Record<PetFieldName, Field<unknown>>>;
export const readNewPet = reader(newPetFields);

export const newPetSchema = objectSchema(newPetFields, {
  title: "NewPet",
  description: "An animal to add. Other fields are ignored.",
});

/** A NewPet as a client in JavaScript sends it. */
type NewPetBody = Omit<NewPet, "categoryId"> & { readonly categoryId: number };
/** A Pet as a client in JavaScript gets it. */
export type PetBody = NewPetBody & { readonly id: number };

/** The body for clients' types (Eden) alone: the route reads it, after the guard. */
export const newPetBody = typed<NewPetBody>();

const listFields = {
  limit: optional(
    described(pageLimitText, "The maximum number of animals to return.", pageLimit.default),
  ),
  status: optional(
    described(
      petStatus,
      "Only animals with this status. By default, animals with any status.",
      "available",
    ),
  ),
  after: optional(
    described(
      int64Text,
      "Only animals with an id greater than this: the last id of the previous page. The URL in the `Link` header of that page contains it.",
      0,
    ),
  ),
};
const readList = reader(listFields);

/** The query of a list. A parameter that comes twice, or with a comma, is an array. */
export const listQuery = shape(objectSchema(listFields), (value) => {
  const query = value as Readonly<Record<string, unknown>>;
  const name = Object.keys(listFields).find((each) => Array.isArray(query[each]));
  if (name !== undefined) return invalid(`${name} may be given only once, with one value.`);
  return readList(query);
});

/** The path of one animal. An invalid id becomes 0, which no animal has. */
export const petPath = shape(
  objectSchema({ petId: described(int64Text, "Identifier of the animal.", 1) }),
  (value) => ({ value: { petId: parseInt64((value as { petId: string }).petId) ?? 0n } }),
);

/** What a client gets, for its types (Eden) alone: operations respond with JSON text. */
function typed<T>() {
  return shape<T>({}, (value) => ({ value: value as T }));
}

const errors = typed<ErrorBody>();
const errorResponses = Object.fromEntries(
  Object.values(statusOf).map((status) => [status, errors]),
) as Record<(typeof statusOf)[ErrorKind], typeof errors>;

export function responsesOf<T>() {
  const success = typed<T>();
  return { 200: success, 201: success, ...errorResponses };
}
