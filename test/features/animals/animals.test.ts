/** What people do with animals: change, find, look back, take back. On both stores. */
import { describe, expect, test } from "bun:test";
import { asc, eq } from "drizzle-orm";
import * as fc from "fast-check";
import { type Desk, deskOf } from "./animals-of.ts";
import { type Editing, makeChange } from "../../../src/features/animals/changes.ts";
import { dayMs, hourMs } from "../../../src/domain/clock.ts";
import { AppError } from "../../../src/domain/errors.ts";
import { fold } from "../../../src/features/visible.ts";
import { int64Max } from "../../../src/domain/int64.ts";
import type { Pet, PetStatus } from "../../../src/domain/pet.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { openForEach } from "../../helpers/stores.ts";

const startMs = Date.UTC(2026, 10, 21, 12);

let store: Store;
let nowMs = startMs;
let animals: Desk["animals"];
let categories: Desk["categories"];

const desk = (more: Partial<Editing> = {}) =>
  deskOf({ db: store.db, clock: () => nowMs, actor: "ana", ...more });

openForEach((opened) => {
  store = opened;
  nowMs = startMs;
  ({ animals, categories } = desk());
});

const all = async () => (await animals.find({ limit: 1_000_000 })).pets;
const create = (name: string, categoryId = 1n, status?: PetStatus) =>
  store.pets.create({ name, categoryId, status, createdAtMs: nowMs, createdBy: "key_1" });
const lastId = async () => (await animals.lastChange())?.id ?? 0n;
const allChanges = async () =>
  store.db.read(({ t: { changes }, ...tx }) =>
    tx.select({ id: changes.id, actor: changes.actor }).from(changes).orderBy(asc(changes.id)),
  );
const clear = async (...names: ("pets" | "changes" | "petEvents" | "removedPets")[]) =>
  store.db.transaction(async (tx) => {
    for (const name of names) await tx.delete(tx.t[name]);
  });
const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(AppError);
  return (error as AppError).message;
};
const states = async (id: bigint) =>
  (await animals.history(id)).events.map(({ action, actor, before, after }) => {
    const shown = [before, after].map((state) => [state?.["name"], state?.["status"]].join());
    return [action, actor, ...shown];
  });

test("several animals change at once, all or none, and each leaves an event", async () => {
  const [rex, ada] = [await create("Rex"), await create("Ada", 2n, "available")];
  const changed = await animals.update([ada, rex], { name: "Max", status: "sold" });
  expect(changed).toEqual([
    { id: ada, name: "Max", categoryId: 2n, status: "sold" },
    { id: rex, name: "Max", categoryId: 1n, status: "sold" },
  ]);
  expect(await refusal(animals.update([rex, 99n], { status: null }))).toBe(
    "There is no animal with the id 99.",
  );
  expect((await store.pets.byId(rex))?.status).toBe("sold");
  await animals.update([rex], { status: null });
  expect(await store.pets.byId(rex)).toEqual({ id: rex, name: "Max", categoryId: 1n });
  const { created, isRemoved } = await animals.history(rex);
  const byKey = { by: "key key_1", action: "create", change: undefined };
  expect(created).toEqual({ atMs: startMs, ...byKey });
  expect(isRemoved).toBe(false);
  expect(await states(rex)).toEqual([
    ["update", "ana", "Rex,", "Max,sold"],
    ["update", "ana", "Max,sold", "Max,"],
  ]);
  // Version 1.0.0 recorded neither.
  const old = await store.pets.create({ name: "Old", categoryId: 1n });
  const unknown = { atMs: undefined, by: undefined, action: undefined, change: undefined };
  expect((await animals.history(old)).created).toEqual(unknown);
});

