import { desc, eq } from "drizzle-orm";
import { AppError } from "../../domain/errors.ts";
import type { Pet, PetStatus } from "../../domain/pet.ts";
import type { Services } from "../../service/services.ts";
import { columnsOf, longWork, type Tx } from "../../storage/database.ts";
import { petOfRow } from "../../storage/pet-row.ts";
import type { ChangeRow, Editing } from "../animals/changes.ts";
import { findPets, type PetFilter } from "../animals/find.ts";
import {
  changeById,
  differences,
  type FieldChange,
  type HistoryEvent,
} from "../animals/history.ts";
import { animalServices, type AnimalServices } from "../animals/open.ts";
import { type ExportedPet, exportedPet } from "../import/write/export.ts";
import { refuseRemoved } from "./people.ts";

export interface AnimalQuery {
  readonly text: string;
  readonly categoryId: bigint | undefined;
  /** `"none"` finds the animals without a status. */
  readonly status: PetStatus | "none" | undefined;
  readonly limit: number;
  /** Only animals with a lower id: the next page of the newest first. */
  readonly before: bigint | undefined;
}

export interface FoundAnimals {
  readonly animals: readonly Pet[];
  /** How many fit the query; with `isMore` there are more, and nobody counted them. */
  readonly found: number;
  readonly isMore: boolean;
  readonly total: number;
  readonly more: boolean;
}

export interface ChangeRecord extends Pick<ChangeRow, "id" | "atMs" | "actor" | "action"> {
  readonly animals: number;
  /** Animals that an undo left as they were, because they were changed since. */
  readonly left: number;
  /** The name of its only animal. */
  readonly name: string | undefined;
  /** The names of its first animals. */
  readonly names: readonly string[];
  /** What it changed of its only animal. */
  readonly changed: readonly FieldChange[];
  readonly isUndone: boolean;
  readonly undoes: bigint | undefined;
}

export interface AnimalEvent extends Pick<HistoryEvent, "action" | "did" | "changed"> {
  readonly atMs: number | undefined;
  readonly actor: string | undefined;
}

export interface ChangeMade {
  /** Undefined where nothing was changed. */
  readonly changeId: bigint | undefined;
}

/** Animals that a change of several names. */
const namedMax = 5;
/** Animals with a text in their name are counted up to here; nobody reads through more. */
const countMax = 1_000;

export type AnimalActions = ReturnType<typeof animalActions>;

/**
 * The pages' work on animals and categories: the services, with a number for each change so that it
 * can be undone.
 */
export function animalActions(services: Services) {
  const own = animalServices(services);
  return { ...reading(own), ...remembering(own), ...changing(own) };
}

function reading({ store: { db }, pets, categories }: AnimalServices) {
  return {
    async find(query: AnimalQuery): Promise<FoundAnimals> {
      const { limit, before } = query;
      const page = { limit: limit + 1, after: before, newestFirst: true, countMax };
      const found = await db.read((tx) => findPets(tx, filterOf(query), page), longWork);
      return {
        animals: found.pets.slice(0, limit).map(petOfRow),
        more: found.pets.length > limit,
        found: query.text === "" ? found.total : Math.min(found.total, countMax),
        isMore: query.text !== "" && found.total > countMax,
        total: await pets.count(),
      };
    },
    /** The animals that fit, in batches, the oldest first. */
    async *all(query: AnimalQuery): AsyncGenerator<ExportedPet[]> {
      const names = await categories.names();
      const { limit } = query;
      for (let after: bigint | undefined; ;) {
        const page = { limit, after, countMax: 0 };
        const found = await db.read((tx) => findPets(tx, filterOf(query), page), longWork);
        yield found.pets.map((row) => exportedPet(row, names.get(row.categoryId)));
        if (found.pets.length < limit) return;
        after = found.pets.at(-1)?.id;
      }
    },
    byId: async (id: bigint) => pets.byId(id),
    categories: async () => (await categories.named()).toSorted(byName),
    async countedCategories() {
      const all = await categories.list();
      return all
        .flatMap(({ id, name, animals: count }) =>
          name === undefined ? [] : [{ id, name, animals: count }],
        )
        .toSorted(byName);
    },
  };
}

