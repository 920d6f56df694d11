import { categoryKey } from "../../../domain/category.ts";
import {
  addRecords,
  assignments,
  record,
  records,
  type RecordOf,
} from "../../../storage/records.ts";
import {
  changeAnimals,
  columnsOf,
  countAnimals,
  run,
  sql,
  type Steps,
} from "../../../storage/statement.ts";
import { categories, changes, petEvents, pets, removedPets } from "../../../storage/tables.ts";
import type { ChangeMade } from "../desk.ts";
import {
  addEvents,
  addUndo,
  type By,
  type CategoryEvent,
  categoryEventFrom,
  snapshotFrom,
  snapshotOf,
} from "./record.ts";

type PetRow = RecordOf<typeof pets>;
type Event = RecordOf<typeof petEvents>;
/** What an undo did to an animal; undefined where it left it alone. */
type Done = Parameters<typeof addEvents>[1][number] | undefined;

/**
 * Takes a change back, an import included. What has changed since stays as it is: an animal is only put back where it is as
 * that change left it. Returns no change where there was nothing (left) to take back.
 */
export function* undoChange(id: bigint, by: By): Steps<ChangeMade> {
  yield* changeAnimals();
  const change = yield* record(changes, sql`WHERE id = ${id}`);
  if (change === undefined || change.undoneIn !== null || change.undoes !== null) {
    return { changeId: undefined };
  }
  const undoId = yield* addUndo(id, change.summary, by);
  const done: Done[] = [];
  for (const event of yield* records(petEvents, sql`WHERE change_id = ${id}`)) {
    done.push(yield* takeBack(event, id, undoId, by.nowMs));
  }
  yield* addEvents(
    undoId,
    done.filter((each) => each !== undefined),
  );
  yield* takeBackAdded(id, undoId, by.nowMs);
  // Categories come last: an animal may be in one that the change made.
  yield* takeBackCategories((change.categories ?? []).map(categoryEventFrom));
  yield* run(sql`UPDATE ${changes} SET undone_in = ${undoId} WHERE id = ${id}`);
  return { changeId: undoId };
}

function* takeBack(event: Event, changeId: bigint, undoId: bigint, nowMs: number): Steps<Done> {
  const { petId, before, after } = event;
  if (after === null) return yield* bringBack(petId, changeId);
  const row = yield* record(pets, sql`WHERE id = ${petId}`);
  if (row === undefined || !isAsLeft(row, after)) return undefined;
  if (before === null) {
    yield* removeWhere(petId, undoId, nowMs);
    return { petId, before: snapshotOf(row), after: undefined };
  }
  const then = snapshotFrom(before);
  yield* run(sql`UPDATE ${pets} SET ${assignments(pets, then)} WHERE id = ${petId}`);
  return { petId, before: snapshotOf(row), after: snapshotOf({ ...row, ...then }) };
}

function isAsLeft(row: PetRow, after: Readonly<Record<string, unknown>>): boolean {
  const left = snapshotFrom(after);
  return row.name === left.name && row.categoryId === left.categoryId && row.status === left.status;
}

function* bringBack(petId: bigint, changeId: bigint): Steps<Done> {
  const where = sql`WHERE id = ${petId} AND removed_in = ${changeId}`;
  const kept = yield* record(removedPets, where);
  if (kept === undefined) return undefined;
  const { removedAtMs: _at, removedIn: _in, ...row } = kept;
  yield* addRecords(pets, [row]);
  yield* run(sql`DELETE FROM ${removedPets} WHERE id = ${petId}`);
  yield* countAnimals(1);
  return { petId, before: undefined, after: snapshotOf(row) };
}

const moved = columnsOf(pets);

function* removeWhere(petId: bigint, undoId: bigint, nowMs: number): Steps<void> {
  yield* run(
    sql`INSERT INTO ${removedPets} (${moved}, removed_at_ms, removed_in)
      SELECT ${moved}, CAST(${nowMs} AS bigint), CAST(${undoId} AS bigint)
      FROM ${pets} WHERE id = ${petId}`,
  );
  yield* run(sql`DELETE FROM ${pets} WHERE id = ${petId}`);
  yield* countAnimals(-1);
}

/** Takes animals away that a change added and nobody has changed since, all at once: an import may have many. */
function* takeBackAdded(changeId: bigint, undoId: bigint, nowMs: number): Steps<void> {
  const untouched = sql`FROM ${pets} WHERE created_in = ${changeId}
    AND id NOT IN (SELECT pet_id FROM ${petEvents} WHERE change_id > ${changeId})`;
  const gone = yield* run(
    sql`INSERT INTO ${removedPets} (${moved}, removed_at_ms, removed_in)
      SELECT ${moved}, CAST(${nowMs} AS bigint), CAST(${undoId} AS bigint) ${untouched}`,
  );
  yield* run(sql`DELETE ${untouched}`);
  yield* countAnimals(-gone);
}

function* takeBackCategories(events: readonly CategoryEvent[]): Steps<void> {
  for (const { id, before, after } of events) {
    if (before === null) {
      const used = yield* record(pets, sql`WHERE category_id = ${id} LIMIT 1`);
      if (used === undefined) yield* run(sql`DELETE FROM ${categories} WHERE id = ${id}`);
      continue;
    }
    const nameKey = categoryKey(before);
    const other = yield* record(categories, sql`WHERE name_key = ${nameKey} AND id <> ${id}`);
    if (other !== undefined) continue;
    if (after === null) yield* addRecords(categories, [{ id, name: before, nameKey }]);
    const values = assignments(categories, { name: before, nameKey });
    yield* run(sql`UPDATE ${categories} SET ${values} WHERE id = ${id} AND name = ${after}`);
  }
}
