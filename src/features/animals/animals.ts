import { AppError } from "../../domain/errors.ts";
import { int64Min } from "../../domain/int64.ts";
import type { NewPet, Pet, PetStatus } from "../../domain/pet.ts";
import {
  eventsOfPet,
  findPets,
  type FoundPets,
  missingPets,
  petOrRemoved,
  petRows,
} from "./statements/find.ts";
import {
  carryOut,
  describeChange,
  dropChange,
  planRemoval,
  planReturn,
  planUpdate,
  type PetPatch,
} from "./statements/changes.ts";
import { petOfRow } from "../../storage/pet-row.ts";
import { record } from "../../storage/records.ts";
import { countAnimals, list, sql, type Steps, insertPet } from "../../storage/statement.ts";
import { apiKeys } from "../../storage/tables.ts";
import { changes } from "./tables.ts";
import { type CategoryReference, resolveCategory } from "./categories.ts";
import { authorOf, changing, type Editing, type OnChange } from "./editing.ts";
import { type HistoryEvent, eventsOf } from "./events.ts";
import { takeBack, type UndoOptions, type UndoReport } from "./undo.ts";

export type { FoundPets, HistoryEvent, UndoReport };

/** What to set in animals. What is absent stays. */
type AnimalPatch = Omit<PetPatch, "categoryId"> & {
  readonly category?: CategoryReference | undefined;
};

interface AnimalQuery {
  /** Anywhere in the name, whatever its case and accents. */
  readonly name?: string | undefined;
  /** An id or a name. */
  readonly category?: string | undefined;
  /** Null: only those without a status. */
  readonly status?: PetStatus | null | undefined;
  readonly limit: number;
  /** Only ids above it. */
  readonly after?: bigint | undefined;
}

/** The history of an animal: its origin, and every stored change, oldest first. */
export interface AnimalHistory {
  /** As it is now, or as it was when it was removed. */
  readonly pet: Pet;
  readonly isRemoved: boolean;
  readonly created: {
    /** Unknown for animals of version 1.0.0. */
    readonly atMs: number | undefined;
    /** A person, an account or `key LABEL`; unknown where it is no longer kept. */
    readonly by: string | undefined;
    /** What it was: `create` through the interface, `add`, `import`. */
    readonly action: string | undefined;
    /** The change that it was a part of; undefined for a create through the interface. */
    readonly change: bigint | undefined;
  };
  readonly events: readonly HistoryEvent[];
}

/**
 * Work on animals. Every change is one transaction, all or nothing, with one event per animal.
 * Throws AppError `not_found` when an animal does not exist, and then changes nothing.
 */
export class AnimalService {
  readonly #editing: Editing;

  constructor(editing: Editing) {
    this.#editing = editing;
  }

  /** The same for another person. `onChange` is told the number of each change that they make. */
  as(actor: string, onChange?: OnChange): AnimalService {
    return new AnimalService({ ...this.#editing, actor, onChange });
  }

  /** A page of animals in the order of their ids, and how many there are in all. */
  async find({ category, limit, after, ...filter }: AnimalQuery): Promise<FoundPets> {
    const categoryId =
      category === undefined
        ? undefined
        : (await this.#editing.store.read(() => resolveCategory({ text: category }))).id;
    return findPets(
      this.#editing.store,
      { ...filter, categoryId },
      { limit, after: after ?? int64Min },
    );
  }

  async add({
    category,
    ...fields
  }: Omit<NewPet, "categoryId"> & { readonly category: CategoryReference }): Promise<Pet> {
    return changing(this.#editing, "add", function* (change, by) {
      const { id: categoryId, made } = yield* resolveCategory(category);
      const pet = { ...fields, categoryId };
      const id = yield* insertPet({ ...pet, createdAtMs: by.nowMs, createdIn: change });
      yield* countAnimals(1);
      yield* describeChange(change, { added: 1, name: pet.name, id }, made);
      return { id, ...pet };
    });
  }

  /** Changes animals. Returns them as they are now, in the order of `ids`. */
  async update(ids: readonly bigint[], { category, ...fields }: AnimalPatch): Promise<Pet[]> {
    return changing(this.#editing, "update", function* (change, by) {
      yield* requireAll(ids);
      const resolved = category && (yield* resolveCategory(category));
      const set = { ...fields, categoryId: resolved?.id };
      const planned = yield* planUpdate(change, sql`animal.id IN ${list(ids)}`, set);
      if (planned === 0) yield* dropChange(change);
      else {
        const counts = yield* carryOut(change, by);
        yield* describeChange(change, { ...counts, set }, resolved?.made);
      }
      return yield* inOrder(ids);
    });
  }

  /** Removes animals. Returns them as they were, in the order of `ids`. */
  async remove(ids: readonly bigint[]): Promise<Pet[]> {
    return changing(this.#editing, "remove", function* (change, by) {
      yield* requireAll(ids);
      const removed = yield* inOrder(ids);
      yield* planRemoval(change, sql`animal.id IN ${list(ids)}`);
      yield* describeChange(change, { ...(yield* carryOut(change, by)) });
      return removed;
    });
  }

