/** The tables in PostgreSQL, in a schema of their own, and so beside no other program's tables. */
import { sql } from "drizzle-orm";
import {
  bigint,
  check,
  customType,
  index,
  pgSchema,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { jsonText, parseJson } from "../domain/exact-json.ts";
import { tablesOf } from "./schema.ts";

export const schemaName = "rehome";
export const rehome = pgSchema(schemaName);

const int64 = (name: string) => bigint(name, { mode: "bigint" });
const count = (name: string) => bigint(name, { mode: "number" });
/**
 * JSON with exact int64, its members in their order. Bun's client rounds them in the column itself,
 * so select it with `columnsOf` (database.ts).
 */
const json = <T>() =>
  customType<{ data: T }>({
    dataType: () => "json",
    toDriver: (value) => sql`CAST(CAST(${jsonText(value)} AS text) AS json)`,
    fromDriver(text) {
      if (typeof text !== "string") throw new Error("select JSON with columnsOf");
      return parseJson(text) as T;
    },
  });

export const postgresKit = {
  isSqlite: false as boolean,
  table: rehome.table,
  int64,
  /** An integer that a number holds exactly: a count, a label, milliseconds. */
  count,
  text,
  bytes: customType<{ data: Uint8Array }>({ dataType: () => "bytea" }),
  json,
  /** An id that the table gives, none twice. A failed insert may leave a gap. */
  givenId: (table: string) =>
    int64("id")
      .primaryKey()
      .generatedAlwaysAsIdentity({ name: `${table}_id_seq`, cache: 1 }),
  check,
  index,
  uniqueIndex,
  primaryKey,
};

export const postgresTables = tablesOf(postgresKit);

/**
 * One row, changed with every animal: the number of changes and of animals. Its lock orders the
 * changes of all processes, so ids become visible in ascending order and pagination skips none.
 * Counting the table would take minutes.
 */
export const catalogue = rehome.table(
  "catalogue",
  {
    id: count("id").primaryKey(),
    version: count("version").notNull(),
    animals: count("animals").notNull(),
  },
  (row) => [check("catalogue_one_row", sql`${row.id} = 1`)],
);
