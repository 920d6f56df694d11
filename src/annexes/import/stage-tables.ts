/** The temporary tables of an import. */
import { count, given, int64, nullable, table, text } from "../../storage/declare.ts";

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
    name: text(),
    categoryId: nullable(int64()),
    categoryKey: nullable(count()),
    status: nullable(text()),
  },
});

/** Ids of the categories that were open while the records were read. */
export const categoryIds = table({
  name: "category_ids",
  temporary: true,
  key: ["key"],
  columns: { key: count(), id: int64() },
});

/** One row for each animal, to be taken over in the order of their positions. */
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
    name: text(),
    categoryId: nullable(int64()),
    status: nullable(text()),
    /** The animal in the catalogue that it is. */
    target: nullable(int64()),
    /** The removed animal that it is. */
    removed: nullable(int64()),
  },
});
