import { AppError } from "../../../domain/errors.ts";
import { fold } from "../../../domain/names.ts";
import type { NewPet } from "../../../domain/pet.ts";
import type { AnimalHistory, AnimalService } from "../../animals/animals.ts";
import type { OnChange } from "../../animals/editing.ts";
import { animalServices, type AnimalServices } from "../../animals/open.ts";
import type { Services } from "../../../service/services.ts";
import { record, records, type RecordOf } from "../../../storage/records.ts";
import { sql, type Steps } from "../../../storage/statement.ts";
import { changes, petEvents } from "../../animals/tables.ts";
import type { AnimalChange, AnimalEvent, AnimalQuery, ChangeMade, ChangeRecord } from "../desk.ts";
import { countedMax, exportAnimals, findAmong, findAnimals } from "./find.ts";
import { NameBook } from "./name-book.ts";

/** From so many animals on, their names are kept in memory: some 40 MB for a million. */
const indexedAnimals = 50_000;

export type AnimalDesk = ReturnType<typeof animalDesk>;

/**
 * The pages' work on animals and categories: the services, with a number for each change so that it
 * can be undone. Searches among `indexedMin` animals or more use an index of names.
 */
export function animalDesk(services: Services, indexedMin = indexedAnimals) {
  const own = animalServices(services);
  return { ...reading(own, indexedMin), ...remembering(own), ...changing(own) };
}

