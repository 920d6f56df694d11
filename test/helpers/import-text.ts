import { runImport } from "../../src/features/import/import.ts";
import type { ImportOptions } from "../../src/features/import/plan/plan.ts";
import { type Given, prepare } from "../../src/features/import/understand/propose.ts";
import type { Store } from "../../src/storage/contract.ts";
import { changePets, type Database } from "../../src/storage/database.ts";

/** Imports a text with new categories, as `rehome pets import` does. */
export async function importText(
  db: Database,
  text: string,
  { given = {}, nowMs = 0, ...options }: ImportOptions & { given?: Given; nowMs?: number } = {},
) {
  const prepared = await prepare(new TextEncoder().encode(text), given);
  const editing = { db, clock: () => nowMs, actor: "tester" };
  return runImport(editing, prepared, { createCategories: true, ...options });
}

/** Empties a store for the next history. */
export const emptied = (store: Store): Promise<void> =>
  store.db.transaction(async (tx) => {
    const { petEvents, changes, pets, removedPets, listEntries, categories } = tx.t;
    const there = await tx.select({ id: pets.id }).from(pets);
    await changePets(tx, "any", async () => {
      for (const table of [petEvents, changes, pets, removedPets, listEntries, categories]) {
        await tx.delete(table);
      }
      return { result: undefined, more: -there.length };
    });
  });
