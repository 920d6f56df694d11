/** The undo of a change: a change itself, in one transaction, of what nothing changed since. */
import { and, desc, eq, gt, inArray, isNull, lt, sql } from "drizzle-orm";
import { dayMs } from "../../domain/clock.ts";
import { AppError } from "../../domain/errors.ts";
import { columnsOf, type Tx } from "../../storage/database.ts";
import { jobName, pauseJob } from "../schedule/jobs.ts";
import { undoCategories } from "./categories.ts";
import {
  type CategoryEvent,
  type Change,
  type ChangeCounts,
  type ChangeRow,
  type Editing,
  makeChange,
  partSize,
  snapshot,
  stateIn,
  storedMs,
} from "./changes.ts";
import { changeById } from "./history.ts";

/** What an undo did, or would do. */
export interface UndoReport extends Omit<ChangeCounts, "added"> {
  readonly change: ChangeRow;
  /** Animals that it left as they are, because they were changed since. */
  readonly left: number;
  readonly categories: readonly CategoryEvent[];
}

export interface UndoOptions {
  readonly change?: bigint | undefined;
  /** Changes nothing, and reports what would be done. */
  readonly rehearse?: boolean;
}

/** Ends the transaction of an undo of which nothing is to be stored. */
class NotStored extends Error {
  readonly report: UndoReport;

  constructor(report: UndoReport) {
    super("only a report");
    this.report = report;
  }
}

/** True for an undo that changes nothing. */
export const isNothing = ({ removed, restored, updated, categories }: UndoReport): boolean =>
  removed + restored + updated + categories.length === 0;

/**
 * Undoes a change, by default the last one in force; later changes stay. A change of which nothing
 * can be undone now stays in force: once what came later is undone, it can be. Throws AppError when
 * there is no such change, or when it was already undone.
 */
export async function undoChange(
  editing: Editing,
  { change: wanted, rehearse = false }: UndoOptions,
): Promise<UndoReport> {
  const { id } = await editing.db.read((tx) => toUndo(tx, wanted, editing.clock()));
  const work = async (undo: Change) => {
    // What was read before may have changed since.
    const report = await takeBack(undo, await toUndo(undo.tx, id, undo.atMs));
    if (rehearse || (report.left > 0 && isNothing(report))) throw new NotStored(report);
    return report;
  };
  try {
    return await makeChange(editing, "undo", work, { isLong: true, undoes: id });
  } catch (error) {
    if (error instanceof NotStored) return error.report;
    throw error;
  }
}

async function toUndo(tx: Tx, wanted: bigint | undefined, nowMs: number): Promise<ChangeRow> {
  const change = wanted === undefined ? await lastChange(tx) : await changeById(tx, wanted);
  if (change === undefined) {
    const which = wanted === undefined ? "" : ` ${wanted}`;
    throw new AppError("not_found", `There is no change${which} to undo.`);
  }
  if (change.atMs < nowMs - storedMs) {
    // What it did is forgotten bit by bit, so that a part of it would be undone.
    const days = storedMs / dayMs;
    throw new AppError("not_found", `The change ${change.id} is older than ${days} days.`);
  }
  if (change.undoneIn === null && change.undoes === null) return change;
  const what = change.undoes === null ? "was already undone" : "is an undo itself";
  throw new AppError("invalid_request", `The change ${change.id} ${what}.`);
}

/** The newest change that is still in force and is no undo itself. */
export async function lastChange(tx: Tx): Promise<ChangeRow | undefined> {
  const { changes } = tx.t;
  const inForce = and(isNull(changes.undoneIn), isNull(changes.undoes));
  const newest = tx.select(columnsOf(changes)).from(changes).where(inForce);
  return (await newest.orderBy(desc(changes.id)).limit(1))[0];
}

