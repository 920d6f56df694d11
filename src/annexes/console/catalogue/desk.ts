import type { Services } from "../../../service/services.ts";
import { record, records } from "../../../storage/records.ts";
import { rows, sql, type Steps } from "../../../storage/statement.ts";
import { categories, changes, petEvents, pets } from "../../../storage/tables.ts";
import type { AnimalDesk, AnimalEvent, ChangeRecord, CountedCategory } from "../desk.ts";
import {
  addAnimal,
  addCategory,
  mergeCategories,
  removeAnimals,
  renameCategory,
  updateAnimals,
} from "./change.ts";
import { exportAnimals, findAnimals, petOf } from "./find.ts";
import { listCategories, snapshotFrom } from "./record.ts";
import { undoChange } from "./undo.ts";

/** What the pages do with animals and categories, each in one transaction on whichever database the store is. */
export function animalDesk({ engine, clock, pets: kept }: Services): AnimalDesk {
  const by = (actor: string) => ({ actor, nowMs: clock() });
  return {
    async find(query) {
      const total = await kept.count();
      return engine.read(() => findAnimals(query, total), { patient: true });
    },
    async *all(query) {
      let after: bigint | undefined;
      do {
        const from = after;
        const { animals, last } = await engine.read(() => exportAnimals(query, from));
        yield animals;
        after = last;
      } while (after !== undefined);
    },
    byId: async (id) => kept.byId(id),
    categories: async () => engine.read(listCategories),
    countedCategories: async () => engine.read(countedCategories, { patient: true }),
    history: async (id) => engine.read(() => historyOf(id)),
    changeById: async (id) => engine.read(() => changeOf(id)),
    add: async (animal, actor) => engine.transact(() => addAnimal(animal, by(actor))),
    update: async (ids, change, actor) =>
      engine.transact(() => updateAnimals(ids, change, by(actor))),
    remove: async (ids, actor) => engine.transact(() => removeAnimals(ids, by(actor))),
    undo: async (id, actor) => engine.transact(() => undoChange(id, by(actor)), { patient: true }),
    addCategory: async (name, actor) => engine.transact(() => addCategory(name, by(actor))),
    renameCategory: async (id, name, actor) =>
      engine.transact(() => renameCategory(id, name, by(actor))),
    mergeCategories: async (id, into, actor) =>
      engine.transact(() => mergeCategories(id, into, by(actor)), { patient: true }),
  };
}

function* countedCategories(): Steps<CountedCategory[]> {
  const counts = yield* rows<{ id: bigint; animals: bigint }>(
    sql`SELECT category_id AS id, CAST(count(*) AS bigint) AS animals
      FROM ${pets} GROUP BY category_id`,
  );
  const byId = new Map(counts.map(({ id, animals }) => [id, Number(animals)]));
  const named = yield* records(categories, sql`ORDER BY name_key`);
  return named.map(({ id, name }) => ({ id, name, animals: byId.get(id) ?? 0 }));
}

function* changeOf(id: bigint): Steps<ChangeRecord | undefined> {
  const change = yield* record(changes, sql`WHERE id = ${id}`);
  if (change === undefined) return undefined;
  const { atMs, actor, action, summary, undoes, undoneIn } = change;
  const { animals = 0, name } = summary as { animals?: number | bigint; name?: string };
  return {
    id,
    atMs,
    actor,
    action,
    animals: Number(animals),
    name,
    isUndone: undoneIn !== null,
    undoes: undoes ?? undefined,
  };
}

/** What became of an animal, the newest first; its own row says how it came. */
function* historyOf(id: bigint): Steps<AnimalEvent[]> {
  const events: AnimalEvent[] = [];
  for (const event of yield* records(
    petEvents,
    sql`WHERE pet_id = ${id} ORDER BY change_id DESC`,
  )) {
    const change = yield* record(changes, sql`WHERE id = ${event.changeId}`);
    events.push({
      atMs: change?.atMs,
      actor: change?.actor,
      action: change?.action ?? "update",
      before: event.before === null ? undefined : fieldsOf(event.before),
      after: event.after === null ? undefined : fieldsOf(event.after),
    });
  }
  const row = yield* record(pets, sql`WHERE id = ${id}`);
  if (row === undefined) return events;
  const { createdIn, createdAtMs, createdBy } = row;
  const change =
    createdIn === null ? undefined : yield* record(changes, sql`WHERE id = ${createdIn}`);
  events.push({
    atMs: createdAtMs ?? change?.atMs,
    actor: change?.actor ?? createdBy ?? undefined,
    action: change?.action ?? "add",
    before: undefined,
    after: petOf(row),
  });
  return events;
}

function fieldsOf(kept: Readonly<Record<string, unknown>>): AnimalEvent["before"] {
  const { status, ...fields } = snapshotFrom(kept);
  return { ...fields, status: status ?? undefined };
}
