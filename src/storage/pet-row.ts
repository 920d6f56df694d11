/** Animals as rows: what both databases read of them, and write. */
import { type Pet, petFieldNames, type PetStatus } from "../domain/pet.ts";
import type { AddedPet } from "./contract.ts";

/** A row with the fields of an animal by their names: what is absent is null. */
export interface PetRow {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus | null;
}

export const responseFields = ["id", ...petFieldNames] as const;

/** What a create through the interface writes of an animal. */
export const createdFields = [...petFieldNames, "createdAtMs", "createdBy"] as const;

/** The values of `createdFields`. A list of them costs less to send to a thread than an object. */
export type CreatedRow = readonly (string | bigint | number | null)[];

export function createdRow(pet: AddedPet): CreatedRow {
  return createdFields.map((name) => pet[name] ?? null);
}

/** The animal in a row, which may have other columns too: what is absent is absent, not null. */
export function petOfRow({ id, name, categoryId, status }: PetRow): Pet {
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status };
}
