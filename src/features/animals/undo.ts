import { AppError } from "../../domain/errors.ts";
import { brokenOff } from "./editing.ts";
import { type ChangeRecord, lastChange } from "./statements/find.ts";
import { standingCategories, undoCategories } from "./statements/categories.ts";
import {
  type By,
  carryOut,
  carryOutFormer,
  type CategoryEvent,
  categoryEventsOf,
  type ChangeCounts,
  describeChange,
  everyId,
  type IdRange,
  newChange,
} from "./statements/changes.ts";
import type { Engine } from "../../storage/contract.ts";
import { changeAnimals, type Steps } from "../../storage/statement.ts";
import {
  animalsOfChange,
  countUndo,
  markUndone,
  planUndo,
  rangesOfChange,
} from "./statements/undo.ts";

/** What an undo did, or would do. */
export interface UndoReport extends ChangeCounts {
  readonly change: ChangeRecord;
  /** Animals that it left as they are, because they were changed since. */
  readonly left: number;
  readonly categories: readonly CategoryEvent[];
}

export interface UndoOptions {
  /** The change to take back; by default the last one in force. */
  readonly change?: bigint | undefined;
  /** Changes nothing, and reports what would be done. */
  readonly rehearse?: boolean;
  /** Told of the animals that were looked at so far, and of how many there are. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Asks an undo in parts to end after the part that it is at. */
  readonly stop?: AbortSignal;
}

/** Animals per transaction: it holds the lock no longer than a create may wait for it. */
const partAnimals = 5_000;
/** The pause between two parts, in which a waiting process gets the lock. */
const pauseMs = 3;

/**
 * Undoes a change, by default the last one in force; later changes stay. A large change is undone
 * in parts, and an interrupted undo can be run again. Throws AppError when there is no such change,
 * or when it was already undone.
 */
export async function takeBack(
  engine: Engine,
  by: By,
  options: UndoOptions = {},
): Promise<UndoReport> {
  const found = await engine.read(() => toTakeBack(options.change), { patient: true });
  if (found.animals > partAnimals) {
    return options.rehearse === true
      ? engine.read(() => rehearsed(found), { patient: true })
      : takeBackInParts(engine, by, found, options);
  }
  return takeBackAtOnce(engine, by, found.change.id, options.rehearse === true);
}

/** A change, and how many of its animals are still to be taken back. */
interface Found {
  readonly change: ChangeRecord;
  readonly animals: number;
}

function* toTakeBack(wanted: bigint | undefined): Steps<Found> {
  const change = yield* lastChange(wanted);
  if (change === undefined) {
    const which = wanted === undefined ? "" : ` ${wanted}`;
    throw new AppError("not_found", `There is no change${which} to undo.`);
  }
  if (change.undoneIn !== null || change.undoes !== null) {
    const what = change.undoes === null ? "was already undone" : "is an undo itself";
    throw new AppError("invalid_request", `The change ${change.id} ${what}.`);
  }
  return { change, animals: yield* animalsOfChange(change.id) };
}

/** A rehearsal does it all, and then lets none of it be kept. */
async function takeBackAtOnce(
  engine: Engine,
  by: By,
  wanted: bigint,
  rehearse: boolean,
): Promise<UndoReport> {
  let report: UndoReport | undefined;
  const rehearsal = new Error("only a rehearsal");
  try {
    return await engine.transact(
      function* () {
        yield* changeAnimals();
        // What was read before may have changed since.
        const found = yield* toTakeBack(wanted);
        const begun = yield* begin(found, by);
        const counts = yield* takePart(begun, everyId, by);
        report = yield* end(begun, counts);
        if (rehearse) throw rehearsal;
        return report;
      },
      { patient: true },
    );
  } catch (error) {
    if (error !== rehearsal || report === undefined) throw error;
    return report;
  }
}

async function takeBackInParts(
  engine: Engine,
  by: By,
  found: Found,
  { onProgress, stop }: UndoOptions,
): Promise<UndoReport> {
  const patient = { patient: true };
  const inChange = async <T>(work: () => Steps<T>): Promise<T> =>
    engine.transact(function* () {
      yield* changeAnimals();
      return yield* work();
    }, patient);
  const { change, animals: total } = found;
  const ranges = await engine.read(() => rangesOfChange(change.id, partAnimals), patient);
  const begun = await inChange(() => begin(found, by));
  let counts: ChangeCounts = { updated: 0, removed: 0, restored: 0 };
  const consequence = () =>
    `${sum(counts)} of ${total} animals are taken back. Run the undo again for the rest.`;
  try {
    for (const [part, range] of ranges.entries()) {
      if (stop?.aborted) throw new AppError("unavailable", "The undo was stopped.");
      counts = plus(counts, await inChange(() => takePart(begun, range, by)));
      onProgress?.(Math.min((part + 1) * partAnimals, total), total);
      await Bun.sleep(pauseMs);
    }
    return await inChange(() => end(begun, counts));
  } catch (error) {
    throw brokenOff("The undo", error, consequence());
  }
}

interface Begun extends Found {
  readonly undo: bigint;
  readonly named: readonly CategoryEvent[];
}

/** Names of categories come back before the animals that carry them. */
function* begin({ change, animals }: Found, by: By): Steps<Begun> {
  const undo = yield* newChange("undo", by, change.id);
  const events = categoryEventsOf(change.categories);
  const named = yield* undoCategories(events.filter(({ before }) => before !== undefined));
  return { change, animals, undo, named };
}

function* takePart({ change, undo }: Begun, range: IdRange, by: By): Steps<ChangeCounts> {
  yield* planUndo(undo, change.id, range);
  const counts = yield* carryOut(undo, by, range);
  yield* carryOutFormer(undo, change.id, range);
  return counts;
}

/** Categories that the change made go after the animals that carried them. */
function* end({ change, animals, undo, named }: Begun, counts: ChangeCounts): Steps<UndoReport> {
  const made = categoryEventsOf(change.categories).filter(({ before }) => before === undefined);
  const categories = [...named, ...(yield* undoCategories(made))];
  const left = animals - sum(counts);
  yield* markUndone(change.id, undo);
  yield* describeChange(undo, { ...counts, left, action: change.action }, categories);
  return { change, ...counts, left, categories };
}

/** What an undo in parts would do, as far as counting tells. */
function* rehearsed({ change, animals }: Found): Steps<UndoReport> {
  const counts = yield* countUndo(change.id);
  const categories = yield* standingCategories(categoryEventsOf(change.categories));
  return { change, ...counts, left: animals - sum(counts), categories };
}

function sum({ updated, removed, restored }: ChangeCounts): number {
  return updated + removed + restored;
}

function plus(a: ChangeCounts, b: ChangeCounts): ChangeCounts {
  return {
    updated: a.updated + b.updated,
    removed: a.removed + b.removed,
    restored: a.restored + b.restored,
  };
}
