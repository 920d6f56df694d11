/** Animals as rows of both databases give them. */
import { type Pet, petFieldNames, type PetFieldName } from "../domain/pet.ts";

/** A row with the fields of an animal by their names: what is absent is null. */
export type PetRow = { readonly id: bigint } & { readonly [N in PetFieldName]: Pet[N] | null };

/** The fields of an answer. */
export const answerFields = ["id", ...petFieldNames] as const;

/** The animal in a row, which may have other columns too: what is absent is absent, not null. */
export function petOfRow(row: PetRow): Pet {
  const pet: Record<string, unknown> = { id: row.id };
  for (const name of petFieldNames) {
    const value = row[name];
    if (value !== null) pet[name] = value;
  }
  return pet as Pet;
}
