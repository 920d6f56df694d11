/** Facts about a store itself, in its table `store_state`. They are never moved to another one. */
import { record } from "./records.ts";
import { sql, type Statement, type Steps } from "./statement.ts";
import { storeState } from "./tables.ts";

/**
 * The name of the number of transactions that changed animals, other than by adding some at the
 * end. It tells a process which cached pages another process may have changed.
 */
const editsFact = "animal_edits";

/** Raises the number of edits. */
export const countEdit = sql`INSERT INTO ${storeState} (name, value) VALUES (${editsFact}, '1')
  ON CONFLICT (name) DO UPDATE
  SET value = CAST(CAST(${storeState}.value AS bigint) + 1 AS text)`;

/** The number of edits, as an expression: null before the first edit. */
export const editCount: Statement = sql`(SELECT CAST(value AS bigint) FROM ${storeState}
  WHERE name = ${editsFact})`;

/** The name of the mark that a store carries once everything in it was moved elsewhere. */
export const movedMark = "moved_to";

/** Where the store moved to, as messages show it; undefined for one that is in its place. */
export function* movedTo(): Steps<string | undefined> {
  return (yield* record(storeState, sql`WHERE name = ${movedMark}`))?.value;
}
