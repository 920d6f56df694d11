/**
 * The number of transactions that changed animals, other than by adding some at the end. It is in
 * the database, so that a process knows which cached pages another process may have changed.
 */
import { type Statement, sql } from "./statement.ts";
import { storeState } from "./tables.ts";

/** The number's name among the facts about a store. */
const fact = "animal_edits";

/** Raises the number. */
export const countEdit = sql`INSERT INTO ${storeState} (name, value) VALUES (${fact}, '1')
  ON CONFLICT (name) DO UPDATE
  SET value = CAST(CAST(${storeState}.value AS bigint) + 1 AS text)`;

/** The number, as an expression: null before the first edit. */
export const editCount: Statement = sql`(SELECT CAST(value AS bigint) FROM ${storeState}
  WHERE name = ${fact})`;
