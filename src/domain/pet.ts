/** The values that the status of an animal takes, exactly. */
export const petStatuses = ["available", "pending", "sold"] as const;
export type PetStatus = (typeof petStatuses)[number];

/** An animal as it is added. Without a status none is stored and none is shown. */
export interface NewPet {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: PetStatus | undefined;
}

/** An animal as it is kept. Ids are given by the store: 1, 2, 3, ... and never again once used. */
export interface Pet extends NewPet {
  readonly id: bigint;
}

/**
 * An animal as JSON text: a Pet of the specification. `more` are further fields as they follow in the text, each behind a
 * comma. Written by hand, because a bigint costs JSON.stringify more than all the rest of the animal.
 */
export function petJson({ id, name, categoryId, status }: Pet, more = ""): string {
  const shown = status === undefined ? "" : `,"status":"${status}"`;
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${shown}${more}}`;
}

/** Everyday words for a status, as people at a front desk say them. */
const statusWords: Readonly<Record<string, PetStatus>> = {
  adoptable: "available",
  reserved: "pending",
  "on hold": "pending",
  adopted: "sold",
};

/** The status that a person means: its name or an everyday word, in any case. Null for `none`, undefined for anything else. */
export function parseStatus(text: string): PetStatus | null | undefined {
  const word = text.trim().toLowerCase();
  if (word === "none") return null;
  return isPetStatus(word) ? word : statusWords[word];
}

/** True when `value` is one of the allowed statuses. */
export function isPetStatus(value: unknown): value is PetStatus {
  return petStatuses.includes(value as PetStatus);
}

/**
 * True when `value` can be kept byte for byte as a name: well-formed Unicode without NUL (SQLite's text functions and
 * its shell stop at NUL). The specification sets no length, so the empty name is one too.
 */
export function isPetName(value: string): boolean {
  return value.isWellFormed() && !value.includes("\0");
}
