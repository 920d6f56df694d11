/**
 * The schemas of requests and responses: TypeBox, with kinds of our own, whose rules are the
 * domain's. The document shows the same schemas.
 */
import { Kind, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";
import { t, type ValidationError } from "elysia";
import { grouped, parseInt64 } from "../domain/int64.ts";
import {
  pageLimit,
  parsePageLimit,
  isPetName,
  isPetStatus,
  petNameLengthMax,
  petNameProblem,
  type PetFieldName,
  petStatuses,
  type PetStatus,
} from "../domain/pet.ts";
import type { Refusal } from "../service/admission.ts";
import { refusal, statusOf } from "./errors.ts";

interface Rule {
  readonly isValid: (value: unknown) => boolean;
  /** What a value must be, as the end of a sentence that begins with its name. */
  readonly rule: string;
  /** What is wrong with a value, where that says more than the rule. */
  readonly problem?: (value: unknown) => string | undefined;
}

const rules = new Map<unknown, Rule>();

/** A kind of schema with a rule of its own. `schema` is what the document says of it. */
function kind<T>(name: string, schema: object, rule: Rule) {
  rules.set(name, rule);
  TypeRegistry.Set(name, (_schema, value) => rule.isValid(value));
  // Without an `error`, Elysia writes the whole value into the message of its own.
  return (description: string, more: object = {}) =>
    Type.Unsafe<T>({ [Kind]: name, ...schema, description, ...more, error: () => rule.rule });
}

export function refusedBy({ valueError }: ValidationError): Refusal {
  const { path = "", schema, value } = valueError ?? {};
  const name = path.slice(1);
  const { problem, rule = "is not valid" } = rules.get(schema?.[Kind]) ?? {};
  return value === undefined
    ? refusal("invalid_request", `${name} is required: it ${rule}.`)
    : refusal("invalid_request", `${name} ${problem?.(value) ?? rule}.`);
}

const text =
  <T>(work: (value: string) => T) =>
  (value: unknown) =>
    typeof value === "string" ? work(value) : undefined;

const integer = { type: "integer", format: "int64" };
const int64Rule = "must be an integer of 64 bits";

/** An int64 as `parseJson` hands it over: a bigint beyond the safe integers. */
const int64 = kind<number>("Int64", integer, {
  isValid: (value) => typeof value === "bigint" || Number.isSafeInteger(value),
  rule: int64Rule,
});

/** An int64 in a query, as plain decimal text. */
const int64Text = kind<string | number>("Int64Text", integer, {
  isValid: (value) => text(parseInt64)(value) !== undefined,
  rule: int64Rule,
});

/** The id in a path. No text is a bad request: what is no id is no animal's. */
const petId = kind<string>("PetId", integer, { isValid: () => true, rule: int64Rule });

const limit = kind<string | number>(
  "PageLimit",
  {
    type: "integer",
    format: "int32",
    minimum: pageLimit.min,
    maximum: pageLimit.max,
    default: pageLimit.default,
  },
  {
    // Elysia fills in the default as a number.
    isValid: (value) => value === pageLimit.default || text(parsePageLimit)(value) !== undefined,
    rule: `must be an integer from ${pageLimit.min} to ${pageLimit.max}`,
  },
);

const petName = kind<string>(
  "PetName",
  { type: "string", maxLength: petNameLengthMax },
  {
    isValid: (value) => text(isPetName)(value) === true,
    rule: `must be a string of at most ${grouped(petNameLengthMax)} characters`,
    problem: text(petNameProblem),
  },
);

const statusRule = `must be one of ${petStatuses.join(", ")}`;
const status = kind<PetStatus>(
  "PetStatus",
  { type: "string", enum: petStatuses },
  {
    isValid: isPetStatus,
    rule: statusRule,
    problem: (value) =>
      value === null ? `${statusRule}; leave it out if there is none` : undefined,
  },
);

const petStatus = status("Availability of an animal.", { title: "PetStatus" });
const newPetFields = {
  name: petName(
    "The animal's name: any well-formed Unicode text without U+0000, kept as it is sent.",
    { example: "Rex" },
  ),
  categoryId: int64(
    "Identifier of the category that the animal belongs to. The operator of the service knows the numbers; no operation lists them.",
    { example: 1 },
  ),
  status: t.Optional(petStatus),
} satisfies Readonly<Record<PetFieldName, TSchema>>;

export const newPet = t.Object(newPetFields, {
  title: "NewPet",
  description: "An animal to add. Other fields are ignored.",
  example: { name: "Rex", categoryId: 1, status: "available" },
});

const pet = t.Object(
  {
    id: int64("Assigned by the service on creation: 1, 2, 3, ... and never reused.", {
      example: 1,
    }),
    ...newPetFields,
  },
  { title: "Pet", description: "An animal. The status is absent if it was added without one." },
);

const pets = t.Array(pet, {
  title: "Pets",
  description: "Animals in ascending order of their ids.",
  maxItems: pageLimit.max,
});

const codes = Object.keys(statusOf);
const error = t.Object(
  {
    code: Type.String({ enum: codes, description: "Machine-readable error code." }),
    message: Type.String({
      description: "What is wrong, in one sentence for humans.",
      maxLength: 1_000,
    }),
    status: Type.Integer({
      format: "int32",
      minimum: Math.min(...Object.values(statusOf)),
      maximum: Math.max(...Object.values(statusOf)),
      description: "The HTTP status code of the response.",
    }),
  },
  { title: "Error", description: "The body of every error." },
);

export const models = { Pet: pet, NewPet: newPet, PetStatus: petStatus, Pets: pets, Error: error };

export const listQuery = t.Object({
  limit: t.Optional(limit("The maximum number of animals to return.", { example: 20 })),
  status: t.Optional(
    status("Only animals with this status. By default, animals with any status.", {
      title: "PetStatus",
      example: "available",
    }),
  ),
  after: t.Optional(
    int64Text(
      "Only animals with an id greater than this: the last id of the previous page. The URL in the `Link` header of that page contains it.",
      { example: 0 },
    ),
  ),
});

const listParameters = Object.keys(listQuery.properties);

/** Refuses a parameter that is given twice: of these `query` has the last one. */
export function refuseRepeated(url: string, query: object): Refusal | undefined {
  const start = url.indexOf("?");
  if (start === -1) return undefined;
  const text = url.slice(start);
  const isPlain = text.split("&").length === Object.keys(query).length && !/,|%2c/i.test(text);
  if (isPlain) return undefined;
  const given = new URLSearchParams(text);
  const name = listParameters.find((each) => {
    const values = given.getAll(each);
    return values.length > 1 || values[0]?.includes(",");
  });
  return name === undefined
    ? undefined
    : refusal("invalid_request", `${name} may be given only once, with one value.`);
}

export const petPath = t.Object({ petId: petId("Identifier of the animal.", { example: 1 }) });