test("what changes nothing is no change, and leaves no event", async () => {
  const rex = await create("Rex");
  await animals.update([rex], { name: "Rex", status: null });
  await animals.update([rex], {});
  expect(await categories.merge("5", "7")).toBe(0);
  expect((await animals.history(rex)).events).toEqual([]);
  expect(await lastId()).toBe(0n);
  await categories.add("Dog", 4n);
  const before = await lastId();
  expect(await categories.rename("4", " Dog ")).toEqual({ id: 4n, name: "Dog" });
  expect(await lastId()).toEqual(before);
});

test("a removed animal is gone for every reader, and comes back under its id", async () => {
  const rex = await create("Rex", 1n, "available");
  const pet = await store.pets.byId(rex);
  await create("Ada");
  expect(await animals.remove([rex])).toMatchObject([{ id: rex, name: "Rex" }]);
  expect([await store.pets.byId(rex), await store.pets.count()]).toEqual([undefined, 1]);
  expect((await animals.history(rex)).isRemoved).toBe(true);
  expect(await create("next")).toBeGreaterThan(rex);
  const version = store.versions().pets;
  expect(await animals.restore(rex)).toEqual(pet as Pet);
  expect(await store.pets.count()).toBe(3);
  expect(store.versions().pets).toBeGreaterThan(version);
  expect(await refusal(animals.restore(rex))).toContain("it was not removed");
  expect(await refusal(animals.restore(99n))).toContain("no animal with the id 99");
  const { created, events } = await animals.history(rex);
  expect(created.by).toBe("key key_1");
  expect(events.map(({ action }) => action)).toEqual(["remove", "restore"]);
});

test("one whose id elsewhere another animal has by now does not come back", async () => {
  const [rex, ada] = [await create("Rex"), await create("Ada")];
  const give = (id: bigint, source: string) =>
    store.db.transaction((tx) => {
      const { pets } = tx.t;
      return tx.run(tx.update(pets).set({ externalId: "x:1", source }).where(eq(pets.id, id)));
    });
  await give(rex, "x");
  await animals.remove([rex]);
  await give(ada, "x");
  expect(await refusal(animals.restore(rex))).toBe(
    'Another animal now has the external id of 1, "x:1".',
  );
  expect(await animals.undo({ rehearse: true })).toMatchObject({ restored: 0, left: 1 });
  await give(ada, "y");
  expect(await animals.undo()).toMatchObject({ restored: 1, left: 0 });
});

test("a change is noticed beside an animal that is added at the same time", async () => {
  const rex = await create("Rex");
  for (const change of [
    () => animals.update([rex], { status: "sold" }),
    () => animals.undo(),
    () => animals.remove([rex]),
    () => animals.restore(rex),
  ]) {
    const { edits } = store.versions();
    await change();
    await create("Ada");
    expect(store.versions().edits).toBeGreaterThan(edits);
  }
});

test("an undo leaves what was changed since, and says so", async () => {
  const [rex, ada] = [await create("Rex"), await create("Ada")];
  await animals.update([rex, ada], { status: "pending" });
  const change = await lastId();
  nowMs += dayMs;
  await desk({ actor: "ben" }).animals.update([ada], { status: "sold" });
  const part = { updated: 1, left: 1 };
  expect(await animals.undo({ change, rehearse: true })).toMatchObject(part);
  expect((await store.pets.byId(rex))?.status).toBe("pending");
  expect(await animals.undo({ change })).toMatchObject(part);
  expect((await all()).map(({ status }) => status)).toEqual([undefined, "sold"]);
  expect(await refusal(animals.undo({ change }))).toContain("was already undone");
  const undo = (await allChanges()).at(-1)?.id ?? 0n;
  const itself = `The change ${undo} is an undo itself.`;
  expect(await refusal(animals.undo({ change: undo }))).toBe(itself);
  expect((await animals.undo()).updated).toBe(1);
  expect(await refusal(animals.undo())).toBe("There is no change to undo.");
});

