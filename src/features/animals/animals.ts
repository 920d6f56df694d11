import { desc, inArray } from "drizzle-orm";
import { AppError } from "../../domain/errors.ts";
import { type NewPet, type Pet } from "../../domain/pet.ts";
import type { Tx } from "../../storage/database.ts";
import { petOfRow } from "../../storage/pet-row.ts";
import { type CategoryReference, resolveCategory } from "./categories.ts";
import { type Editing, makeChange, type PetPatch, type PetRow, stateOf } from "./changes.ts";
import { petOrRemoved } from "./history.ts";

/*
 * Work on animals. Every change is one transaction, all or nothing, with one event per animal.
 * Throws AppError `not_found` when an animal does not exist, and then changes nothing.
 */

export async function addAnimal(
  editing: Editing,
  { category, ...fields }: Omit<NewPet, "categoryId"> & { readonly category: CategoryReference },
): Promise<Pet> {
  return makeChange(editing, "add", async (change) => {
    const categoryId = await resolveCategory(change.tx, category, change);
    await change.add([{ ...fields, categoryId }]);
    const { pets } = change.tx.t;
    const newest = change.tx.select().from(pets).orderBy(desc(pets.id)).limit(1);
    const [added] = (await newest) as [PetRow];
    change.summary = { name: added.name, id: added.id };
    return petOfRow(added);
  });
}

/** Sets what `patch` has; what it lacks stays. */
export async function updateAnimals(
  editing: Editing,
  ids: readonly bigint[],
  patch: Omit<PetPatch, "categoryId"> & { readonly category?: CategoryReference | undefined },
): Promise<Pet[]> {
  return makeChange(editing, "update", async (change) => {
    const { tx } = change;
    const rows = await rowsWith(tx, ids);
    const { category, ...fields } = patch;
    const categoryId = category && (await resolveCategory(tx, category, change));
    change.summary = { set: { ...fields, categoryId } };
    return (await change.planUpdate(rows, { ...fields, categoryId })).map(petOfRow);
  });
}

/** Removes animals. Returns them as they were, in the order of `ids`. */
export async function removeAnimals(editing: Editing, ids: readonly bigint[]): Promise<Pet[]> {
  return makeChange(editing, "remove", async (change) => {
    const rows = await rowsWith(change.tx, ids);
    await change.planRemoval(rows);
    return rows.map(petOfRow);
  });
}

/**
 * Makes one animal of two entries of it: `into` stays, and gets what it lacks of the other, which
 * goes. It gets its id in a list too, so that the next import of the list finds it.
 */
export async function mergeAnimals(editing: Editing, from: bigint, into: bigint): Promise<Pet> {
  return makeChange(editing, "merge", async (change) => {
    const [stays, other] = (await rowsWith(change.tx, [into, from])) as [PetRow, PetRow];
    if (from === into) {
      throw new AppError("invalid_request", `Name another animal to merge with ${into}.`);
    }
    if (stays.externalId !== null && other.externalId !== null) {
      const message = `The animals ${into} and ${from} both come from a list, as ${stays.externalId} and ${other.externalId}.`;
      const hint = "The next import of the list would bring the other one back.";
      throw new AppError("invalid_request", message, { hint, code: "bothListed" });
    }
    const { externalId, source } = other.externalId === null ? stays : other;
    const status = stays.status ?? other.status;
    await change.planRemoval([other]);
    change.summary = { name: stays.name };
    const [merged] = await change.planUpdate([stays], { status, externalId, source });
    return petOfRow(merged ?? stays);
  });
}

export async function restoreAnimal(editing: Editing, id: bigint): Promise<Pet> {
  return makeChange(editing, "restore", async (change) => {
    const { row, isRemoved } = await petOrRemoved(change.tx, id);
    if (!isRemoved) {
      throw new AppError("invalid_request", `The animal ${id} is there; it was not removed.`);
    }
    await change.plan([{ petId: id, before: null, after: stateOf(row) }]);
    if ((await change.dropTaken()) > 0) {
      const message = `Another animal now has the external id of ${id}, ${JSON.stringify(row.externalId)}.`;
      throw new AppError("invalid_request", message, { hint: "Remove that one first." });
    }
    return petOfRow(row);
  });
}

async function rowsWith(tx: Tx, ids: readonly bigint[]): Promise<PetRow[]> {
  const { pets } = tx.t;
  const rows = await tx.select().from(pets).where(inArray(pets.id, ids));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const missing = ids.filter((id) => !byId.has(id));
  if (missing.length > 0) throw noSuchAnimal(missing);
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** The error for ids that no animal has now: it may have been removed. */
export function noSuchAnimal(ids: readonly bigint[]): AppError {
  const which = ids.length > 1 ? "are no animals with the ids" : "is no animal with the id";
  const hint = `rehome pets list, or rehome pets history ${ids[0]} if it was removed`;
  return new AppError("not_found", `There ${which} ${ids.join(", ")}.`, { hint });
}
