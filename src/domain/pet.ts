import { grouped } from "./int64.ts";

export const petStatuses = ["available", "pending", "sold"] as const;
export type PetStatus = (typeof petStatuses)[number];

export interface PetField {
  readonly kind: "text" | "int64";
  /** The only values that a text takes. */
  readonly values?: readonly string[];
  readonly isOptional?: true;
}

/**
 * The fields of an animal without its id, in display order. Types, JSON, columns, statements and
 * histories derive from here.
 */
export const petFields = {
  name: { kind: "text" },
  categoryId: { kind: "int64" },
  status: { kind: "text", values: petStatuses, isOptional: true },
} as const satisfies Readonly<Record<string, PetField>>;

export type PetFieldName = keyof typeof petFields;
export const petFieldNames = Object.keys(petFields) as readonly PetFieldName[];

export type OptionalName = {
  [N in PetFieldName]: (typeof petFields)[N] extends { isOptional: true } ? N : never;
}[PetFieldName];
export type PetValue<N extends PetFieldName> = (typeof petFields)[N] extends {
  values: readonly (infer V)[];
}
  ? V
  : (typeof petFields)[N] extends { kind: "int64" }
    ? bigint
    : string;

/** An animal as it is added. Without a status none is stored and none is shown. */
export type NewPet = {
  readonly [N in Exclude<PetFieldName, OptionalName>]: PetValue<N>;
} & { readonly [N in OptionalName]?: PetValue<N> | undefined };

/** A stored animal. The store gives the ids 1, 2, 3, ... and never reuses one. */
export type Pet = { readonly id: bigint } & NewPet;

/** An animal as JSON text: a Pet of the specification. */
export function petJson(pet: Pet): string {
  return JSON.stringify(plainPet(pet));
}

export function petsJson(pets: readonly Pet[]): string {
  return JSON.stringify(pets.map(plainPet));
}

/** The animal as JSON.stringify takes it, its fields in their order. */
export function plainPet(pet: Pet): Record<string, unknown> {
  const plain: Record<string, unknown> = { id: plainNumber(pet.id) };
  for (const name of petFieldNames) {
    const value = pet[name];
    plain[name] = typeof value === "bigint" ? plainNumber(value) : value;
  }
  return plain;
}

/** The same number with all its digits. JSON.stringify takes four times as long for a bigint. */
function plainNumber(value: bigint): unknown {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(`${value}`);
}

export function isPetStatus(value: unknown): value is PetStatus {
  return petStatuses.includes(value as PetStatus);
}

/** The longest name, in characters (code points). Longer ones that are stored stay readable. */
export const petNameLengthMax = 1_000;

/** True when `value` can be stored exactly as a name. The empty name is valid. */
export function isPetName(value: string): boolean {
  return petNameProblem(value) === undefined;
}

/** Why `value` cannot be stored exactly as a name, as the end of a sentence. */
export function petNameProblem(value: string): string | undefined {
  // A character is one code unit or two, so most lengths are decided without counting.
  const length = value.length <= petNameLengthMax ? 0 : characterCount(value);
  if (length > petNameLengthMax) {
    return `has ${grouped(length)} characters; at most ${grouped(petNameLengthMax)} are allowed`;
  }
  if (!value.isWellFormed()) return "has half of a surrogate pair, which is no valid Unicode";
  // SQLite's text functions stop there.
  return value.includes("\0") ? "has the character U+0000, which is not allowed" : undefined;
}

export function characterCount(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}
