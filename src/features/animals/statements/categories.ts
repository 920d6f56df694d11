/** Categories. The statements are the same for both databases. */
import { type Category, categoryKey } from "../category.ts";
import type { CategoryEvent } from "./changes.ts";
import { addRecords, record, records } from "../../../storage/records.ts";
import { row, rows, run, sql, type Steps } from "../../../storage/statement.ts";
import { pets } from "../../../storage/tables.ts";
import { categories } from "../tables.ts";

/** A category, named or carried by animals, and how many of them carry it. */
export interface CategoryUse {
  readonly id: bigint;
  /** Undefined for one that has a number only. */
  readonly name: string | undefined;
  readonly animals: number;
}

/** All categories in the order of their ids. */
export function* categoriesInUse(): Steps<CategoryUse[]> {
  const found = yield* rows<{ id: bigint; name: string | null; animals: bigint }>(
    sql`SELECT coalesce(named.id, used.id) AS id, named.name, coalesce(used.animals, 0) AS animals
      FROM ${categories} AS named FULL JOIN (
        SELECT category_id AS id, count(*) AS animals FROM ${pets} GROUP BY category_id
      ) AS used ON used.id = named.id
      ORDER BY 1`,
  );
  return found.map(({ id, name, animals }) => ({
    id,
    name: name ?? undefined,
    animals: Number(animals),
  }));
}

/** The categories that have a name, in the order of their ids. */
export function* namedCategories(): Steps<Category[]> {
  return (yield* records(categories, sql`ORDER BY id`)).map(({ id, name }) => ({ id, name }));
}

/** The category with this name, whatever its case. */
export function* categoryByName(name: string): Steps<Category | undefined> {
  return yield* record(categories, sql`WHERE name_key = ${categoryKey(name)}`);
}

export function* categoryById(id: bigint): Steps<Category | undefined> {
  return yield* record(categories, sql`WHERE id = ${id}`);
}

/** Whether an animal carries this category. */
export function* isCarried(id: bigint): Steps<boolean> {
  return (
    (yield* row(sql`SELECT 1 AS one FROM ${pets} WHERE category_id = ${id} LIMIT 1`)) !== undefined
  );
}

/** The highest id of a category that is named or that an animal carries; at least 0. */
export function* highestCategoryId(): Steps<bigint> {
  const found = yield* row<{ named: bigint | null; carried: bigint | null }>(
    sql`SELECT (SELECT max(id) FROM ${categories}) AS named,
      (SELECT max(category_id) FROM ${pets}) AS carried`,
  );
  return [found?.named ?? 0n, found?.carried ?? 0n].reduce((a, b) => (a > b ? a : b), 0n);
}

/** Names categories. No name or id of them may have been given yet. */
export function* addCategories(added: readonly Category[]): Steps<void> {
  yield* addRecords(
    categories,
    added.map(({ id, name }) => ({ id, name, nameKey: categoryKey(name) })),
  );
}

/** Gives numbers names that they did not have. Returns what a change keeps of it. */
export function* nameNumbers(named: readonly Category[]): Steps<CategoryEvent[]> {
  const events: CategoryEvent[] = [];
  for (const { id, name } of named) {
    const wasCarried = yield* isCarried(id);
    const event = { id, after: name };
    events.push(wasCarried ? { ...event, wasCarried } : event);
  }
  yield* addCategories(named);
  return events;
}

export function* renameCategory(id: bigint, name: string): Steps<void> {
  yield* run(
    sql`UPDATE ${categories} SET name = ${name}, name_key = ${categoryKey(name)} WHERE id = ${id}`,
  );
}

export function* dropCategory(id: bigint): Steps<void> {
  yield* run(sql`DELETE FROM ${categories} WHERE id = ${id}`);
}

/**
 * Undoes what a change did to categories, as far as nobody has changed them since. A name that
 * another category has now stays there, and a category with animals stays. Returns what it did.
 */
export function* undoCategories(events: readonly CategoryEvent[]): Steps<CategoryEvent[]> {
  const done: CategoryEvent[] = [];
  for (const { id, before, after, wasCarried } of events) {
    const current = yield* categoryById(id);
    if (current?.name !== after) continue;
    if (before === undefined) {
      if (!wasCarried && (yield* isCarried(id))) continue;
      yield* dropCategory(id);
    } else {
      const holder = yield* categoryByName(before);
      if (holder !== undefined && holder.id !== id) continue;
      if (current === undefined) yield* addCategories([{ id, name: before }]);
      else yield* renameCategory(id, before);
    }
    done.push({
      id,
      ...(after === undefined ? {} : { before: after }),
      ...(before === undefined ? {} : { after: before }),
    });
  }
  return done;
}

/** Those of the events that an undo would take back, as far as names tell. */
export function* standingCategories(events: readonly CategoryEvent[]): Steps<CategoryEvent[]> {
  const standing: CategoryEvent[] = [];
  for (const event of events) {
    if ((yield* categoryById(event.id))?.name === event.after) standing.push(event);
  }
  return standing;
}
