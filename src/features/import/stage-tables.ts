/** The temporary tables of an import. */
import { petFieldNames, type PetFieldName } from "../../domain/pet.ts";
import { type Column, count, given, int64, nullable, table, text } from "../../storage/declare.ts";
import { pets } from "../../storage/tables.ts";

/** The fields of an animal; a record of one that is gone has none of them. */
const fieldColumns = Object.fromEntries(
  petFieldNames.map((name) => [name, { ...pets.columns[name], notNull: false }]),
) as Readonly<Record<PetFieldName, Column<unknown, false, false>>>;

/** Records as they come. */
export const staged = table({
  name: "staged",
  temporary: true,
  key: ["seq"],
  columns: {
    seq: given(),
    line: count(),
    petId: nullable(int64()),
    externalId: nullable(text()),
    source: text(),
    version: count(),
    isGone: count(),
    categoryKey: nullable(count()),
    ...fieldColumns,
  },
});

/** Ids of the categories that were open while the records were read. */
export const categoryIds = table({
  name: "category_ids",
  temporary: true,
  key: ["key"],
  columns: { key: count(), id: int64() },
});

/** One row for each animal, to be imported in the order of their positions. */
export const ready = table({
  name: "ready",
  temporary: true,
  key: ["position"],
  columns: {
    position: given(),
    line: count(),
    petId: nullable(int64()),
    externalId: nullable(text()),
    source: text(),
    isGone: count(),
    ...fieldColumns,
    /** The animal in the catalogue that it is. */
    target: nullable(int64()),
    /** The removed animal that it is. */
    removed: nullable(int64()),
  },
});
