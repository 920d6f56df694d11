import { asc, eq } from "drizzle-orm";
import { AppError } from "../../domain/errors.ts";
import { columnsOf, type Database, type Tx } from "../../storage/database.ts";
import { petOfRow } from "../../storage/pet-row.ts";
import type { ChangeRow, PetRow, StoredState } from "./changes.ts";

interface StoredEvent {
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly change: bigint;
  readonly before: StoredState | undefined;
  readonly after: StoredState | undefined;
}

/** A value of an animal's field, as a history has it; an int64 that is no double is a bigint. */
export type FieldValue = string | number | bigint | null;

/** A field that an event changed. A value that it had not, or has not, is null. */
export interface FieldChange {
  readonly field: string;
  readonly before: FieldValue;
  readonly after: FieldValue;
}

export interface HistoryEvent extends StoredEvent {
  /** Undefined where the animal stayed. Only an import withdraws. */
  readonly did: "withdrawn" | "removed" | "restored" | undefined;
  /** What is not as before; in one that came back, as it was when it was taken away. */
  readonly changed: readonly FieldChange[];
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
    return { pet: petOfRow(row), isRemoved, created, events: eventsOf(await storedEvents(tx, id)) };
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

async function storedEvents(tx: Tx, id: bigint): Promise<StoredEvent[]> {
  const { changes, petEvents } = tx.t;
  const { before, after } = columnsOf(petEvents);
  const { atMs, actor, action } = changes;
  const found = await tx
    .select({ before, after, atMs, actor, action, change: changes.id })
    .from(petEvents)
    .innerJoin(changes, eq(changes.id, petEvents.changeId))
    .where(eq(petEvents.petId, id))
    .orderBy(asc(petEvents.changeId));
  return found.map(({ before, after: stored, ...event }) => {
    // The former state of one that came back as another is for an undo.
    const { former: _former, ...after } = stored ?? {};
    return { ...event, before: before ?? undefined, after: stored === null ? undefined : after };
  });
}

/** The events of one animal, oldest first, with what each of them did. */
export function eventsOf(events: readonly StoredEvent[]): HistoryEvent[] {
  let known: StoredState | undefined;
  return events.map((event) => {
    const { action, after } = event;
    const before = event.before ?? known;
    known = after ?? before;
    const came = event.before === undefined ? "restored" : undefined;
    const went = action === "import" ? "withdrawn" : "removed";
    return {
      ...event,
      did: after === undefined ? went : came,
      changed: differences(before, after),
    };
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
