/** The tables that Drizzle reads. drizzle/schema/ has those that only a migration makes. */
import { isNotNull, sql } from "drizzle-orm";
import { bigint, check, index } from "drizzle-orm/pg-core";
import * as tables from "../../storage/tables.ts";
import { rehome, tableOf } from "./columns.ts";

export const pets = tableOf(tables.pets, ({ status, id }) => [
  // Without the name, which may be longer than an index entry can be.
  index("pets_by_status").on(status, id).where(isNotNull(status)),
]);

/**
 * One row, changed with every animal: the number of changes and of animals. Its lock orders the
 * changes of all processes, so ids become visible in ascending order and pagination skips none.
 * Counting the table would take minutes.
 */
export const catalogue = rehome.table(
  "catalogue",
  {
    id: bigint("id", { mode: "number" }).primaryKey(),
    version: bigint("version", { mode: "number" }).notNull(),
    animals: bigint("animals", { mode: "number" }).notNull(),
  },
  (table) => [check("catalogue_one_row", sql`${table.id} = 1`)],
);