function reading(services: AnimalServices, indexedMin: number) {
  const { store: engine, pets, categories, clock } = services;
  const book = new NameBook(engine, clock);
  // The database answers where the names cannot be read.
  const prepare = async (total: number) => {
    if (total >= indexedMin) await book.prepare().catch(() => undefined);
  };
  return {
    /** Gets ready for searches among many animals, in the background. */
    prepare: async () => prepare(await pets.count()),
    async find(query: AnimalQuery) {
      const total = await pets.count();
      void prepare(total);
      const known = query.text === "" ? undefined : await book.find(fold(query.text), countedMax);
      const search = () =>
        known === undefined ? findAnimals(query, total) : findAmong(query, known, total);
      return engine.read(search, { patient: true });
    },
    /** The animals that fit, in batches, the oldest first. */
    async *all(query: AnimalQuery) {
      const names = await categories.names();
      let after: bigint | undefined;
      do {
        const from = after;
        const { animals: batch, last } = await engine.read(() => exportAnimals(query, from, names));
        yield batch;
        after = last;
      } while (after !== undefined);
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

function remembering({ store: engine, animals }: AnimalServices) {
  return {
    /** An animal that was removed, and the change that did it, if that is still kept. */
    async removed(id: bigint) {
      const found = await quietHistory(animals, id);
      if (found?.isRemoved !== true) return undefined;
      const last = found.events.at(-1)?.change;
      const change = last === undefined ? undefined : await engine.read(() => changeOf(last));
      return { name: found.pet.name, change };
    },
    history: (id: bigint) => historyOf(animals, id),
    changeById: async (id: bigint) => engine.read(() => changeOf(id)),
    /** The newest changes by people and imports, newest first. */
    recentChanges: async (limit: number) => engine.read(() => newestChanges(limit)),
  };
}

type NewAnimal = Omit<NewPet, "categoryId"> & { readonly category: string };

function changing(services: AnimalServices) {
  const { store: engine, animals, categories } = services;
  const changeAnimals = (actor: string, work: (by: typeof animals) => Promise<unknown>) =>
    madeBy(services, (onChange) => work(animals.as(actor, onChange)));
  const changeCategories = (actor: string, work: (by: typeof categories) => Promise<unknown>) =>
    madeBy(services, (onChange) => work(categories.as(actor, onChange)));
  return {
    add: ({ category, ...animal }: NewAnimal, actor: string) =>
      changeAnimals(actor, (by) => by.add({ ...animal, category: named(category) })),
    update: (ids: readonly bigint[], { category, status, ...patch }: AnimalChange, actor: string) =>
      changeAnimals(actor, (by) =>
        by.update(ids, {
          ...patch,
          ...(category !== undefined && { category: named(category) }),
          ...(status !== undefined && { status: status === "none" ? null : status }),
        }),
      ),
    remove: (ids: readonly bigint[], actor: string) => changeAnimals(actor, (by) => by.remove(ids)),
    async undo(change: bigint, actor: string): Promise<ChangeMade> {
      await animals.as(actor).undo({ change });
      const undone = await engine.read(() => record(changes, sql`WHERE id = ${change}`));
      return { changeId: undone?.undoneIn ?? undefined };
    },
    addCategory: (name: string, actor: string) => changeCategories(actor, (by) => by.add(name)),
    renameCategory: (id: bigint, name: string, actor: string) =>
      changeCategories(actor, (by) => by.rename(String(id), name)),
    mergeCategories: (id: bigint, into: bigint, actor: string) =>
      changeCategories(actor, (by) => by.merge([String(id)], String(into))),
  };
}

const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
/** A category that a person typed. An unknown one is made. */
const named = (text: string) => ({ text, create: true });

/** Runs a change and returns its number, where it is kept: what changes nothing is not. */
async function madeBy(
  { store: engine }: Services,
  work: (onChange: OnChange) => Promise<unknown>,
): Promise<ChangeMade> {
  let changeId: bigint | undefined;
  await work((change) => (changeId = change));
  const made = changeId;
  const isKept = made !== undefined && (await engine.read(() => changeOf(made))) !== undefined;
  return { changeId: isKept ? made : undefined };
}

function* changeOf(id: bigint): Steps<ChangeRecord | undefined> {
  const change = yield* record(changes, sql`WHERE id = ${id}`);
  if (change === undefined) return undefined;
  // An undo is shown by what it took back.
  const origin =
    change.undoes === null ? change : yield* record(changes, sql`WHERE id = ${change.undoes}`);
  const { atMs, actor, action, undoes, undoneIn } = change;
  return {
    id,
    atMs,
    actor,
    action,
    ...(yield* subjectOf(origin ?? change)),
    left: Number(change.summary["left"] ?? 0),
    isUndone: undoneIn !== null,
    undoes: undoes ?? undefined,
  };
}

function* newestChanges(limit: number): Steps<ChangeRecord[]> {
  const newest = yield* records(changes, sql`ORDER BY id DESC LIMIT ${limit}`);
  const all: ChangeRecord[] = [];
  for (const { id } of newest) {
    const change = yield* changeOf(id);
    if (change !== undefined) all.push(change);
  }
  return all;
}

/** How many animals a change concerns, and the name of a single one or of a category. */
function* subjectOf({
  id,
  summary,
}: RecordOf<typeof changes>): Steps<Pick<ChangeRecord, "animals" | "name">> {
  const counts = ["added", "updated", "removed", "restored", "withdrawn"].map((each) =>
    Number(summary[each] ?? 0),
  );
  const animals = counts.reduce((sum, count) => sum + count, 0);
  const { name, after } = summary;
  const own = [name, after].find((each) => typeof each === "string");
  if (own !== undefined || animals !== 1) return { animals, name: own };
  return { animals, name: yield* onlyName(id) };
}

function* onlyName(change: bigint): Steps<string | undefined> {
  const event = yield* record(petEvents, sql`WHERE change_id = ${change} LIMIT 1`);
  const fields = event?.after ?? event?.before;
  return typeof fields?.["name"] === "string" ? fields["name"] : undefined;
}

/** Undefined for an id that no animal ever had. */
async function quietHistory(
  animals: AnimalService,
  id: bigint,
): Promise<AnimalHistory | undefined> {
  try {
    return await animals.history(id);
  } catch (error) {
    if (error instanceof AppError && error.kind === "not_found") return undefined;
    throw error;
  }
}

/** What became of an animal, the newest first; its own row says how it came. */
async function historyOf(animals: AnimalService, id: bigint): Promise<AnimalEvent[]> {
  const { created, events } = await animals.history(id);
  const { atMs, by, action } = created;
  return [
    ...events.toReversed(),
    { atMs, actor: by, action: action ?? "add", did: undefined, changed: [] },
  ];
}