test("an undo that can do nothing leaves the change in force", async () => {
  const { id } = await animals.add({ name: "Tom", category: { text: "1" } });
  const change = await lastId();
  await animals.remove([id]);
  expect(await animals.undo({ change })).toMatchObject({ removed: 0, left: 1 });
  nowMs += 91 * dayMs;
  expect(await refusal(animals.undo({ change }))).toContain("is older than 90 days");
  nowMs -= 91 * dayMs;
  expect(await animals.undo()).toMatchObject({ restored: 1 });
  expect(await animals.undo({ change })).toMatchObject({ removed: 1, left: 0 });
});

test("an animal and its like in a list become one, which the list knows", async () => {
  const editing = { db: store.db, clock: () => nowMs, actor: "list" };
  const listed = ["x:1", "x:2"].map((externalId) => ({ source: "x", externalId, name: "Rexy" }));
  const rex = await create("Rex", 1n);
  const added = listed.map((pet) => ({ ...pet, categoryId: 2n, status: "pending" as const }));
  await makeChange(editing, "import", (change) => change.add(added));
  const [first, second] = [rex + 1n, rex + 2n];
  const before = await all();
  const rows = () => store.db.read((tx) => tx.select().from(tx.t.pets).orderBy(asc(tx.t.pets.id)));

  const both = "The animals 3 and 2 both come from a list, as x:2 and x:1.";
  expect(await refusal(animals.merge(first, second))).toBe(both);
  expect(await refusal(animals.merge(rex, rex))).toContain("Name another animal");
  expect(await refusal(animals.merge(99n, rex))).toContain("no animal with the id 99");
  // It keeps its own name and category, and gets what it lacks.
  const merged = { id: rex, name: "Rex", categoryId: 1n, status: "pending" } as const;
  expect(await animals.merge(first, rex)).toEqual(merged);
  const left = [{ id: rex, externalId: "x:1", source: "x" }, { id: second }];
  expect(await rows()).toMatchObject(left);
  const { events } = await animals.history(first);
  expect(events.map(({ action, did }) => [action, did])).toEqual([["merge", "removed"]]);
  expect(await refusal(animals.restore(first))).toContain("Another animal now has");
  expect(await animals.undo()).toMatchObject({ updated: 1, restored: 1, left: 0 });
  expect(await all()).toEqual(before);
  expect((await rows())[1]).toMatchObject({ id: first, externalId: "x:1" });

  // An undo leaves both if somebody changed the one that stayed.
  await animals.merge(rex, second);
  await animals.undo();
  await animals.merge(first, rex);
  const change = await lastId();
  await animals.update([rex], { status: "sold" });
  expect(await animals.undo({ change })).toMatchObject({ updated: 0, restored: 0, left: 2 });
});

describe("histories", () => {
  /** Renames the animal once a day. */
  async function renameDaily(id: bigint, days: number): Promise<void> {
    for (let day = 0; day < days; day += 1) {
      nowMs += dayMs;
      await animals.update([id], { name: `Rex of ${nowMs}` });
    }
  }

  test("are kept for 90 days, and a day more", async () => {
    const rex = await create("Rex");
    const { id } = await animals.add({ name: "Ada", category: { text: "1" } });
    const addedMs = nowMs;
    await renameDaily(rex, 91);
    expect((await animals.history(rex)).events).toHaveLength(91);
    await renameDaily(rex, 4);
    const [oldest] = (await animals.history(rex)).events;
    expect(oldest?.atMs).toBe(nowMs - 91 * dayMs);
    expect(await allChanges()).toHaveLength(92);
    // Of its origin the day is kept, and no number that an undo would not know.
    const created = { atMs: addedMs, by: undefined, action: undefined };
    expect((await animals.history(id)).created).toEqual({ ...created, change: undefined });
  });

  test.each([1, 30, 89, 91, 365, 3_650])("outlive a clock that jumped by %d days", async (days) => {
    const rex = await create("Rex");
    await renameDaily(rex, 90);
    const rightMs = nowMs;
    for (let count = 0; count < 4; count += 1) {
      nowMs = rightMs + days * dayMs + count * hourMs;
      await animals.update([rex], { name: `Max ${count}` });
    }
    expect((await animals.history(rex)).events).toHaveLength(94);
    // And once it is right again.
    nowMs = rightMs;
    await renameDaily(rex, 2);
    expect((await animals.history(rex)).events.length).toBeGreaterThanOrEqual(94);
  });
});

