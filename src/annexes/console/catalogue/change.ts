import { categoryKey } from "../../../domain/category.ts";
import type { NewPet } from "../../../domain/pet.ts";
import {
  addRecords,
  assignments,
  record,
  type RecordOf,
  records,
} from "../../../storage/records.ts";
import {
  changeAnimals,
  countAnimals,
  list,
  run,
  sql,
  type Steps,
} from "../../../storage/statement.ts";
import { categories, pets, removedPets } from "../../../storage/tables.ts";
import type { AnimalChange, ChangeMade } from "../desk.ts";
import { addChange, addEvents, type By, meantCategory, snapshotOf } from "./record.ts";

const nothing: ChangeMade = { changeId: undefined };

/** Adds an animal. Its row says which change added it, so that there is no event beside. */
export function* addAnimal(
  animal: Omit<NewPet, "categoryId"> & { readonly category: string },
  by: By,
): Steps<ChangeMade> {
  yield* changeAnimals();
  const { name, category, status } = animal;
  const { id: categoryId, made } = yield* meantCategory(category);
  const changeId = yield* addChange({ action: "add", animals: [animal], categories: made }, by);
  yield* addRecords(pets, [
    { name, categoryId, status: status ?? null, createdAtMs: by.nowMs, createdIn: changeId },
  ]);
  yield* countAnimals(1);
  return { changeId };
}

type PetRow = RecordOf<typeof pets>;

/** Changes animals, those that are there; nothing is kept of those that are as they shall be. */
export function* updateAnimals(
  ids: readonly bigint[],
  wanted: AnimalChange,
  by: By,
): Steps<ChangeMade> {
  yield* changeAnimals();
  const found = yield* rowsOf(ids);
  const category =
    wanted.category === undefined ? undefined : yield* meantCategory(wanted.category);
  const pairs = found
    .map((before) => ({ before, after: changed(before, wanted, category?.id) }))
    .filter(({ before, after }) => !isEqual(before, after));
  if (pairs.length === 0) return nothing;
  const animals = pairs.map(({ after }) => after);
  const categories = category?.made ?? [];
  const changeId = yield* addChange({ action: "update", animals, categories }, by);
  for (const { id, name, categoryId, status } of animals) {
    const values = assignments(pets, { name, categoryId, status });
    yield* run(sql`UPDATE ${pets} SET ${values} WHERE id = ${id}`);
  }
  yield* addEvents(changeId, pairs.map(eventOf));
  return { changeId };
}

function* rowsOf(ids: readonly bigint[]): Steps<PetRow[]> {
  return ids.length === 0 ? [] : yield* records(pets, sql`WHERE id IN ${list(ids)}`);
}

function changed(row: PetRow, wanted: AnimalChange, categoryId = row.categoryId): PetRow {
  const { name = row.name, status = row.status } = wanted;
  return { ...row, name, categoryId, status: status === "none" ? null : status };
}

function isEqual(a: PetRow, b: PetRow): boolean {
  return a.name === b.name && a.categoryId === b.categoryId && a.status === b.status;
}

function eventOf({ before, after }: { before: PetRow; after: PetRow | undefined }) {
  return {
    petId: before.id,
    before: snapshotOf(before),
    after: after && snapshotOf(after),
  };
}

/** Takes animals out of the catalogue, and keeps them apart so that they can come back. */
export function* removeAnimals(ids: readonly bigint[], by: By): Steps<ChangeMade> {
  yield* changeAnimals();
  const found = yield* rowsOf(ids);
  if (found.length === 0) return nothing;
  const changeId = yield* addChange({ action: "remove", animals: found }, by);
  yield* addRecords(
    removedPets,
    found.map((row) => ({ ...row, removedAtMs: by.nowMs, removedIn: changeId })),
  );
  yield* run(sql`DELETE FROM ${pets} WHERE id IN ${list(found.map(({ id }) => id))}`);
  yield* addEvents(
    changeId,
    found.map((before) => eventOf({ before, after: undefined })),
  );
  yield* countAnimals(-found.length);
  return { changeId };
}

/** Makes a category; nothing where the name is there. */
export function* addCategory(name: string, by: By): Steps<ChangeMade> {
  yield* changeAnimals();
  const { made } = yield* meantCategory(name);
  if (made.length === 0) return nothing;
  return { changeId: yield* addChange({ action: "add", animals: [], categories: made }, by) };
}

/** Gives a category another name. The name must be free. */
export function* renameCategory(id: bigint, name: string, by: By): Steps<ChangeMade> {
  yield* changeAnimals();
  const known = yield* record(categories, sql`WHERE id = ${id}`);
  if (known === undefined || known.name === name) return nothing;
  const values = assignments(categories, { name, nameKey: categoryKey(name) });
  yield* run(sql`UPDATE ${categories} SET ${values} WHERE id = ${id}`);
  const event = { id, before: known.name, after: name };
  return { changeId: yield* addChange({ action: "update", animals: [], categories: [event] }, by) };
}

/** Moves all animals of a category to another one, and takes the first one away. */
export function* mergeCategories(id: bigint, into: bigint, by: By): Steps<ChangeMade> {
  yield* changeAnimals();
  const gone = yield* record(categories, sql`WHERE id = ${id}`);
  const target = yield* record(categories, sql`WHERE id = ${into}`);
  if (gone === undefined || target === undefined || id === into) return nothing;
  const moved = yield* records(pets, sql`WHERE category_id = ${id}`);
  const event = { id, before: gone.name, after: null };
  const changeId = yield* addChange({ action: "update", animals: moved, categories: [event] }, by);
  yield* run(sql`UPDATE ${pets} SET category_id = ${into} WHERE category_id = ${id}`);
  yield* addEvents(
    changeId,
    moved.map((before) => eventOf({ before, after: { ...before, categoryId: into } })),
  );
  yield* run(sql`DELETE FROM ${categories} WHERE id = ${id}`);
  return { changeId };
}
