import { and, desc, eq, isNotNull, lt, or } from "drizzle-orm";
import { AppError } from "../../domain/errors.ts";
import { parseInt64 } from "../../domain/int64.ts";
import type { Pet, PetStatus } from "../../domain/pet.ts";
import type { Services } from "../../service/services.ts";
import { columnsOf, type Database, type Tx } from "../../storage/database.ts";
import { longWork } from "../long-work.ts";
import { petOfRow } from "../../storage/pet-row.ts";
import { type ChangeRow, type Editing, editingOf } from "../animals/changes.ts";
import {
  categoriesInUse,
  type Category,
  categoryById,
  categoryByName,
  categoryKey,
  categoryNames,
  namedCategories,
} from "../animals/categories.ts";
import { findPets, type PetFilter } from "../animals/find.ts";
import {
  changeById,
  differences,
  type FieldChange,
  type HistoryEvent,
  historyOf,
} from "../animals/animals.ts";
import { idPrefix } from "../import/understand/record.ts";
import { type ExportedPet, exportedPet } from "../import/export.ts";
import { fold } from "../visible.ts";
import { refuseRemoved } from "./people.ts";

export interface AnimalQuery {
  readonly text: string;
  readonly categoryId: bigint | undefined;
  /** `"none"` finds the animals without a status. */
  readonly status: PetStatus | "none" | undefined;
  readonly limit: number;
  /** Only animals with a lower id: the next page of the newest first. */
  readonly before: bigint | undefined;
  /** In the order of names, from the one on that has this many before it. */
  readonly byNameFrom?: number | undefined;
}

export interface FoundAnimals {
  readonly animals: readonly Pet[];
  readonly found: number;
  readonly total: number;
  readonly more: boolean;
  /** How many there are of each status, whatever status is asked for. */
  readonly counts: ReadonlyMap<PetStatus | null, number>;
}

export interface ChangeRecord extends Pick<ChangeRow, "id" | "atMs" | "actor" | "action"> {
  readonly animals: number;
  /** Animals that an undo left as they were, because they were changed since. */
  readonly left: number;
  readonly name: string | undefined;
  readonly names: readonly string[];
  readonly changed: readonly FieldChange[];
  readonly isUndone: boolean;
  readonly undoes: bigint | undefined;
  readonly merged: { readonly from: string; readonly into: string } | undefined;
  /** The first of those that an import left as people had changed them. */
  readonly kept: readonly { readonly name: string; readonly by: string | null }[];
}

export interface AnimalEvent extends Pick<HistoryEvent, "action" | "did" | "changed"> {
  readonly change: bigint | undefined;
  readonly atMs: number | undefined;
  readonly actor: string | undefined;
}

export interface ChangeMade {
  readonly changeId: bigint | undefined;
}

const namedMax = 5;
/** Animals whose name has another one in it, which are looked at to find the one that is it. */
const alikeMax = 100;

/** What pages do with animals and categories; each change has a number, to undo it. */
export class AnimalActions {
  readonly #services: Services;
  readonly #db: Database;

  constructor(services: Services) {
    this.#services = services;
    this.#db = services.store.db;
  }

  async find(query: AnimalQuery): Promise<FoundAnimals> {
    const { limit, before, byNameFrom, text } = query;
    const page = { limit: limit + 1, after: before, newestFirst: true, byNameFrom };
    const found = await this.#db.read((tx) => findPets(tx, filterOf(query), page), longWork);
    // Counts are of all statuses: those of everybody are everybody.
    const isEverybody = text === "" && query.categoryId === undefined;
    return {
      counts: found.counts,
      animals: found.pets.slice(0, limit).map(petOfRow),
      more: found.pets.length > limit,
      found: found.total,
      total: isEverybody
        ? found.counts.values().reduce((sum, each) => sum + each, 0)
        : await this.#services.pets.count(),
    };
  }

