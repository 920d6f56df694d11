import { asc, eq } from "drizzle-orm";
import type { Pet } from "../../domain/pet.ts";
import { columnsOf, type Tx } from "../../storage/database.ts";
import { petOfRow } from "../../storage/pet-row.ts";
import type { ChangeRow, PetRow, StoredState } from "./changes.ts";

export interface StoredEvent {
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly change: bigint;
  readonly before: StoredState | undefined;
  readonly after: StoredState | undefined;
  /** In an import's event: the state of a removed animal that it brought back as another. */
  readonly former?: StoredState | undefined;
  /** The change that this one took back. */
  readonly undoes?: bigint | undefined;
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

export interface AnimalHistory {
  /** As it is now, or as it was when it was removed. */
  readonly pet: Pet;
  readonly isRemoved: boolean;
  readonly created: {
    /** Unknown for animals of version 1.0.0. */
    readonly atMs: number | undefined;
    /** A person, an account or `key LABEL`; unknown where it is no longer stored. */
    readonly by: string | undefined;
    /** What it was: `create` through the interface, `add`, `import`. */
    readonly action: string | undefined;
    /** The change that it was a part of; undefined for a create through the interface. */
    readonly change: bigint | undefined;
  };
  readonly events: readonly HistoryEvent[];
}

/** One animal, removed ones included, and whether it is; undefined if there never was one. */
export async function petOrRemoved(
  tx: Tx,
  id: bigint,
): Promise<{ readonly row: PetRow; readonly isRemoved: boolean } | undefined> {
  const { pets, removedPets } = tx.t;
  const [row] = await tx.select().from(pets).where(eq(pets.id, id));
  if (row !== undefined) return { row, isRemoved: false };
  const [removed] = await tx.select().from(removedPets).where(eq(removedPets.id, id));
  return removed && { row: removed, isRemoved: true };
}

/** Everything that is known of an animal's past; undefined if there never was one. */
export async function historyOf(tx: Tx, id: bigint): Promise<AnimalHistory | undefined> {
  const found = await petOrRemoved(tx, id);
  if (found === undefined) return undefined;
  const { row, isRemoved } = found;
  const cause = row.createdIn === null ? undefined : await changeById(tx, row.createdIn);
  const created = {
    atMs: row.createdAtMs ?? undefined,
    by: row.createdBy === null ? cause?.actor : await keyNamed(tx, row.createdBy),
    action: row.createdBy === null ? cause?.action : "create",
    change: cause?.id,
  };
  return { pet: petOfRow(row), isRemoved, created, events: eventsOf(await storedEvents(tx, id)) };
}

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
  const { atMs, actor, action, undoes } = changes;
  const found = await tx
    .select({ before, after, atMs, actor, action, undoes, change: changes.id })
    .from(petEvents)
    .innerJoin(changes, eq(changes.id, petEvents.changeId))
    .where(eq(petEvents.petId, id))
    .orderBy(asc(petEvents.changeId));
  return found.map(({ after: stored, ...event }) => {
    const { former, ...after } = stored ?? {};
    return {
      ...event,
      before: event.before ?? undefined,
      after: stored === null ? undefined : after,
      former: former as StoredState | undefined,
      undoes: event.undoes ?? undefined,
    };
  });
}

/** The events of one animal, oldest first, with what each of them did. */
export function eventsOf(events: readonly StoredEvent[]): HistoryEvent[] {
  let known: StoredState | undefined;
  const earlier = new Map<bigint, StoredState | undefined>();
  return events.map((event) => {
    const { change, after, undoes } = event;
    const before = event.before ?? event.former ?? known;
    earlier.set(change, before);
    // What an undo takes away again is as it was before the change that brought it back.
    known = after ?? (undoes === undefined ? undefined : earlier.get(undoes)) ?? before;
    return { ...event, did: didOf(event), changed: differences(before, after) };
  });
}

function didOf({ action, before, after }: StoredEvent): HistoryEvent["did"] {
  if (after === undefined) return action === "import" ? "withdrawn" : "removed";
  return before === undefined ? "restored" : undefined;
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