test("an event of an earlier version, or whose past is forgotten, shows what it knows", async () => {
  const rex = await create("Rex");
  await animals.remove([rex]);
  await animals.restore(rex);
  await animals.update([rex], { name: "Max" });
  await store.db.transaction(async ({ t: { petEvents }, ...tx }) => {
    await tx.delete(petEvents).where(eq(petEvents.changeId, 1n));
    await tx
      .update(petEvents)
      .set({ before: { name: "Rex" } })
      .where(eq(petEvents.changeId, 3n));
  });
  const { events } = await animals.history(rex);
  expect(events.map(({ did, changed }) => [did, changed.map(({ field }) => field)])).toEqual([
    ["restored", []],
    [undefined, ["name", "categoryId", "source"]],
  ]);
});

test("any filter finds what reading every name finds", async () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "A", "é", "e", "ß", "%", "_", " ") });
  await fc.assert(
    fc.asyncProperty(
      fc.array(letters, { maxLength: 12 }),
      letters,
      fc.integer({ min: 1, max: 13 }),
      async (names, typed, limit) => {
        await clear("pets");
        for (const name of names) await create(name);
        const expected = names.filter((name) => fold(name).includes(fold(typed)));
        const found: string[] = [];
        for (let after: bigint | undefined; ;) {
          const page = await animals.find({ name: typed, limit, after });
          expect(page.total).toBe(expected.length);
          expect(page.pets.length).toBe(Math.min(limit, expected.length - found.length));
          if (page.pets.length === 0) break;
          found.push(...page.pets.map((pet) => pet.name));
          after = page.pets.at(-1)?.id;
        }
        expect(found).toEqual(expected);
      },
    ),
    { numRuns: 25 },
  );
}, 120_000);

test("are found by their letters however many others there are", async () => {
  const many = Array.from({ length: 10_001 }, (_, at) => ({ name: `Zoë ${at}`, categoryId: 1n }));
  await store.db.transaction((tx) => tx.insertAll(tx.t.pets, many));
  const page = await animals.find({ name: "zoe", limit: 2, after: 9_999n });
  expect(page.total).toBe(10_001);
  expect(page.pets.map(({ name }) => name)).toEqual(["Zoë 9999", "Zoë 10000"]);
});

test("categories are named, renamed and merged, and each of it is taken back", async () => {
  await create("Rex", 3n);
  await categories.add("Dog", 4n);
  await categories.add("Hund", 3n);
  expect(await refusal(categories.add("DOG"))).toContain('has the name "Dog"');
  await categories.rename("hund", "Hound");
  const before = await categories.list();
  expect(before).toEqual([
    { id: 3n, name: "Hound", animals: 1 },
    { id: 4n, name: "Dog", animals: 0 },
  ]);
  expect(await categories.merge("hound", "dog")).toBe(1);
  expect(await categories.list()).toEqual([{ id: 4n, name: "Dog", animals: 1 }]);
  expect(await refusal(categories.merge("dog", "4"))).toContain("the same category");
  await animals.undo();
  expect(await categories.list()).toEqual(before);
  await animals.undo();
  expect((await categories.list())[0]?.name).toBe("Hund");
  await animals.undo();
  await animals.undo();
  expect(await categories.list()).toEqual([{ id: 3n, name: undefined, animals: 1 }]);
});

