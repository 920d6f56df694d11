import { AppError } from "../../domain/errors.ts";
import { type ChangeRecord, lastChange } from "./statements/find.ts";
import { undoCategories } from "./statements/categories.ts";
import {
  type By,
  carryOut,
  countPlanned,
  type CategoryEvent,
  categoryEventsOf,
  type ChangeCounts,
  describeChange,
  newChange,
  planUndo,
} from "./statements/changes.ts";
import { changeAnimals, type Steps } from "../../storage/statement.ts";

/** What an undo did, or would do. */
export interface UndoReport extends ChangeCounts {
  readonly change: ChangeRecord;
  /** Animals that it left as they are, because they were changed since. */
  readonly left: number;
  readonly categories: readonly CategoryEvent[];
}

/**
 * So many animals are taken back in earnest by a rehearsal too, which then tells exactly what
 * becomes of categories.
 */
const rehearsedMax = 10_000;

/**
 * Undoes the change `wanted`, by default the last one in force. Throws when there is none, or none
 * that can be undone.
 */
export function* undoSteps(
  wanted: bigint | undefined,
  by: By,
  rehearse: boolean,
): Steps<UndoReport> {
  yield* changeAnimals();
  const change = yield* lastChange(wanted);
  if (change === undefined) {
    throw new AppError("not_found", "There is no change to take back.");
  }
  if (change.undoneIn !== null || change.undoes !== null) {
    const what = change.undoes === null ? "was taken back already" : "is an undo itself";
    throw new AppError("invalid_request", `The change ${change.id} ${what}.`);
  }
  const undo = yield* newChange("undo", by, {}, change.id);
  const total = yield* planUndo(undo, change.id);
  const events = categoryEventsOf(change.categories);
  // Names come back before the animals that carry them, and what the change had made goes after
  // them.
  const before = yield* undoCategories(events.filter((event) => event.before !== undefined));
  // A rehearsal of a large one only counts: nobody waits twice for a million animals.
  const isCounted = rehearse && total > rehearsedMax;
  const counts = yield* isCounted ? countPlanned(undo) : carryOut(undo, by);
  const after = yield* undoCategories(events.filter((event) => event.before === undefined));
  const categories = [...before, ...after];
  const left = total - counts.updated - counts.removed - counts.restored;
  yield* describeChange(undo, { ...counts, left, action: change.action }, categories);
  return { change, ...counts, left, categories };
}
