/**
 * The wire shapes. They check and describe; they never convert, so that "5" stays no integer. Each rule comes from the
 * domain, and each kind knows how to say its rule to a caller.
 */
import { Kind, Type, TypeRegistry, type TSchema, type TUnsafe } from "@sinclair/typebox";
import { parseInt64 } from "../domain/int64.ts";
import { pageLimit, parsePageLimit } from "../domain/page.ts";
import { isPetName, isPetStatus, petStatuses, type PetStatus } from "../domain/pet.ts";

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
export const Int64 = kind<number | bigint>(
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
  // `default` here would make Elysia put it into the query; the document's finaliser writes it.
  { type: "integer", format: "int32", minimum: pageLimit.min, maximum: pageLimit.max },
  text((value) => parsePageLimit(value) !== undefined),
);

const PetName = kind<string>(
  "PetName",
  "must be a string of well-formed Unicode without the character U+0000",
  { type: "string" },
  text(isPetName),
);

export const PetStatusSchema = kind<PetStatus>(
  "PetStatus",
  `must be one of ${petStatuses.join(", ")}`,
  { type: "string", enum: [...petStatuses] },
  isPetStatus,
);

/** Unknown fields and parameters are ignored, so that a client may know more than this version does. */
const open = { additionalProperties: true } as const;

export const NewPetSchema = Type.Object(
  { name: PetName, categoryId: Int64, status: Type.Optional(PetStatusSchema) },
  open,
);

export const ListQuery = Type.Object(
  {
    limit: Type.Optional(PageLimitText),
    status: Type.Optional(PetStatusSchema),
    after: Type.Optional(Int64Text),
  },
  open,
);

export const PetPath = Type.Object({ petId: Int64Text });