async function takeBack(undo: Change, change: ChangeRow): Promise<UndoReport> {
  const { tx } = undo;
  const { changes } = tx.t;
  const named = (change.categories ?? []).map(({ id, ...names }): CategoryEvent => ({
    ...names,
    id: BigInt(id as number | bigint),
  }));
  // Names come back before the animals that carry them; what the change made goes after those.
  await undoCategories(
    undo,
    named.filter(({ before }) => before !== undefined),
  );
  let left = 0;
  for (const [did, found] of Map.groupBy(await animalsOf(tx, change.id), (animal) => animal.did)) {
    const ids = found.map(({ id }) => id);
    for (let from = 0; from < ids.length; from += partSize) {
      left += await planPart(undo, change.id, did, ids.slice(from, from + partSize));
    }
  }
  left += await undo.dropTaken();
  await undo.carryOut();
  await restoreFormer(undo, change.id);
  await undoCategories(
    undo,
    named.filter(({ before }) => before === undefined),
  );
  for (const kept of [tx.t.listEntries, tx.t.categoryWords]) {
    await tx.delete(kept).where(eq(kept.changeId, change.id));
  }
  await tx.update(changes).set({ undoneIn: undo.id }).where(eq(changes.id, change.id));
  const { source } = change.summary;
  // The next pull would do again what a person took back.
  if (change.action === "import" && typeof source === "string") {
    await pauseJob(tx, jobName("pull", source), "undo", undo.atMs);
  }
  undo.summary = { left, action: change.action };
  return { change, ...undo.counts, left, categories: undo.categories };
}

type Did = "added" | "removed" | "updated";
const wayBack = { added: "removed", removed: "restored", updated: "updated" } as const;

async function animalsOf(
  tx: Tx,
  change: bigint,
): Promise<{ readonly id: bigint; readonly did: Did }[]> {
  const { pets, petEvents, removedPets } = tx.t;
  return tx.rows(sql`
    SELECT id, 'added' AS did FROM ${pets} WHERE created_in = ${change}
    UNION ALL SELECT id, 'added' FROM ${removedPets} WHERE created_in = ${change}
    UNION ALL SELECT pet_id, CASE WHEN before IS NULL THEN 'added'
        WHEN after IS NULL THEN 'removed' ELSE 'updated' END
      FROM ${petEvents} WHERE change_id = ${change}`);
}

/** Plans to take back what `change` did to the animals `ids`. Returns how many it leaves. */
async function planPart(
  undo: Change,
  change: bigint,
  did: Did,
  ids: readonly bigint[],
): Promise<number> {
  const { tx } = undo;
  const { pets, petEvents, removedPets } = tx.t;
  const changed = await changedSince(undo, change, ids);
  const free = ids.filter((id) => !changed.has(id));
  if (free.length === 0) return ids.length;
  const event = sql`JOIN ${petEvents} AS event
    ON event.pet_id = animal.id AND event.change_id = ${change}`;
  const backFrom = {
    added: sql`${snapshot(tx)}, NULL FROM ${pets} AS animal`,
    removed: sql`NULL, event.before FROM ${removedPets} AS animal ${event}`,
    updated: sql`${snapshot(tx)}, event.before FROM ${pets} AS animal ${event}`,
  }[did];
  const where = inArray(sql`animal.id`, free);
  const select = sql`SELECT animal.id, CAST(${undo.id} AS bigint), ${backFrom} WHERE ${where}`;
  return ids.length - (await undo.planFrom(wayBack[did], select));
}

/**
 * Animals to which a change after `change` did something that no undo took back: an undo may have
 * left some of its animals.
 */
async function changedSince(
  { tx, id }: Change,
  change: bigint,
  ids: readonly bigint[],
): Promise<ReadonlySet<bigint>> {
  const { changes, petEvents } = tx.t;
  const isLater = and(gt(petEvents.changeId, change), lt(petEvents.changeId, id));
  const found = await tx
    .select({ petId: petEvents.petId, change: changes.id, undoes: changes.undoes })
    .from(petEvents)
    .innerJoin(changes, eq(changes.id, petEvents.changeId))
    .where(and(inArray(petEvents.petId, ids), isLater));
  const isChanged = (later: typeof found) => {
    const undone = new Set(later.map(({ undoes }) => undoes));
    return later.some((each) => each.undoes === null && !undone.has(each.change));
  };
  const byAnimal = Map.groupBy(found, ({ petId }) => petId);
  return new Set([...byAnimal].flatMap(([petId, later]) => (isChanged(later) ? petId : [])));
}

/**
 * Gives the animals that `undo` removed the state that they had when `change` brought them back as
 * others. An event of version 1.0.0 does not have it.
 */
async function restoreFormer({ tx, id }: Change, change: bigint): Promise<void> {
  const { petEvents, removedPets } = tx.t;
  await tx.run(sql`UPDATE ${removedPets} SET ${stateIn(removedPets, sql`after -> 'former'`)}
    FROM ${petEvents} WHERE ${petEvents.changeId} = ${change} AND removed_in = ${id}
      AND ${petEvents.petId} = ${removedPets.id} AND after ->> 'former' IS NOT NULL`);
}
