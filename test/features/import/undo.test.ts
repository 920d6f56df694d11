/** `rehome undo` of imports, among all else that people do: on both stores. */
import { expect, test } from "bun:test";
import { and, asc, isNull } from "drizzle-orm";
import * as fc from "fast-check";
import { exportPage } from "../../../src/features/import/export.ts";
import type { ImportOptions } from "../../../src/features/import/plan/plan.ts";
import { AppError } from "../../../src/domain/errors.ts";
import { int64Min } from "../../../src/domain/int64.ts";
import { type Desk, deskOf } from "../animals/animals-of.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { openForEach } from "../../helpers/stores.ts";
import { isOnPostgres } from "../../helpers/store-under-test.ts";
import { emptied, importText as importInto } from "../../helpers/import-text.ts";

const nowMs = Date.UTC(2026, 10, 21, 12);

let store: Store;
let animals: Desk["animals"];
let categories: Desk["categories"];

openForEach((opened) => {
  store = opened;
  const options = { db: store.db, clock: () => nowMs, actor: "ana" };
  ({ animals, categories } = deskOf(options));
});

const importText = (text: string, options: ImportOptions = {}) =>
  importInto(store.db, text, { nowMs, skipBad: true, ...options });
const newestInForce = async () => animals.lastChange();
/** Rows of an Austin file. */
const austin = (rows: readonly string[]) =>
  `Animal ID,Name,DateTime,MonthYear,Outcome Type,Animal Type\n${rows.join("\n")}\n`;
const state = async () => ({
  pets: await exportPage(store.db, int64Min, 1_000_000),
  categories: await categories.named(),
  removed: await store.db.read((tx) =>
    tx.select().from(tx.t.removedPets).orderBy(asc(tx.t.removedPets.id)),
  ),
});
type State = Awaited<ReturnType<typeof state>>;
/** The state after an undo, which leaves what it removed among the removed animals. */
const expectAsBefore = (now: State, before: State) => {
  const known = new Set(before.removed.map(({ id }) => id));
  const shown = ({ removed, ...rest }: State) => ({
    ...rest,
    removed: removed
      .filter(({ id }) => known.has(id))
      .map(({ removedAtMs: _at, removedIn: _in, ...animal }) => animal),
  });
  expect(shown(now)).toEqual(shown(before));
};
const failure = async (work: Promise<unknown>): Promise<AppError> => {
  const error = await work.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(AppError);
  return error as AppError;
};

test("takes a whole import back: animals, those it withdrew, and the categories it made", async () => {
  await categories.add("Dog");
  await importText(austin(["A1,Rex,01/01/2024,m,,Dog", "A2,Ada,01/01/2024,m,,Dog"]));
  const before = await state();
  const rows = ["A1,Max,01/02/2024,m,Adoption,Fox", "A2,Ada,01/02/2024,m,Died,Dog"];
  const summary = await importText(austin([...rows, "A3,Tom,,m,,Cat"]));
  expect(summary).toMatchObject({ added: 1, updated: 1, withdrawn: 1 });
  expect((await categories.named()).map(({ name }) => name)).toEqual(["Dog", "Fox", "Cat"]);
  const would = await animals.undo({ rehearse: true });
  const did = await animals.undo();
  expect({ ...would, change: undefined }).toEqual({ ...did, change: undefined });
  expect(did).toMatchObject({ updated: 1, removed: 1, restored: 1, left: 0, categories: 2 });
  expectAsBefore(await state(), before);
});

test("a category that the import made stays while an animal carries it", async () => {
  const { change: importing } = await importText(austin(["A1,Rex,,m,,Dog", "A2,Ada,,m,,Cat"]));
  await animals.update([1n], { name: "Max" });
  const did = await animals.undo({ change: importing ?? 0n });
  expect(did).toMatchObject({ removed: 1, left: 1, categories: 1 });
  expect(await categories.named()).toEqual([{ id: 1n, name: "Dog" }]);
});

test("an animal that an import brought back otherwise is removed again as it was", async () => {
  await importText(austin(["A1,Old,01/01/2024,m,,Dog"]));
  await importText(austin(["A1,Old,01/02/2024,m,Died,Dog"]));
  const before = await state();
  await importText(austin(["A1,New,01/03/2024,m,Adoption,Cat"]));
  await animals.undo();
  expectAsBefore(await state(), before);
  // What the history tells of its return starts at what it was when it was removed.
  expect(await animals.restore(1n)).toMatchObject({ name: "Old", status: "available" });
  const { events } = await animals.history(1n);
  expect(events.map(({ did, changed }) => [did, changed.map(({ field }) => field)])).toEqual([
    ["withdrawn", []],
    ["restored", ["name", "categoryId", "status"]],
    ["removed", []],
    ["restored", ["name", "categoryId", "status"]],
  ]);
  expect(Object.keys(events[1]?.after ?? {})).toEqual(Object.keys(events[0]?.before ?? {}));
  // One that somebody else removed stays as they removed it.
  await importText(austin(["A2,Old,01/01/2024,m,,Dog"]));
  await importText(austin(["A2,Old,01/02/2024,m,Died,Dog"]));
  await importText(austin(["A2,New,01/03/2024,m,Adoption,Dog"]));
  const back = (await newestInForce())?.id ?? 0n;
  await animals.remove([2n]);
  expect(await animals.undo({ change: back })).toMatchObject({ removed: 0, left: 1 });
  expect(await animals.restore(2n)).toMatchObject({ name: "New", status: "sold" });
});

