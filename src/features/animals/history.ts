import { asc, eq } from "drizzle-orm";
import { AppError } from "../../domain/errors.ts";
import { columnsOf, type Database, type Tx } from "../../storage/database.ts";
import { petOfRow } from "../../storage/pet-row.ts";
import type { ChangeRow, PetRow, StoredState } from "./changes.ts";

/** A value of an animal's field, as a history has it; an int64 that is no double is a bigint. */
export type FieldValue = string | number | bigint | null;

/** A field that an event changed. A value that it had not, or has not, is null. */
export interface FieldChange {
  readonly field: string;
  readonly before: FieldValue;
  readonly after: FieldValue;
}

/** One animal, removed ones included, and whether it is. Throws `not_found` if there never was one. */
export async function petOrRemoved(
  tx: Tx,
  id: bigint,
): Promise<{ readonly row: PetRow; readonly isRemoved: boolean }> {
  const { pets, removedPets } = tx.t;
  const [row] = await tx.select().from(pets).where(eq(pets.id, id));
  if (row !== undefined) return { row, isRemoved: false };
  const [removed] = await tx.select().from(removedPets).where(eq(removedPets.id, id));
  if (removed !== undefined) return { row: removed, isRemoved: true };
  throw new AppError("not_found", `There is no animal with the id ${id}.`, {
    hint: "rehome pets list shows the animals. Removed ones are stored for at least 90 days.",
  });
}

export type AnimalHistory = Awaited<ReturnType<typeof historyOf>>;
export type HistoryEvent = AnimalHistory["events"][number];

/** Everything that is known of an animal's past. Throws AppError `not_found`. */
export const historyOf = (db: Database, id: bigint) =>
  db.read(async (tx) => {
    const { row, isRemoved } = await petOrRemoved(tx, id);
    const cause = row.createdIn === null ? undefined : await changeById(tx, row.createdIn);
    // Version 1.0.0 recorded none of it, and what is older than 90 days has no change any more.
    const created = {
      atMs: row.createdAtMs ?? undefined,
      by: row.createdBy === null ? cause?.actor : await keyNamed(tx, row.createdBy),
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

async function keyNamed(tx: Tx, id: string): Promise<string> {
  const { apiKeys } = tx.t;
  const [key] = await tx.select({ name: apiKeys.name }).from(apiKeys).where(eq(apiKeys.id, id));
  return `key ${key?.name ?? id}`;
}

/** Undefined where the animal stayed. Only an import withdraws. */
type Fate = "withdrawn" | "removed" | "restored" | undefined;

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
  let known: StoredState | undefined;
  return found.map(({ before: was, after: is, ...event }) => {
    // The former state of one that came back as another is for an undo.
    const { former: _former, ...state } = is ?? {};
    const before = was ?? undefined;
    const after = is === null ? undefined : state;
    // One that came back is compared with what it was when it was taken away.
    const changed = differences(before ?? known, after);
    known = after ?? before ?? known;
    const went: Fate = event.action === "import" ? "withdrawn" : "removed";
    const came: Fate = before === undefined ? "restored" : undefined;
    const did: Fate = after === undefined ? went : came;
    return { ...event, before, after, did, changed };
  });
}

export function differences(
  before: StoredState | undefined,
  after: StoredState | undefined,
): FieldChange[] {
  if (before === undefined || after === undefined) return [];
  const value = (state: StoredState, field: string) => (state[field] ?? null) as FieldValue;
  return Object.keys(after)
    .map((field) => ({ field, before: value(before, field), after: value(after, field) }))
    .filter((change) => change.before !== change.after);
}
