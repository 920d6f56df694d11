/** What the events of an animal did to it, for those who tell it in words. */
import type { PetEvent } from "./statements/find.ts";

type Fields = NonNullable<PetEvent["before"]>;

/** A value of an animal's field, as a history keeps it; an int64 that is no double is a bigint. */
export type FieldValue = string | number | bigint | null;

/** A field that an event changed. A value that it had not, or has not, is null. */
interface FieldChange {
  readonly field: string;
  readonly before: FieldValue;
  readonly after: FieldValue;
}

export interface HistoryEvent extends PetEvent {
  /** Undefined where the animal stayed. Only an import withdraws. */
  readonly did: "withdrawn" | "removed" | "restored" | undefined;
  /** What is not as before; in one that came back, as it was when it was taken away. */
  readonly changed: readonly FieldChange[];
}

/** The events of one animal, oldest first, with what each of them did. */
export function eventsOf(events: readonly PetEvent[]): HistoryEvent[] {
  let known: Fields | undefined;
  const earlier = new Map<bigint, Fields | undefined>();
  return events.map((event) => {
    const { change, after, undoes } = event;
    const before = event.before ?? event.former ?? known;
    earlier.set(change, before);
    // What an undo takes away again is as it was before the change that brought it back.
    known = after ?? (undoes === undefined ? undefined : earlier.get(undoes)) ?? before;
    return { ...event, did: didOf(event), changed: differences(before, after) };
  });
}

function didOf({ action, before, after }: PetEvent): HistoryEvent["did"] {
  if (after === undefined) return action === "import" ? "withdrawn" : "removed";
  return before === undefined ? "restored" : undefined;
}

function differences(before: Fields | undefined, after: Fields | undefined): FieldChange[] {
  if (before === undefined || after === undefined) return [];
  const value = (fields: Fields, field: string) => (fields[field] ?? null) as FieldValue;
  return Object.keys(after)
    .map((field) => ({ field, before: value(before, field), after: value(after, field) }))
    .filter((change) => change.before !== change.after);
}
