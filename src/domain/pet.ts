/** The values that the status of an animal takes, exactly. */
export const petStatuses = ["available", "pending", "sold"] as const;
export type PetStatus = (typeof petStatuses)[number];

/** What a field of an animal holds. */
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
/** The value of a field, where there is one. */
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

/** Animals as JSON text: an array of Pet. */
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

/** True when `value` is one of the allowed statuses. */
export function isPetStatus(value: unknown): value is PetStatus {
  return petStatuses.includes(value as PetStatus);
}

/** The longest name, in characters (code points). Longer ones that are stored stay readable. */
export const petNameLengthMax = 1_000;

/**
 * True when `value` can be stored exactly as a name: well-formed Unicode without NUL, of at most
 * `petNameLengthMax` characters. SQLite's text functions stop at NUL. The empty name is valid.
 */
export function isPetName(value: string): boolean {
  return value.isWellFormed() && !value.includes("\0") && isShort(value);
}

function isShort(value: string): boolean {
  // A character is one code unit or two, so most lengths are decided without counting.
  if (value.length <= petNameLengthMax) return true;
  return value.length <= 2 * petNameLengthMax && characterCount(value) <= petNameLengthMax;
}

/** The length of `value` in characters (code points). */
export function characterCount(value: string): number {
  return Array.from(value).length;
}
