import { categoryKey, type Category } from "../../../domain/category.ts";
import { parseInt64 } from "../../../domain/int64.ts";
import type { PetStatus } from "../../../domain/pet.ts";
import { addRecords, type NewRecordOf, record, records } from "../../../storage/records.ts";
import { lastNumber, row, sql, type Steps } from "../../../storage/statement.ts";
import { categories, changes, petEvents, pets } from "../../../storage/tables.ts";

/** Who changes the catalogue, and when. */
export interface By {
  readonly actor: string;
  readonly nowMs: number;
}

/** An animal's fields as an event keeps them. */
export interface Snapshot {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus | null;
  readonly externalId: string | null;
  readonly source: string;
}
type Kept = Readonly<Record<string, unknown>>;

export function snapshotOf({ name, categoryId, status, externalId, source }: Snapshot): Kept {
  return { name, categoryId, status, externalId, source };
}

/** A snapshot as it was kept. */
export function snapshotFrom({ name, categoryId, status, externalId, source }: Kept): Snapshot {
  return {
    name: String(name),
    categoryId: BigInt(categoryId as bigint | number),
    status: (status ?? null) as PetStatus | null,
    externalId: (externalId ?? null) as string | null,
    source: (source ?? "") as string,
  };
}

/** A category that a change made, renamed or took away; a name of null is none. */
export interface CategoryEvent {
  readonly id: bigint;
  readonly before: string | null;
  readonly after: string | null;
}

/** An event of a category as it was kept. */
export function categoryEventFrom({ id, before, after }: Kept): CategoryEvent {
  return {
    id: BigInt(id as bigint | number),
    before: before as string | null,
    after: after as string | null,
  };
}

interface NewChange {
  readonly action: string;
  /** The animals that it concerns; the name of a single one is shown. */
  readonly animals: readonly { readonly name: string }[];
  readonly categories?: readonly CategoryEvent[];
}

/** Keeps what a change is, and returns its number. */
export function* addChange(
  { action, animals, categories: named = [] }: NewChange,
  { actor, nowMs }: By,
): Steps<bigint> {
  const [first] = animals;
  const only = animals.length === 1 ? first?.name : undefined;
  const [category] = named;
  const name = only ?? (animals.length === 0 ? (category?.after ?? category?.before) : undefined);
  const summary = { animals: animals.length, ...(typeof name === "string" && { name }) };
  const kept = named.length === 0 ? null : named.map((each) => ({ ...each }));
  return yield* insertChange({ atMs: nowMs, actor, action, summary, categories: kept });
}

/** Keeps that a change is taken back, and returns the number of this change of its own. */
export function* addUndo(
  undoes: bigint,
  summary: Record<string, unknown>,
  { actor, nowMs }: By,
): Steps<bigint> {
  return yield* insertChange({ atMs: nowMs, actor, action: "undo", summary, undoes });
}

function* insertChange(change: NewRecordOf<typeof changes>): Steps<bigint> {
  yield* addRecords(changes, [change]);
  return yield* lastNumber(changes);
}

/** What a change did to an animal: its fields before and after, undefined where it was not there. */
interface PetChange {
  readonly petId: bigint;
  readonly before: Kept | undefined;
  readonly after: Kept | undefined;
}

/** Keeps what a change did to animals that were there before it. */
export function* addEvents(changeId: bigint, events: readonly PetChange[]): Steps<void> {
  if (events.length === 0) return;
  yield* addRecords(
    petEvents,
    events.map(({ petId, before, after }) => ({
      petId,
      changeId,
      before: before ?? null,
      after: after ?? null,
    })),
  );
}

/** All categories in the order of their names. */
export function* listCategories(): Steps<Category[]> {
  const found = yield* records(categories, sql`ORDER BY name_key`);
  return found.map(({ id, name }) => ({ id, name }));
}

/** A category, and the event of its making where it is new. */
export interface MeantCategory {
  readonly id: bigint;
  readonly made: readonly CategoryEvent[];
}

/**
 * The category that `text` means: the one of this name; the one of this number where animals carry it without a name;
 * else a new one.
 */
export function* meantCategory(text: string): Steps<MeantCategory> {
  const nameKey = categoryKey(text);
  const known = yield* record(categories, sql`WHERE name_key = ${nameKey}`);
  if (known !== undefined) return { id: known.id, made: [] };
  const number = parseInt64(text);
  if (number !== undefined) {
    const carrier = yield* record(pets, sql`WHERE category_id = ${number} LIMIT 1`);
    if (carrier !== undefined) return { id: number, made: [] };
  }
  const id = yield* freeCategoryId();
  const name = text.trim();
  yield* addRecords(categories, [{ id, name, nameKey }]);
  return { id, made: [{ id, before: null, after: name }] };
}

function* freeCategoryId(): Steps<bigint> {
  const highest = yield* row<{ named: bigint | null; carried: bigint | null }>(
    sql`SELECT (SELECT max(id) FROM ${categories}) AS named,
      (SELECT max(category_id) FROM ${pets}) AS carried`,
  );
  const ids = [0n, highest?.named ?? 0n, highest?.carried ?? 0n];
  return ids.reduce((a, b) => (a > b ? a : b)) + 1n;
}
