import { eq, inArray } from "drizzle-orm";
import { AppError } from "../../domain/errors.ts";
import { type NewPet, type Pet, type PetStatus } from "../../domain/pet.ts";
import { longWork } from "../long-work.ts";
import { type Tx } from "../../storage/database.ts";
import { petOfRow } from "../../storage/pet-row.ts";
import { type CategoryReference, resolveCategory } from "./categories.ts";
import { type Editing, makeChange, type PetPatch, type PetRow, stateOf } from "./changes.ts";
import { findPets } from "./find.ts";
import { type AnimalHistory, historyOf, petOrRemoved } from "./history.ts";
import { undoChange, type UndoOptions, type UndoReport } from "./undo.ts";

/** What to set in animals. What is absent stays. */
type AnimalPatch = Omit<PetPatch, "categoryId"> & {
  readonly category?: CategoryReference | undefined;
};

interface AnimalQuery {
  /** Anywhere in the name, whatever its case and accents. */
  readonly name?: string | undefined;
  readonly category?: string | undefined;
  /** Null: only those without a status. */
  readonly status?: PetStatus | null | undefined;
  readonly limit: number;
  readonly after?: bigint | undefined;
}

export interface FoundAnimals {
  readonly pets: readonly Pet[];
  /** How many there are in all that the query means, whatever page is shown. */
  readonly total: number;
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

  /** The same for another person; see `Editing`. */
  as(actor: string, more: Pick<Editing, "onChange" | "allows"> = {}): AnimalService {
    return new AnimalService({ ...this.#editing, actor, ...more });
  }

  /** A page of animals in the order of their ids, and how many there are in all. */
  async find({ category, limit, after, ...filter }: AnimalQuery): Promise<FoundAnimals> {
    return this.#editing.db.read(async (tx) => {
      const categoryId =
        category === undefined ? undefined : await resolveCategory(tx, { text: category });
      const found = await findPets(tx, { ...filter, categoryId }, { limit, after });
      return { pets: found.pets.map(petOfRow), total: found.total };
    }, longWork);
  }

  async add({
    category,
    ...fields
  }: Omit<NewPet, "categoryId"> & { readonly category: CategoryReference }): Promise<Pet> {
    return makeChange(this.#editing, "add", async (change) => {
      const categoryId = await resolveCategory(change.tx, category, change);
      const pet = { ...fields, categoryId };
      const id = await change.addOne(pet);
      change.summary = { name: pet.name, id };
      return { id, ...pet };
    });
  }

  async update(ids: readonly bigint[], { category, ...fields }: AnimalPatch): Promise<Pet[]> {
    return makeChange(this.#editing, "update", async (change) => {
      const { tx } = change;
      await rowsWith(tx, ids);
      const categoryId = category && (await resolveCategory(tx, category, change));
      change.summary = { set: { ...fields, categoryId } };
      await change.planUpdate(inArray(tx.t.pets.id, ids), { ...fields, categoryId });
      await change.carryOut();
      return (await rowsWith(tx, ids)).map(petOfRow);
    });
  }

  /** Removes animals. Returns them as they were, in the order of `ids`. */
  async remove(ids: readonly bigint[]): Promise<Pet[]> {
    return makeChange(this.#editing, "remove", async (change) => {
      const rows = await rowsWith(change.tx, ids);
      await change.plan(rows.map((row) => ({ petId: row.id, before: stateOf(row), after: null })));
      return rows.map(petOfRow);
    });
  }

  /**
   * Makes one animal of two entries of it: `into` stays, and gets what it lacks of the other, which
   * goes. It gets its id in a list too, so that the next import of the list finds it.
   */
  async merge(from: bigint, into: bigint): Promise<Pet> {
    return makeChange(this.#editing, "merge", async (change) => {
      const [stays, other] = (await rowsWith(change.tx, [into, from])) as [PetRow, PetRow];
      if (from === into) {
        throw new AppError("invalid_request", `Name another animal to merge with ${into}.`);
      }
      if (stays.externalId !== null && other.externalId !== null) {
        const message = `The animals ${into} and ${from} both come from a list, as ${stays.externalId} and ${other.externalId}.`;
        const hint = "The next import of the list would bring the other one back.";
        throw new AppError("invalid_request", message, { hint, code: "bothListed" });
      }
      const { externalId, source } = other.externalId === null ? stays : other;
      const status = stays.status ?? other.status;
      await change.plan([{ petId: from, before: stateOf(other), after: null }]);
      await change.planUpdate(eq(change.tx.t.pets.id, into), {
        ...stateOf(stays),
        status,
        externalId,
        source,
      });
      change.summary = { name: stays.name };
      await change.carryOut();
      return petOfRow((await rowsWith(change.tx, [into]))[0] as PetRow);
    });
  }

  async restore(id: bigint): Promise<Pet> {
    return makeChange(this.#editing, "restore", async (change) => {
      const { row, isRemoved } = petKnown(await petOrRemoved(change.tx, id), id);
      if (!isRemoved) {
        throw new AppError("invalid_request", `The animal ${id} is there; it was not removed.`);
      }
      await change.plan([{ petId: id, before: null, after: stateOf(row) }]);
      if ((await change.dropTaken()) > 0) {
        const message = `Another animal now has the external id of ${id}, ${JSON.stringify(row.externalId)}.`;
        throw new AppError("invalid_request", message, { hint: "Remove that one first." });
      }
      return petOfRow(row);
    });
  }

  async history(id: bigint): Promise<AnimalHistory> {
    return petKnown(await this.#editing.db.read((tx) => historyOf(tx, id)), id);
  }

  /** Undoes a change, by default the last one; see undo.ts. */
  async undo(options: UndoOptions = {}): Promise<UndoReport> {
    return undoChange(this.#editing, options);
  }
}

async function rowsWith(tx: Tx, ids: readonly bigint[]): Promise<PetRow[]> {
  const { pets } = tx.t;
  const rows = await tx.select().from(pets).where(inArray(pets.id, ids));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const missing = ids.filter((id) => !byId.has(id));
  if (missing.length > 0) throw noSuchAnimal(missing);
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function petKnown<T>(pet: T | undefined, id: bigint): T {
  if (pet !== undefined) return pet;
  // Its past was looked for too.
  const advice =
    "rehome pets list shows the animals. Removed ones are stored for at least 90 days.";
  throw noSuchAnimal([id], advice);
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
