import { grouped } from "./int64.ts";

export const petStatuses = ["available", "pending", "sold"] as const;
export type PetStatus = (typeof petStatuses)[number];

/** An animal as it is added. Without a status none is stored and none is shown. */
export interface NewPet {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: PetStatus | undefined;
}

/** A stored animal. The store gives the ids 1, 2, 3, ... and never reuses one. */
export interface Pet extends NewPet {
  readonly id: bigint;
}

/** The fields of an animal without its id, in display order. */
export const petFieldNames = ["name", "categoryId", "status"] as const satisfies (keyof NewPet)[];
export type PetFieldName = (typeof petFieldNames)[number];

export function petJson(pet: Pet): string {
  return JSON.stringify(plainPet(pet));
}

export function petsJson(pets: readonly Pet[]): string {
  return JSON.stringify(pets.map(plainPet));
}

export function plainPet({ id, name, categoryId, status }: Pet): Record<string, unknown> {
  return { id: plainNumber(id), name, categoryId: plainNumber(categoryId), status };
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

export const characterCount = (value: string): number => Array.from(value).length;

export const pageLimit = { min: 1, max: 100, default: 20 } as const;

/** One page of the list: ascending ids above `after`, of one status or of all. */
export interface PageQuery {
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  readonly after?: bigint | undefined;
}

const plainDecimal = /^(?:0|[1-9]\d*)$/;

/** The page limit in `text`, a plain decimal integer; undefined if it is none or out of bounds. */
export function parsePageLimit(text: string): number | undefined {
  if (!plainDecimal.test(text)) return undefined;
  const limit = Number(text);
  return limit >= pageLimit.min && limit <= pageLimit.max ? limit : undefined;
}

export function nextPageQuery(query: PageQuery, lastId: bigint): string {
  const status = query.status === undefined ? "" : `&status=${query.status}`;
  return `limit=${query.limit}${status}&after=${lastId}`;
}