/** A text is a part of a name, or an id. */
function filterOf({ text, categoryId, status }: AnimalQuery): PetFilter {
  const orId = /^\d{1,18}$/.test(text) ? BigInt(text) : undefined;
  return { name: text, orId, categoryId, status: status === "none" ? null : status };
}

function remembering({ store: { db }, animals }: AnimalServices) {
  const recordById = (id: bigint) =>
    db.read(async (tx) => {
      const change = await changeById(tx, id);
      return change && recordOf(tx, change);
    });
  return {
    /** An animal that was removed, and the change that did it, if that is still stored. */
    async removed(id: bigint) {
      const found = await animals.history(id).catch((error: unknown) => {
        if (error instanceof AppError && error.kind === "not_found") return undefined;
        throw error;
      });
      if (found?.isRemoved !== true) return undefined;
      const last = found.events.at(-1)?.change;
      const change = last === undefined ? undefined : await recordById(last);
      return { name: found.pet.name, change };
    },
    /** What became of an animal, the newest first; its own row says how it came. */
    async history(id: bigint): Promise<AnimalEvent[]> {
      const { created, events } = await animals.history(id);
      const { atMs, by, action = "add" } = created;
      return [...events.toReversed(), { atMs, actor: by, action, did: undefined, changed: [] }];
    },
    recordById,
    /** The newest changes by people and imports, newest first. */
    recentChanges: (limit: number) =>
      db.read(async (tx) => {
        const { changes } = tx.t;
        const newest = tx.select(columnsOf(changes)).from(changes);
        const all: ChangeRecord[] = [];
        for (const change of await newest.orderBy(desc(changes.id)).limit(limit)) {
          all.push(await recordOf(tx, change));
        }
        return all;
      }),
  };
}

/** Makes a change by `actor`. Throws when they were removed meanwhile. */
export async function changeBy(
  actor: string,
  work: (editing: Pick<Editing, "onChange" | "allows">) => Promise<unknown>,
): Promise<ChangeMade> {
  let changeId: bigint | undefined;
  const onChange = (change: bigint) => void (changeId = change);
  await work({ onChange, allows: (tx) => refuseRemoved(tx, actor) });
  return { changeId };
}

/** Who changes animals and categories, in the name of one person. */
export type Changing = Pick<AnimalServices, "animals" | "categories">;

function changing({ animals, categories }: AnimalServices) {
  return {
    change: (actor: string, work: (by: Changing) => Promise<unknown>) =>
      changeBy(actor, (editing) =>
        work({
          animals: animals.as(actor, editing),
          categories: categories.as(actor, editing),
        }),
      ),
  };
}

const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
/** A category that a person typed. An unknown one is made. */
export const named = (text: string) => ({ text, create: true });

async function recordOf(tx: Tx, change: ChangeRow): Promise<ChangeRecord> {
  const { id, atMs, actor, action, undoes, undoneIn, summary } = change;
  // An undo is shown by what it took back.
  const origin = undoes === null ? undefined : await changeById(tx, undoes);
  return {
    id,
    atMs,
    actor,
    action,
    ...(await subjectOf(tx, origin ?? change)),
    left: Number(summary["left"] ?? 0),
    isUndone: undoneIn !== null,
    undoes: undoes ?? undefined,
  };
}

/** How many animals a change concerns, and the name of a single one or of a category. */
async function subjectOf(
  tx: Tx,
  { id, summary }: ChangeRow,
): Promise<Pick<ChangeRecord, "animals" | "name" | "names" | "changed">> {
  const counts = ["added", "updated", "removed", "restored", "withdrawn"].map((each) =>
    Number(summary[each] ?? 0),
  );
  const animals = counts.reduce((sum, count) => sum + count, 0);
  const { name, after } = summary;
  const own = [name, after].find((each) => typeof each === "string");
  const { petEvents } = tx.t;
  const select = tx.select(columnsOf(petEvents)).from(petEvents);
  const events = await select.where(eq(petEvents.changeId, id)).limit(namedMax);
  const names = events.flatMap(({ before, after }) => {
    const called = (after ?? before)?.["name"];
    return typeof called === "string" ? [called] : [];
  });
  const [first] = events;
  const isOne = animals === 1;
  return {
    animals,
    name: own ?? (isOne ? names[0] : undefined),
    names,
    changed: isOne ? differences(first?.before ?? undefined, first?.after ?? undefined) : [],
  };
}