test("a category that six people add at once is made once", async () => {
  const tries = Array.from({ length: 6 }, () => categories.add("Dup"));
  const made = await Promise.allSettled(tries);
  expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const each of made) {
    if (each.status === "rejected") expect(each.reason.message).toContain('has the name "Dup"');
  }
  expect(await categories.named()).toEqual([{ id: 1n, name: "Dup" }]);
});

test("a name that is empty or taken is refused, and an id without a name keeps its animals", async () => {
  await create("Rex", 9n);
  await categories.add("Dog", 4n);
  await categories.add("Cat", 5n);
  const unseen = "The name of a category must have a character that can be seen.";
  const nameless = { text: "\u2060 \ufeff", create: true };
  for (const [work, message] of [
    [() => categories.add(" "), unseen],
    [() => categories.add("Fox", 4n), 'The category 4 has the name "Dog".'],
    [() => categories.rename("4", "\u200b"), unseen],
    [() => animals.add({ name: "Rex", category: nameless }), unseen],
    [() => categories.rename("4", "cat"), 'The category 5 has the name "Cat".'],
  ] as const) {
    expect(await refusal(work())).toBe(message);
  }
  await categories.rename("9", "Fox");
  await animals.undo();
  expect((await categories.list()).at(-1)).toEqual({ id: 9n, name: undefined, animals: 1 });
  // A number is made as it is, and no name.
  const asked = { text: "77", create: true };
  expect((await animals.add({ name: "Ada", category: asked })).categoryId).toBe(77n);
});

test("new ids of categories are given once, whatever numbers animals carry", async () => {
  await create("Tom", int64Max);
  await create("Rex", 2n);
  expect(await categories.add("Dog")).toEqual({ id: 1n, name: "Dog" });
  expect(await categories.add("Cat")).toEqual({ id: 3n, name: "Cat" });
  await categories.add("Elk", int64Max);
  await categories.add("Fox", 7n);
  for (let undone = 0; undone < 3; undone += 1) await animals.undo();
  expect(await categories.add("Owl")).toEqual({ id: 8n, name: "Owl" });
  const eel = { text: "Eel", create: true };
  expect((await animals.add({ name: "Ada", category: eel })).categoryId).toBe(9n);
  await categories.merge("Eel", "Owl");
  expect(await categories.add("Emu")).toEqual({ id: 10n, name: "Emu" });
});

test("an undo of a rename brings the name back, unless another category has it by now", async () => {
  await categories.add("Dog", 4n);
  await categories.rename("4", "DOG");
  await animals.undo();
  expect(await categories.named()).toEqual([{ id: 4n, name: "Dog" }]);
  const left = async (change: bigint) => (await animals.undo({ change })).categories;
  await categories.rename("4", "Hound");
  const rename = await lastId();
  expect(await categories.add("Dog")).toEqual({ id: 5n, name: "Dog" });
  expect(await left(rename)).toBe(0);
  await categories.rename("5", "Fox");
  const second = await lastId();
  await categories.rename("5", "Wolf");
  expect(await left(second)).toBe(0);
  expect((await categories.named()).map(({ name }) => name)).toEqual(["Hound", "Wolf"]);
});

test("an animal is added with a category by name, which is made where that is asked for", async () => {
  expect(await refusal(animals.add({ name: "Rex", category: { text: "Dog" } }))).toBe(
    'There is no category "Dog". None has a name yet.',
  );
  expect(await store.pets.count()).toBe(0);
  await animals.add({ name: "Rex", category: { text: "Dog", create: true } });
  const ada = await animals.add({ name: "Ada", category: { text: " dog " }, status: "sold" });
  expect(ada).toEqual({ id: 2n, name: "Ada", categoryId: 1n, status: "sold" });
  const created = { atMs: startMs, by: "ana", action: "add", change: await lastId() };
  expect((await animals.history(ada.id)).created).toEqual(created);
  expect(await store.pets.count()).toBe(2);
  await animals.undo();
  await animals.undo();
  expect([await store.pets.count(), await categories.list()]).toEqual([0, []]);
});