  /** Restores a removed animal with its id. */
  async restore(id: bigint): Promise<Pet> {
    return changing(this.#editing, "restore", function* (change, by) {
      const found = yield* petOrRemoved(id);
      if (found === undefined) throw noSuchAnimal([id], neverOrForgotten);
      if (!found.isRemoved) {
        throw new AppError("invalid_request", `The animal ${id} is there; it was not removed.`);
      }
      if ((yield* planReturn(change, sql`animal.id = ${id}`)) === 0) {
        throw new AppError(
          "invalid_request",
          `Another animal now has the external id of ${id}, ${JSON.stringify(found.pet.externalId)}.`,
          { hint: "Remove that one first." },
        );
      }
      yield* describeChange(change, { ...(yield* carryOut(change, by)) });
      return petOfRow(found.pet);
    });
  }

  /** Everything that is known of an animal's past. */
  async history(id: bigint): Promise<AnimalHistory> {
    return this.#editing.store.read(function* () {
      const found = yield* petOrRemoved(id);
      if (found === undefined) throw noSuchAnimal([id], neverOrForgotten);
      const { pet, isRemoved } = found;
      const events = eventsOf(yield* eventsOfPet(id));
      const cause =
        pet.createdIn === null
          ? undefined
          : yield* record(changes, sql`WHERE id = ${pet.createdIn}`);
      const key =
        pet.createdBy === null
          ? undefined
          : yield* record(apiKeys, sql`WHERE id = ${pet.createdBy}`);
      const by = pet.createdBy === null ? cause?.actor : `key ${key?.name ?? pet.createdBy}`;
      const action = pet.createdBy === null ? cause?.action : "create";
      return {
        pet: petOfRow(pet),
        isRemoved,
        created: { atMs: pet.createdAtMs ?? undefined, by, action, change: cause?.id },
        events,
      };
    });
  }

  /** Undoes a change, by default the last one; see undo.ts. */
  async undo(options: UndoOptions = {}): Promise<UndoReport> {
    return takeBack(this.#editing.store, authorOf(this.#editing), options);
  }
}

/** Where its past was looked for too. */
const neverOrForgotten =
  "rehome pets list shows the animals. Removed ones are kept for at least 90 days.";

function* inOrder(ids: readonly bigint[]): Steps<Pet[]> {
  const found = yield* petRows(sql`WHERE id IN ${list(ids)}`);
  const byId = new Map(found.map((pet) => [pet.id, pet] as const));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function* requireAll(ids: readonly bigint[]): Steps<void> {
  const missing = yield* missingPets(ids);
  if (missing.length > 0) throw noSuchAnimal(missing);
}

/** The error for ids that no animal has: it may have been removed, unless `advice` says more. */
export function noSuchAnimal(
  ids: readonly bigint[],
  advice = `rehome pets list, or rehome pets history ${ids[0]} if it was removed`,
): AppError {
  const shown =
    ids.length > 1
      ? `no animals with the ids ${ids.join(", ")}`
      : `no animal with the id ${ids[0]}`;
  return new AppError("not_found", `There ${ids.length > 1 ? "are" : "is"} ${shown}.`, {
    hint: advice,
  });
}
