/** Animals as rows: what both databases read of them, and write. */
import { type Pet, petFieldNames, type PetFieldName } from "../domain/pet.ts";
import type { AddedPet } from "./contract.ts";

/** A row with the fields of an animal by their names: what is absent is null. */
export type PetRow = { readonly id: bigint } & { readonly [N in PetFieldName]: Pet[N] | null };

export const responseFields = ["id", ...petFieldNames] as const;

/** What a create through the interface writes of an animal. */
export const createdFields = [...petFieldNames, "createdAtMs", "createdBy"] as const;

/** The values of `createdFields`. A list of them costs less to send to a thread than an object. */
export type CreatedRow = readonly (string | bigint | number | null)[];

export function createdRow(pet: AddedPet): CreatedRow {
  return createdFields.map((name) => pet[name] ?? null);
}

/** The animal in a row, which may have other columns too: what is absent is absent, not null. */
export function petOfRow(row: PetRow): Pet {
  const pet: Record<string, unknown> = { id: row.id };
  for (const name of petFieldNames) {
    const value = row[name];
    if (value !== null) pet[name] = value;
  }
  return pet as Pet;
}