/** What is there, and all ids that ever were. */
interface Scene {
  readonly there: State["pets"];
  readonly everyId: ReadonlySet<bigint>;
}
type Move = (scene: Scene) => Promise<unknown>;
const create: Move = () =>
  store.pets.create({ name: "created", categoryId: 1_000_000n, createdAtMs: nowMs });
const undo: Move = () => animals.undo();

const aName = fc.constantFrom("Rex", "Ada", "Tom");
const aType = fc.constantFrom("Dog", "Cat", "Fox");
const status = fc.constantFrom("available" as const, "pending" as const, null);
const text = (category: string) => ({ text: category, create: true });
const patch = fc.record({ name: aName, category: aType.map(text), status }, { requiredKeys: [] });
const row = fc
  .tuple(fc.integer({ min: 1, max: 6 }), aName, fc.constantFrom("", "Adoption", "Died"), aType)
  .map(([id, name, outcome, type]) => `A${id},${name},,m,${outcome},${type}`);
const picks = fc.array(fc.nat(9), { minLength: 1, maxLength: 3 });
const picked = ({ there }: Scene, numbers: readonly number[]) =>
  [...new Set(numbers.map((number) => there[number % Math.max(there.length, 1)]))].filter(
    (pet) => pet !== undefined,
  );
const idsOf = (scene: Scene, numbers: readonly number[]) =>
  picked(scene, numbers).map(({ id }) => id);
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(fc.array(row, { maxLength: 6 }), fc.boolean()).map(
      ([rows, complete]) =>
        () =>
          importText(austin(rows), { complete, confirmed: true }),
    ),
  },
  { weight: 3, arbitrary: fc.constant(undo) },
  // An export, edited in a spreadsheet and imported back.
  fc.tuple(aName, picks).map(([name, numbers]) => (scene: Scene) => {
    const lines = picked(scene, numbers).map(
      (pet) => `${pet.id},${name},${pet.categoryId},sold,${pet.externalId ?? ""}`,
    );
    return importText(`id,name,categoryId,status,externalId\n${lines.join("\n")}\n`);
  }),
  fc.constant(create),
  aType.map((type) => () => animals.add({ name: "added", category: text(type) })),
  fc.tuple(picks, patch).map(
    ([numbers, set]) =>
      (scene: Scene) =>
        animals.update(idsOf(scene, numbers), set),
  ),
  picks.map((numbers) => (scene: Scene) => animals.remove(idsOf(scene, numbers))),
  fc.nat(9).map((number) => ({ everyId }: Scene) => {
    const ids = [...everyId];
    return animals.restore(ids[number % Math.max(1, ids.length)] ?? 0n);
  }),
  fc.tuple(aType, aType).map(
    ([from, into]) =>
      () =>
        categories.merge(from, into),
  ),
);

test("histories of imports, changes and undos: an undo leads to the state before", async () => {
  const property = fc.asyncProperty(
    fc.array(move, { minLength: 1, maxLength: 14 }),
    async (moves) => {
      await emptied(store);
      const everyId = new Set<bigint>();
      // Before each change that is in force, and now.
      const states = [await state()];
      const takeBack = async () => {
        if (states.length === 1) {
          expect((await failure(animals.undo())).kind).toBe("not_found");
          return;
        }
        expect((await animals.undo()).left).toBe(0);
        states.pop();
        const now = await state();
        expectAsBefore(now, states.pop() as State);
        states.push(now);
      };
      for (const each of moves) {
        if (each === undo) {
          await takeBack();
          continue;
        }
        const before = (await newestInForce())?.id;
        await each({ there: (await state()).pets, everyId }).catch((error: unknown) => {
          if (!(error instanceof AppError)) throw error;
        });
        const now = await state();
        for (const pet of now.pets) everyId.add(pet.id);
        if ((await newestInForce())?.id !== before) states.push(now);
        else if (each === create) {
          // What the interface adds stays, whatever is taken back before it.
          for (const kept of states) kept.pets = [...kept.pets, ...now.pets.slice(-1)];
        } else expect(now).toEqual(states.at(-1) as typeof now);
      }
      while (states.length > 1) await takeBack();
      const open = await store.db.read((tx) => {
        const { changes } = tx.t;
        const isOpen = and(isNull(changes.undoneIn), isNull(changes.undoes));
        return tx.select({ id: changes.id }).from(changes).where(isOpen);
      });
      expect(open).toEqual([]);
    },
  );
  await fc.assert(property, { numRuns: isOnPostgres ? 15 : 80 });
}, 180_000);