  async *all(query: AnimalQuery): AsyncGenerator<ExportedPet[]> {
    const names = await categoryNames(this.#db);
    const { limit } = query;
    for (let after: bigint | undefined; ;) {
      const page = { limit, after, isCounted: false };
      const found = await this.#db.read((tx) => findPets(tx, filterOf(query), page), longWork);
      yield found.pets.map((row) => exportedPet(row, names.get(row.categoryId)));
      if (found.pets.length < limit) return;
      after = found.pets.at(-1)?.id;
    }
  }

  byId(id: bigint): Promise<Pet | undefined> {
    return this.#services.pets.byId(id);
  }

  async byIds(ids: readonly bigint[]): Promise<Pet[]> {
    return (await Promise.all(ids.map((id) => this.byId(id)))).filter((each) => each !== undefined);
  }

  named(name: string, category: string): Promise<Pet | undefined> {
    return this.#db.read(async (tx) => {
      const known = await categoryByName(tx, category);
      if (known === undefined) return undefined;
      const filter = { name, categoryId: known.id };
      const { pets: found } = await findPets(tx, filter, { limit: alikeMax, isCounted: false });
      const same = found.find((each) => fold(each.name) === fold(name));
      return same && petOfRow(same);
    });
  }

  /** The list that an animal came with, its id there, and what the list said of it last. */
  origin(id: bigint) {
    return this.#db.read(async (tx) => {
      const { externalId, source } = tx.t.pets;
      const own = tx.select({ externalId, source }).from(tx.t.pets).where(eq(tx.t.pets.id, id));
      const [came] = await own;
      if (came === undefined || came.source === null) return undefined;
      const { listEntries: said } = tx.t;
      const isIt = or(eq(said.petId, id), eq(said.entry, came.externalId ?? ""));
      const [last] = await tx
        .select({ presence: said.presence, status: said.status })
        .from(said)
        .where(and(eq(said.source, came.source), isIt))
        .orderBy(desc(said.changeId))
        .limit(1);
      return {
        source: came.source,
        externalId: came.externalId?.replace(idPrefix(came.source), ""),
        said: last,
      };
    });
  }

  async categories(): Promise<Category[]> {
    return (await this.#db.read(namedCategories)).toSorted(byName);
  }

  async countedCategories() {
    const all = await this.#db.read(categoriesInUse, longWork);
    const named = all.flatMap(({ id, name, animals }) =>
      name === undefined ? [] : [{ id, name, animals }],
    );
    return named.toSorted(byName);
  }

  /** Categories that were merged or taken away, by the names that they had. */
  formerCategories(): Promise<Category[]> {
    return this.#db.read(async (tx) => {
      const { categories } = columnsOf(tx.t.changes);
      const rows = await tx
        .select({ categories })
        .from(tx.t.changes)
        .where(isNotNull(tx.t.changes.categories));
      return rows
        .flatMap((row) => row.categories ?? [])
        .flatMap(({ id, before }) =>
          typeof before === "string" ? [{ id: BigInt(String(id)), name: before }] : [],
        );
    });
  }

  async removed(id: bigint) {
    const found = await historyOf(this.#db, id).catch((error: unknown) => {
      if (error instanceof AppError && error.kind === "not_found") return undefined;
      throw error;
    });
    if (found?.isRemoved !== true) return undefined;
    const last = found.events.at(-1)?.change;
    const change = last === undefined ? undefined : await this.recordById(last);
    return { name: found.pet.name, change };
  }

  /** What became of an animal, the newest first; its own row says how it came. */
  async history(id: bigint): Promise<AnimalEvent[]> {
    const { created, events } = await historyOf(this.#db, id);
    const { atMs, by, action = "add" } = created;
    const came = { atMs, actor: by, action, change: created.change, did: undefined, changed: [] };
    return [...events.toReversed(), came];
  }

  recordById(id: bigint): Promise<ChangeRecord | undefined> {
    return this.#db.read(async (tx) => {
      const change = await changeById(tx, id);
      return change && recordOf(tx, change);
    });
  }

  recentChanges(limit: number, before?: bigint): Promise<ChangeRecord[]> {
    return this.#db.read(async (tx) => {
      const { changes } = tx.t;
      const isBefore = before === undefined ? undefined : lt(changes.id, before);
      const newest = tx.select(columnsOf(changes)).from(changes).where(isBefore);
      const all: ChangeRecord[] = [];
      for (const change of await newest.orderBy(desc(changes.id)).limit(limit)) {
        all.push(await recordOf(tx, change));
      }
      return all;
    });
  }

  change(actor: string, work: (by: Editing) => Promise<unknown>): Promise<ChangeMade> {
    return changeBy({ ...editingOf(this.#services), actor }, work);
  }
}

/** A text is a part of a name, an id, or the id in a list. */
function filterOf({ text, categoryId, status }: AnimalQuery): PetFilter {
  return { name: text, orId: true, categoryId, status: status === "none" ? null : status };
}

/** Makes a change by a person. Throws when they were removed meanwhile. */
export async function changeBy(
  editing: Editing,
  work: (by: Editing) => Promise<unknown>,
): Promise<ChangeMade> {
  let changeId: bigint | undefined;
  const onChange = (change: bigint) => void (changeId = change);
  await work({ ...editing, onChange, allows: (tx) => refuseRemoved(tx, editing.actor) });
  return { changeId };
}

/** One of these that a new name of a category is one slip away from. */
export function alikeCategory(name: string, here: readonly Category[]): Category | undefined {
  const key = categoryKey(name);
  if (here.some((each) => categoryKey(each.name) === key)) return undefined;
  return here.find((each) => isOneSlipApart(categoryKey(each.name), key));
}

/** True where one letter is another, missing or too many, or two have changed places. */
function isOneSlipApart(one: string, other: string): boolean {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  let [a, b] = [one.slice(start), other.slice(start)];
  while (a !== "" && a.at(-1) === b.at(-1)) [a, b] = [a.slice(0, -1), b.slice(0, -1)];
  const isTurned = a.length === 2 && b.length === 2 && a === `${b[1]}${b[0]}`;
  return Math.min(one.length, other.length) >= 3 && (isTurned || Math.max(a.length, b.length) <= 1);
}

const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
/** A category that a person typed. An unknown one is made. */
export const named = (text: string) => ({ text, create: true });

async function recordOf(tx: Tx, change: ChangeRow): Promise<ChangeRecord> {
  const { undoes, undoneIn, summary } = change;
  // An undo is shown by what it took back.
  const origin = undoes === null ? undefined : await changeById(tx, undoes);
  return {
    ...change,
    ...(await subjectOf(tx, origin ?? change)),
    left: Number(summary["left"] ?? 0),
    kept: (summary["keptAnimals"] ?? []) as ChangeRecord["kept"],
    isUndone: undoneIn !== null,
    undoes: undoes ?? undefined,
    merged: await mergedIn(tx, change),
  };
}

/** Names of the categories of a merge; of one that is gone by now, its number. */
async function mergedIn(
  tx: Tx,
  { action, summary, categories }: ChangeRow,
): Promise<ChangeRecord["merged"]> {
  if (action !== "merge categories") return undefined;
  const wanted = String(summary["into"]);
  const id = parseInt64(wanted);
  const into = id === undefined ? undefined : await categoryById(tx, id);
  const gone = (categories ?? []).flatMap(({ before, after }) =>
    after === undefined && typeof before === "string" ? [before] : [],
  );
  return { from: gone.join(", "), into: into?.name ?? wanted };
}

/** How many animals a change concerns, and the name of a single one or of a category. */
async function subjectOf(
  tx: Tx,
  { id, summary, action }: ChangeRow,
): Promise<Pick<ChangeRecord, "animals" | "name" | "names" | "changed">> {
  const counts = ["added", "updated", "removed", "restored", "withdrawn"].map((each) =>
    Number(summary[each] ?? 0),
  );
  const animals = counts.reduce((sum, count) => sum + count, 0);
  const { name, after } = summary;
  const called = [name, after].find((each) => typeof each === "string");
  const { petEvents } = tx.t;
  const own = eq(petEvents.changeId, id);
  const select = tx.select(columnsOf(petEvents)).from(petEvents).where(own);
  const events = await select.orderBy(petEvents.petId).limit(namedMax);
  const names = events.flatMap(({ before, after }) => {
    const each = (after ?? before)?.["name"];
    return typeof each === "string" ? [each] : [];
  });
  const [first] = events;
  const isOne = animals === 1;
  return {
    animals,
    name: called ?? (isOne ? names[0] : undefined),
    names,
    // An update gives several animals one value.
    changed:
      isOne || action === "update"
        ? differences(first?.before ?? undefined, first?.after ?? undefined)
        : [],
  };
}
