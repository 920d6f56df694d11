/**
 * Undo of a change. An undo is itself a change, and may run in parts. A later undo of the same
 * change skips what an earlier part has undone, so an interrupted one can be completed.
 */
import {
  canReturn,
  type ChangeCounts,
  type IdRange,
  everyId,
  planFormer,
  planRemoval,
  within,
} from "./changes.ts";
import type { Table } from "../../../storage/declare.ts";
import {
  raw,
  row,
  rows,
  run,
  sql,
  type Statement,
  type Steps,
} from "../../../storage/statement.ts";
import { pets } from "../../../storage/tables.ts";
import { changes, petEvents, removedPets } from "../tables.ts";

/** The animals to be taken back, by the name `animal`. */
interface Wanted {
  /** Those in the catalogue that `change` had added or brought back. */
  readonly added: Statement;
  /** FROM and WHERE: removed ones that it had removed, and what it did, by the name `event`. */
  readonly removed: Statement;
  /** FROM and WHERE, likewise: those whose fields it had changed. */
  readonly updated: Statement;
}

/** What is to be taken back of `change` in `range`. */
function wanted(change: bigint, range: IdRange): Wanted {
  const isUntouched = untouched(change);
  const inRange = within(range, "animal.id");
  const returned = sql`SELECT pet_id FROM ${petEvents}
    WHERE change_id = ${change} AND ${within(range, "pet_id")} AND before IS NULL`;
  const events = (table: Table) =>
    sql`FROM ${petEvents} AS event JOIN ${table} AS animal ON animal.id = event.pet_id
      WHERE event.change_id = ${change} AND ${within(range, "event.pet_id")} AND ${isUntouched}
        AND event.before IS NOT NULL`;
  return {
    added: sql`${inRange} AND ${isUntouched}
      AND (animal.created_in = ${change} OR animal.id IN (${returned}))`,
    removed: sql`${events(removedPets)} AND event.after IS NULL AND ${canReturn}`,
    updated: sql`${events(pets)} AND event.after IS NOT NULL`,
  };
}

/**
 * True for an `animal` that nothing changed after `change` that still holds, nor an undo of
 * `change`. A change holds for an animal until an undo of it took that animal back.
 */
function untouched(change: bigint): Statement {
  const takenBack = sql`EXISTS (
    SELECT 1 FROM ${petEvents} AS back JOIN ${changes} AS again ON again.id = back.change_id
    WHERE back.pet_id = later.pet_id AND again.undoes = cause.id)`;
  // PostgreSQL makes a join of NOT EXISTS, and without statistics it compares all with all there.
  return sql`(
    SELECT count(*) FROM ${petEvents} AS later JOIN ${changes} AS cause ON cause.id = later.change_id
    WHERE later.pet_id = animal.id AND cause.id > ${change}
      AND (cause.undoes = ${change} OR (cause.undoes IS NULL AND NOT ${takenBack}))) = 0`;
}

/** Plans to take back, as the change `undo`, what `change` did to the animals in `range`. */
export function* planUndo(undo: bigint, change: bigint, range: IdRange): Steps<void> {
  const { added, removed, updated } = wanted(change, range);
  yield* planRemoval(undo, added);
  yield* planFormer(undo, removed, true);
  yield* planFormer(undo, updated, false);
}

/** What an undo of `change` would do now. */
export function* countUndo(change: bigint): Steps<ChangeCounts> {
  const { added, removed, updated } = wanted(change, everyId);
  const found = yield* row<{ removed: bigint; restored: bigint; updated: bigint }>(
    sql`SELECT (SELECT count(*) FROM ${pets} AS animal WHERE ${added}) AS removed,
      (SELECT count(*) ${removed}) AS restored,
      (SELECT count(*) ${updated}) AS updated`,
  );
  return {
    updated: Number(found?.updated ?? 0),
    removed: Number(found?.removed ?? 0),
    restored: Number(found?.restored ?? 0),
  };
}

/** How many animals `change` did something to, without those that an undo took back already. */
export function* animalsOfChange(change: bigint): Steps<number> {
  const found = yield* row<{ animals: bigint }>(
    sql`SELECT (SELECT count(*) FROM ${petEvents} WHERE change_id = ${change})
      + (SELECT count(*) FROM ${pets} WHERE created_in = ${change})
      + (SELECT count(*) FROM ${removedPets} WHERE created_in = ${change})
      - (SELECT count(*) FROM ${petEvents} WHERE change_id IN (
          SELECT id FROM ${changes} WHERE undoes = ${change})) AS animals`,
  );
  return Number(found?.animals ?? 0);
}

/** Ranges that hold all animals of `change`, at most `size` of them each, in ascending order. */
export function* rangesOfChange(change: bigint, size: number): Steps<IdRange[]> {
  const ends = yield* rows<{ id: bigint }>(sql`
    SELECT id FROM (
      SELECT id, row_number() OVER (ORDER BY id) AS place FROM (
        SELECT id FROM ${pets} WHERE created_in = ${change}
        UNION ALL SELECT pet_id FROM ${petEvents} WHERE change_id = ${change}
      ) AS animals
    ) AS placed WHERE place % ${raw(String(size))} = 0 ORDER BY id`);
  const bounds = [everyId.above, ...ends.map(({ id }) => id), everyId.upTo];
  return bounds.slice(1).map((upTo, at) => ({ above: bounds[at] ?? everyId.above, upTo }));
}

/** Says that `change` was taken back by `undo`. */
export function* markUndone(change: bigint, undo: bigint): Steps<void> {
  yield* run(sql`UPDATE ${changes} SET undone_in = ${undo} WHERE id = ${change}`);
}
