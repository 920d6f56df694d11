import {
  addAnimal,
  historyOf,
  mergeAnimals,
  removeAnimals,
  restoreAnimal,
  updateAnimals,
} from "../../../src/features/animals/animals.ts";
import {
  addCategory,
  categoriesInUse,
  mergeCategories,
  namedCategories,
  renameCategory,
} from "../../../src/features/animals/categories.ts";
import type { Editing } from "../../../src/features/animals/changes.ts";
import { findPets, type PageOfPets, type PetFilter } from "../../../src/features/animals/find.ts";
import { lastChange, undoChange } from "../../../src/features/animals/undo.ts";
import { int64Max } from "../../../src/domain/int64.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { petOfRow } from "../../../src/storage/pet-row.ts";

/** What a person does with animals and categories. */
export function deskOf(editing: Editing) {
  const { db } = editing;
  const by =
    <A extends unknown[], R>(work: (editing: Editing, ...args: A) => R) =>
    (...args: A) =>
      work(editing, ...args);
  const animals = {
    add: by(addAnimal),
    update: by(updateAnimals),
    remove: by(removeAnimals),
    restore: by(restoreAnimal),
    merge: by(mergeAnimals),
    undo: (options: Parameters<typeof undoChange>[1] = {}) => undoChange(editing, options),
    history: (id: bigint) => historyOf(db, id),
    lastChange: () => db.read((tx) => lastChange(tx, int64Max)),
    async find({ limit, after, ...filter }: PageOfPets & PetFilter) {
      const { pets, total } = await db.read((tx) => findPets(tx, filter, { limit, after }));
      return { pets: pets.map(petOfRow), total };
    },
  };
  const categories = {
    add: by(addCategory),
    rename: by(renameCategory),
    merge: by(mergeCategories),
    list: () => db.read(categoriesInUse),
    named: () => db.read(namedCategories),
  };
  return { animals, categories };
}

export type Desk = ReturnType<typeof deskOf>;

/** What people do with the animals of a store. */
export const animalsOf = (store: Store) =>
  deskOf({ db: store.db, clock: Date.now, actor: "tester" }).animals;
