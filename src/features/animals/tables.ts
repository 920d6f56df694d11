/** What is kept of animals beside their rows: categories, removed animals and the history. */
import { count, given, int64, json, nullable, table, text, unique } from "../../storage/declare.ts";
import { petColumns } from "../../storage/tables.ts";

/** What is known about an animal, or a change, as it was before or after. */
type Snapshot = Record<string, unknown>;

export const categories = table({
  name: "categories",
  title: "categories",
  columns: {
    id: int64(),
    name: text(),
    /** The form of a name for comparison, see `categoryKey`: NOCASE covers ASCII only. */
    nameKey: unique(text()),
  },
});

/** Removed and withdrawn animals, in their own table so that they do not slow down reads. */
export const removedPets = table({
  name: "removed_pets",
  title: "removed animals",
  columns: { ...petColumns, id: int64(), removedAtMs: count(), removedIn: int64() },
  indexes: [
    { name: "removed_pets_by_source", on: ["source", "externalId"], whereNotNull: "externalId" },
  ],
});

/** One operation of an operator, or one import, of any number of animals. Kept 90 days. */
export const changes = table({
  name: "changes",
  title: "changes",
  columns: {
    id: given(),
    atMs: count(),
    /** Who did it: a person, or an account of the machine. */
    actor: text(),
    /** What it was: add, update, remove, restore, import, undo, ... */
    action: text(),
    /** What a person is shown of it, such as counts by name. */
    summary: json<Snapshot>(),
    /** Categories that it made, renamed or took away, as `[{ id, before, after }]` with names. */
    categories: nullable(json<readonly Snapshot[]>()),
    /** The change that it took back. */
    undoes: nullable(int64()),
    /** The change by which it was taken back. */
    undoneIn: nullable(int64()),
  },
});

/** What a change did to one animal that existed, or that it brought back. Kept 90 days. */
export const petEvents = table({
  name: "pet_events",
  title: "animals' events",
  key: ["petId", "changeId"],
  clustered: true,
  columns: {
    petId: int64(),
    changeId: int64(),
    /** Its fields before; null if it was not there. */
    before: nullable(json<Snapshot>()),
    /** Its fields afterwards; null if it was taken away. `former`: see `returned`, changes.ts. */
    after: nullable(json<Snapshot>()),
  },
  indexes: [{ name: "pet_events_by_change", on: ["changeId"] }],
});
