import { type Column, sql } from "drizzle-orm";
import { dayMs } from "../domain/clock.ts";
import type { Tx } from "./database.ts";

/** A longer time without a record is taken for a jump of the clock. */
const pauseMaxMs = 90 * dayMs;

/**
 * The time before which records go that are stored for `storedMs`, or undefined when none goes. A
 * clock that is ahead must delete nothing, so the time is told by records: by the newest one that
 * is not of the last hours, and only where no jump lies between what goes and what stays.
 */
export async function prunedBefore(
  tx: Tx,
  atMs: Column,
  nowMs: number,
  storedMs: number,
): Promise<number | undefined> {
  const toldMs = nowMs - Math.min(storedMs / 24, dayMs);
  const int = (ms: number) => sql`CAST(${ms} AS bigint)`;
  const [found] = await tx.rows<{ endMs: bigint }>(sql`
    SELECT "endMs" FROM (
      SELECT max(${atMs}) - ${int(storedMs)} AS "endMs" FROM ${atMs.table}
      WHERE ${atMs} <= ${int(toldMs)}
    ) AS told
    WHERE (SELECT min(${atMs}) FROM ${atMs.table} WHERE ${atMs} >= "endMs")
      - (SELECT max(${atMs}) FROM ${atMs.table} WHERE ${atMs} < "endMs") <= ${int(pauseMaxMs)}`);
  return found && Number(found.endMs);
}
