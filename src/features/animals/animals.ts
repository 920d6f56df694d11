import { asc, desc, eq, inArray } from "drizzle-orm";
import { AppError } from "../../domain/errors.ts";
import type { NewPet, Pet } from "../../domain/pet.ts";
import { columnsOf, type Database, type Tx } from "../../storage/database.ts";
import { petOfRow } from "../../storage/pet-row.ts";
import { type CategoryReference, resolveCategory } from "./categories.ts";
import {
  type ChangeRow,
  type Editing,
  eventFields,
  makeChange,
  type PetPatch,
  type PetRow,
  stateOf,
  type StoredState,
} from "./changes.ts";

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
    const { category, ...fields } = patch;
    const categoryId = category && (await resolveCategory(tx, category, change));
    const set = { ...fields, categoryId };
    change.summary = { set };
    await change.planUpdate(inArray(tx.t.pets.id, ids), set);
    await change.carryOut();
    return (await rowsWith(tx, ids)).map(petOfRow);
  });
}

/** Removes animals. Returns them as they were, in the order of `ids`. */
export async function removeAnimals(editing: Editing, ids: readonly bigint[]): Promise<Pet[]> {
  return makeChange(editing, "remove", async (change) => {
    const rows = await rowsWith(change.tx, ids);
    await change.planRemoval(inArray(change.tx.t.pets.id, ids));
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
    const { id: petId } = change.tx.t.pets;
    await change.planRemoval(eq(petId, from));
    await change.planUpdate(eq(petId, into), { status, externalId, source });
    change.summary = { name: stays.name };
    return petOfRow({ ...stays, status });
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

/** These animals, in the order of `ids`. */
export const animalsWith = (db: Database, ids: readonly bigint[]): Promise<Pet[]> =>
  db.read(async (tx) => (await rowsWith(tx, ids)).map(petOfRow));

/** The rows of these animals, in the order of `ids`. */
export async function rowsWith(tx: Tx, ids: readonly bigint[]): Promise<PetRow[]> {
  const { pets } = tx.t;
  const rows = await tx.select().from(pets).where(inArray(pets.id, ids));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const missing = ids.filter((id) => !byId.has(id));
  if (missing.length > 0) {
    const hint = "rehome pets list, or rehome pets history ID for a removed one";
    const message = `There is no animal with the id ${missing.join(" or ")}.`;
    throw new AppError("not_found", message, { hint });
  }
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** A value of an animal's field, as a history has it; an int64 that is no double is a bigint. */
export type FieldValue = string | number | bigint | null;

/** A field that an event changed. A value that it had not, or has not, is null. */
export type FieldChange = ReturnType<typeof differences>[number];

/** One animal, and whether it was removed. Throws `not_found` if there never was one. */
async function petOrRemoved(tx: Tx, id: bigint) {
  const { removedPets } = tx.t;
  const [removed] = await tx.select().from(removedPets).where(eq(removedPets.id, id));
  const [row] = removed === undefined ? await rowsWith(tx, [id]) : [removed];
  return { row: row as PetRow, isRemoved: removed !== undefined };
}

export type HistoryEvent = Awaited<ReturnType<typeof eventsOf>>[number];

/** Everything that is known of an animal's past. Throws AppError `not_found`. */
export const historyOf = (db: Database, id: bigint) =>
  db.read(async (tx) => {
    const { row, isRemoved } = await petOrRemoved(tx, id);
    const cause = row.createdIn === null ? undefined : await changeById(tx, row.createdIn);
    const { apiKeys } = tx.t;
    const isIt = eq(apiKeys.id, row.createdBy ?? "");
    const [key] = await tx.select({ name: apiKeys.name }).from(apiKeys).where(isIt);
    // Version 1.0.0 recorded none of it, and what is older than 90 days has no change any more.
    const created = {
      atMs: row.createdAtMs ?? undefined,
      by: row.createdBy === null ? cause?.actor : `key ${key?.name ?? row.createdBy}`,
      action: row.createdBy === null ? cause?.action : "create",
      change: cause?.id,
    };
    return { pet: petOfRow(row), isRemoved, created, events: await eventsOf(tx, id) };
  });

export async function changeById(tx: Tx, id: bigint): Promise<ChangeRow | undefined> {
  const { changes } = tx.t;
  const [change] = await tx.select(columnsOf(changes)).from(changes).where(eq(changes.id, id));
  return change;
}

/** The events of one animal, oldest first, with what each of them did. */
async function eventsOf(tx: Tx, id: bigint) {
  const { changes, petEvents } = tx.t;
  const { before, after } = columnsOf(petEvents);
  const { atMs, actor, action } = changes;
  const found = await tx
    .select({ before, after, atMs, actor, action, change: changes.id })
    .from(petEvents)
    .innerJoin(changes, eq(changes.id, petEvents.changeId))
    .where(eq(petEvents.petId, id))
    .orderBy(asc(petEvents.changeId));
  let known: StoredState | null = null;
  return found.map(({ before, after, ...event }) => {
    // One that came back is compared with what it was when it was taken away.
    const changed = differences(before ?? known, after);
    known = after ?? before ?? known;
    // Only an import withdraws.
    const went = event.action === "import" ? ("withdrawn" as const) : ("removed" as const);
    const came = before === null ? ("restored" as const) : undefined;
    const did = after === null ? went : came;
    return { ...event, before: plainState(before), after: plainState(after), did, changed };
  });
}

/** What an animal had; the former state of one that came back as another is for an undo. */
function plainState(state: StoredState | null): StoredState | undefined {
  const has = eventFields.filter((field) => (state?.[field] ?? null) !== null);
  return state === null ? undefined : Object.fromEntries(has.map((each) => [each, state[each]]));
}

export function differences(before?: StoredState | null, after?: StoredState | null) {
  if (!before || !after) return [];
  const value = (state: StoredState, field: string) => (state[field] ?? null) as FieldValue;
  return eventFields
    .map((field: string) => ({ field, before: value(before, field), after: value(after, field) }))
    .filter((change) => change.before !== change.after);
}
