/** Categories. The statements are the same for both databases. */
import { type Category, categoryKey } from "../animals/categories.ts";
import type { CategoryEvent } from "./old-changes.ts";
import { addRecords, record, records } from "../../storage/records.ts";
import { row, sql, type Steps } from "../../storage/statement.ts";
import { pets } from "../../storage/tables.ts";
import { categories } from "../animals/tables.ts";

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
