/** What an import changes, on both stores. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type CatalogueStore, catalogueOf } from "../../../src/features/import/catalogue.ts";
import type { Arrangement, StagedAnimal } from "../../../src/features/import/stage.ts";
import { AnimalService } from "../../../src/features/animals/animals.ts";
import type { Category } from "../../../src/features/animals/categories.ts";
import { int64Max, int64Min } from "../../../src/domain/int64.ts";
import { closing } from "../../../src/service/closing.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { openSqliteStore } from "../../../src/storage/sqlite/store.ts";
import { rows, run, sql } from "../../../src/storage/statement.ts";
import { pets } from "../../../src/storage/tables.ts";
import { changes, petEvents, removedPets } from "../../../src/features/animals/tables.ts";
import { staged, takeOver } from "../../helpers/import-stage.ts";
import { hookTimeoutMs } from "../../helpers/postgres.ts";
import { stores, type StorePlace } from "../../helpers/stores.ts";

describe.each(stores)("$name", (kind) => {
  let place: StorePlace;
  let store: Store;
  let catalogue: CatalogueStore;
  let after = 0n;

  beforeAll(async () => {
    place = await kind.place();
    store = await place.open(() => 0);
    catalogue = catalogueOf(store);
  }, hookTimeoutMs);
  afterAll(async () => {
    await store.close();
    await place[Symbol.asyncDispose]();
  });

  const begin = async () => {
    after = await store.pets.create({ name: "the last one before", categoryId: 1n });
  };
  const added = async () => await catalogue.exportPage(after, 200_000);
  const brief = async () =>
    (await added()).map(({ id, name, status }) => `${id - after} ${name} ${status ?? "none"}`);
  const take = (
    animals: readonly StagedAnimal[],
    ids?: readonly (bigint | undefined)[],
    arrangement?: Partial<Arrangement>,
  ) => takeOver(catalogue, animals, ids, arrangement);
  const of = (externalId: string, name: string, fields: Partial<StagedAnimal> = {}) =>
    staged(name, { externalId, source: externalId.split(":")[0] ?? "", ...fields });
  const gone = (externalId: string, fields: Partial<StagedAnimal> = {}) =>
    of(externalId, "", { isGone: true, name: undefined, categoryId: undefined, ...fields });
  const none = { added: 0, updated: 0, unchanged: 0, withdrawn: 0 };

  test("animals come in in order, some at a time, and the count rises", async () => {
    await begin();
    const count = await store.pets.count();
    const version = store.versions().pets;
    const { ready, taken } = await take([
      of("1:2", "b", { categoryId: int64Max, status: "sold" }),
      staged("a", { categoryId: int64Min }),
      of("1:1", '{"', { status: "pending" }),
    ]);
    expect([ready, taken.map((counts) => counts.added)]).toEqual([3, [2, 1]]);
    expect(await added()).toMatchObject([
      { name: "b", categoryId: int64Max, status: "sold", externalId: "1:2", source: "1" },
      { name: "a", categoryId: int64Min, externalId: undefined },
      { name: '{"', categoryId: 1n, status: "pending", externalId: "1:1" },
    ]);
    expect((await added())[1]).not.toHaveProperty("status");
    expect(await store.pets.count()).toBe(count + 3);
    expect(store.versions().pets).toBeGreaterThan(version);
  });

  test("what has changed is updated by external id, and nothing else", async () => {
    await begin();
    await take([of("2:1", "a"), of("2:2", "b")]);
    const { compared, taken } = await take([
      of("2:1", "a"),
      of("2:2", "b", { status: "sold" }),
      of("2:3", "c"),
      staged("d"),
    ]);
    expect(compared).toEqual({ ...none, added: 2, updated: 1, unchanged: 1 });
    expect(taken).toEqual([
      { ...none, updated: 1, unchanged: 1 },
      { ...none, added: 2 },
    ]);
    expect(await brief()).toEqual(["1 a none", "2 b sold", "3 c none", "4 d none"]);
  });

  test("the newest record of an animal holds, of equal ones the last", async () => {
    await begin();
    const { ready, arranged } = await take([
      of("3:1", "new", { version: 2 }),
      of("3:1", "old", { version: 1 }),
      of("3:2", "first", { version: 7 }),
      of("3:2", "last", { version: 7 }),
      of("3:3", "there", { version: 1 }),
      gone("3:3", { version: 2 }),
      staged("twin"),
      staged("twin"),
    ]);
    expect([ready, arranged.gone, arranged.differentNames]).toEqual([4, 1, 2]);
    expect((await added()).map(({ name }) => name)).toEqual(["new", "last", "twin", "twin"]);
  });

  test("different names of an animal are found where one of its records is gone", async () => {
    await begin();
    const records = [
      of("name:1", "Misty", { version: 2 }),
      gone("name:1", { name: "Foggy", version: 1 }),
      gone("name:2", { name: "Old", version: 1 }),
      gone("name:2", { name: "New", version: 2 }),
      of("name:3", "Max", { version: 2 }),
      gone("name:3", { name: undefined, version: 1 }),
    ];
    for (const keepGone of [false, true]) {
      const { arranged } = await take(records, [], { keepGone });
      expect(arranged).toMatchObject({
        differentNames: 1,
        differentName: { id: "name:1", names: ["Foggy", "Misty"] },
      });
    }
    expect((await added()).map(({ name }) => name)).toEqual(["Misty", "Max"]);
  });

  test("records with one id elsewhere are one animal, whatever ids here they have", async () => {
    await begin();
    const records = [
      of("twin:1", "a", { id: 1n }),
      of("twin:1", "b", { id: 2n }),
      of("twin:1", "c"),
    ];
    const { taken, arranged } = await take(records, [], { newIds: true });
    expect([taken, arranged.differentNames]).toEqual([[{ ...none, added: 1 }], 1]);
    const id = (await added())[0]?.id;
    const again = [of("twin:1", "d", { id }), of("twin:1", "e")];
    expect((await take(again)).taken).toEqual([{ ...none, updated: 1 }]);
    expect((await added()).map(({ name }) => name)).toEqual(["e"]);
  });

  test("equal ids of two sources are two animals", async () => {
    await begin();
    await take([of("x", "a", { source: "north" }), of("x", "b", { source: "south" })]);
    const { taken } = await take([of("x", "A", { source: "south" })]);
    expect(taken).toEqual([{ ...none, updated: 1 }]);
    expect((await added()).map(({ name }) => name)).toEqual(["a", "A"]);
  });

  test("animals that version 1.0.0 imported are found, and get their source as a change", async () => {
    await begin();
    await take([of("4:1", "a", { source: "" })]);
    const { compared, taken } = await take([of("4:1", "a"), of("4:2", "b")]);
    expect(compared).toEqual({ ...none, added: 1, updated: 1 });
    expect(taken).toEqual([{ ...none, added: 1, updated: 1 }]);
    expect((await added()).map(({ source }) => source)).toEqual(["4", "4"]);
    expect((await take([of("4:1", "a"), of("4:2", "b")])).taken).toEqual([
      { ...none, unchanged: 2 },
    ]);
    const [event] = await store.read(() =>
      rows<{ former: string; latter: string }>(
        sql`SELECT before ->> 'source' AS former, after ->> 'source' AS latter FROM ${petEvents}
          WHERE pet_id = ${after + 1n}`,
      ),
    );
    expect(event).toEqual({ former: "", latter: "4" });
    // Removed ones are found too.
    await take([of("4:3", "c", { source: "" })]);
    await take([gone("4:3", { source: "" })]);
    await take([of("4:3", "c")]);
    expect((await added()).map(({ id, source }) => [id - after, source])).toEqual([
      [1n, "4"],
      [2n, "4"],
      [3n, "4"],
    ]);
  });

  test("an animal that is gone is withdrawn, and comes back under its old id", async () => {
    await begin();
    await take([of("5:1", "a", { status: "available" }), of("5:2", "b")]);
    const count = await store.pets.count();
    const { compared, taken } = await take([gone("5:1"), gone("5:9")]);
    expect([compared, taken]).toEqual([{ ...none, withdrawn: 1 }, [{ ...none, withdrawn: 1 }]]);
    expect([await store.pets.count(), await brief()]).toEqual([count - 1, ["2 b none"]]);
    expect((await take([gone("5:1")])).taken).toEqual([none]);
    const back = await take([of("5:3", "c"), of("5:1", "a", { status: "pending" })]);
    expect(back.taken).toEqual([{ ...none, added: 2 }]);
    expect(await brief()).toEqual(["1 a pending", "2 b none", "3 c none"]);
    expect(await store.pets.count()).toBe(count + 1);
    const removed = await store.read(() =>
      rows(sql`SELECT id FROM ${removedPets} WHERE id > ${after}`),
    );
    expect(removed).toEqual([]);
  });

  test("--keep-gone leaves animals that are gone", async () => {
    await begin();
    await take([of("6:1", "a")]);
    const { taken } = await take([gone("6:1")], [], { keepGone: true });
    expect([taken, await brief()]).toEqual([[], ["1 a none"]]);
  });

  test("a whole list withdraws the animals of its source that it lacks, and no others", async () => {
    await begin();
    await take([of("7:1", "a"), of("7:2", "b"), of("7:3", "c", { source: "" }), of("8:1", "d")]);
    await take(["7", "8"].map((source) => of("x", `${source}'s`, { source })));
    const whole = [of("7:1", "a"), of("7:4", "e")];
    const { arranged, compared } = await take(whole, [], { complete: "7" });
    expect(arranged).toMatchObject({ missing: 3, sourceAnimals: 4 });
    expect(compared).toEqual({ ...none, added: 1, unchanged: 1, withdrawn: 3 });
    expect((await added()).map(({ name }) => name)).toEqual(["a", "d", "8's", "e"]);
  });

  test("a whole list that keeps gone animals leaves those that it has", async () => {
    await begin();
    await take(["1", "2", "3", "4"].map((id) => of(`keep:${id}`, id, { source: "keep" })));
    const lists = [of("keep:1", "1"), gone("keep:2"), staged("3", { id: after + 3n })];
    const { arranged, taken } = await take(lists, [], { keepGone: true, complete: "keep" });
    expect(arranged).toMatchObject({ missing: 1, sourceAnimals: 4, gone: 0 });
    expect(taken.reduce((sum, { withdrawn }) => sum + withdrawn, 0)).toBe(1);
    expect(await brief()).toEqual(["1 1 none", "2 2 none", "3 3 none"]);
  });

  test("what others change while animals are taken over counts for the rest of them", async () => {
    await using own = await kind.place();
    const opened = await own.open(() => 0);
    await closing(
      async () => opened.close(),
      async () => {
        const animals = new AnimalService({ db: opened.db, clock: () => 0, actor: "ana" });
        const list = ["x:1", "x:2", "x:3", "x:4"].map((id) => of(id, id));
        const takeWith = (each: readonly StagedAnimal[], between?: () => Promise<void>) =>
          takeOver(catalogueOf(opened), each, [], {}, between);
        // Another import of the last animal, into a catalogue that was empty.
        let others = async () => {
          others = async () => {};
          await takeWith(list.slice(3));
        };
        const first = await takeWith(list, () => others());
        expect(first.taken).toEqual([
          { ...none, added: 2 },
          { ...none, added: 1, unchanged: 1 },
        ]);
        // The first removal of all.
        others = async () => {
          others = async () => {};
          await animals.remove([3n]);
        };
        const ids = (await catalogueOf(opened).exportPage(0n, 9)).map(({ id }) => id);
        await takeWith(
          list.map((each) => ({ ...each, status: "sold" as const })),
          () => others(),
        );
        const after = await catalogueOf(opened).exportPage(0n, 9);
        expect(after.map(({ id }) => id)).toEqual(ids);
      },
    );
  });

  test("records of one animal, by its id here and by that of its source, are one", async () => {
    await begin();
    await take([of("two:1", "Rex"), of("two:2", "Ada")]);
    const [rex, ada] = (await added()).map(({ id }) => id);
    await take([gone("two:2")]);
    const { taken } = await take([
      of("two:1", "Rex II"),
      staged("Rex III", { id: rex }),
      staged("Ada II", { id: ada }),
      of("two:2", "Ada III"),
    ]);
    expect(taken).toEqual([{ ...none, added: 1, updated: 1 }]);
    expect(await brief()).toEqual(["1 Rex III none", "2 Ada III none"]);
  });

  test("an id of this catalogue is updated, one of a removed animal brought back, others are left out", async () => {
    await begin();
    await take([of("9:1", "a"), of("9:2", "b")]);
    const id = after + 1n;
    await take([gone("9:2")]);
    const records = [
      staged("A", { id, status: "sold" }),
      staged("B", { id: id + 1n, source: "clinic" }),
      staged("stranger", { id: 10n ** 15n, line: 7 }),
    ];
    const { arranged, taken } = await take(records);
    expect(arranged).toMatchObject({
      unknownIds: 1,
      unknown: [{ id: 10n ** 15n, line: 7, name: "stranger" }],
    });
    expect(taken).toEqual([{ ...none, added: 1, updated: 1 }]);
    // The ids that they have elsewhere stay as they are.
    const identities = async () =>
      (await added()).map(({ name, externalId, source }) => [name, externalId, source]);
    expect(await identities()).toEqual([
      ["A", "9:1", "9"],
      ["B", "9:2", "9"],
    ]);
    const same = [staged("A", { id, status: "sold" }), staged("B", { id: id + 1n, source: "x" })];
    expect((await take(same)).taken).toEqual([{ ...none, unchanged: 2 }]);
    // A file may say them, and not whose they are.
    expect((await take([staged("AA", { id, externalId: "9:1" })])).taken).toEqual([
      { ...none, updated: 1 },
    ]);
    expect((await identities())[0]).toEqual(["AA", "9:1", "9"]);
    const another = await take([of("9:7", "of another id", { id })]);
    expect(another.arranged).toMatchObject({ unknownIds: 1, animals: 0 });
    await take([staged("stranger", { id }), of("9:8", "c")], [], { newIds: true });
    expect(await brief()).toEqual(["1 AA none", "2 B none", "3 stranger none", "4 c none"]);
  });

  test("categories come by key, and animals whose category has no id stay out", async () => {
    await begin();
    const open = (name: string, categoryKey: number) =>
      staged(name, { categoryId: undefined, categoryKey });
    const { ready } = await take([open("a", 1), open("b", 0), open("c", 2)], [7n, undefined, -8n]);
    expect(ready).toBe(2);
    expect((await added()).map(({ name, categoryId }) => [name, categoryId])).toEqual([
      ["b", 7n],
      ["c", -8n],
    ]);
  });

  test("an import is one change in the history, with what each animal was before", async () => {
    await begin();
    await take([of("10:1", "a"), of("10:2", "b"), of("10:3", "c"), of("10:4", "d")]);
    await take([
      of("10:1", "A", { categoryId: int64Max }),
      of("10:3", "c"),
      gone("10:2"),
      of("10:5", "e"),
    ]);
    const [last] = await store.read(() =>
      rows(
        sql<{ id: bigint; actor: string; action: string; summary: string }>`
          SELECT id, actor, action, CAST(summary AS text) AS summary FROM ${changes} ORDER BY id DESC LIMIT 1`,
      ),
    );
    expect(last).toMatchObject({ actor: "tester", action: "import", summary: '{"of":"a test"}' });
    const changeId = last?.id ?? 0n;
    const events = await store.read(() =>
      rows(
        sql<{ pet: bigint; was: string | null; now: string | null }>`
          SELECT pet_id AS pet, CAST(before AS text) AS was, CAST(after AS text) AS now
          FROM ${petEvents} WHERE change_id = ${changeId} ORDER BY pet_id`,
      ),
    );
    const fields = { status: null, source: "10" };
    const parsed = events.map(({ pet, was, now }) => [
      pet - after,
      was === null ? null : JSON.parse(was.replace(String(int64Max), '"max"')),
      now === null ? null : JSON.parse(now.replace(String(int64Max), '"max"')),
    ]);
    expect(parsed).toEqual([
      [
        1n,
        { ...fields, name: "a", categoryId: 1, externalId: "10:1" },
        { ...fields, name: "A", categoryId: "max", externalId: "10:1" },
      ],
      [2n, { ...fields, name: "b", categoryId: 1, externalId: "10:2" }, null],
    ]);
    const made = await store.read(() =>
      rows(sql`SELECT name AS name FROM ${pets} WHERE created_in = ${changeId}`),
    );
    expect(made).toEqual([{ name: "e" }]);
    await take([of("10:5", "e")]);
    const [same] = await store.read(() =>
      rows(sql<{ id: bigint }>`SELECT max(id) AS id FROM ${changes}`),
    );
    expect(same?.id).toBe(changeId);
  });

  test("a large one goes in the order of external ids, and those without are there too", async () => {
    await begin();
    const count = 100_001;
    const animals = Array.from({ length: count }, (_, index) =>
      index % 2 === 0 ? of(`11:${count - index}`, `n${index}`) : staged(`n${index}`),
    );
    const stage = await catalogue.beginImport({ actor: "tester", nowMs: () => 0 });
    await stage.add(animals);
    expect(await stage.arrange({ categoryIds: [] })).toMatchObject({ animals: count });
    expect(await stage.takeOver(count)).toEqual({ ...none, added: count });
    await stage.close();
    const found = (await added()).flatMap(({ externalId }) => externalId ?? []);
    expect(found).toHaveLength(50_001);
    expect(found).toEqual(found.toSorted());
  }, 120_000);

  test("an import that ends early leaves nothing behind", async () => {
    await begin();
    const stage = await catalogue.beginImport({ actor: "tester", nowMs: () => 0 });
    await stage.add([of("12:1", "a")]);
    await stage.close();
    expect(await brief()).toEqual([]);
    await take([staged("a")]);
    expect(await brief()).toEqual(["1 a none"]);
  });

  test("categories are named all or none, and exported with the animals", async () => {
    await begin();
    const named = [
      { id: -2n, name: "Dog" },
      { id: 5n, name: "Écureuil" },
    ];
    const name = async (categories: readonly Category[]) => {
      const stage = await catalogue.beginImport({ actor: "tester", nowMs: () => 0 });
      await closing(
        () => stage.close(),
        () => stage.addCategories(categories),
      );
    };
    await name(named.toReversed());
    expect(await catalogue.categories()).toEqual(named);
    const twice = [
      { id: 6n, name: "Bird" },
      { id: 7n, name: "ÉCUREUIL" },
    ];
    expect(await name(twice).catch((error: unknown) => error)).toBeInstanceOf(Error);
    expect(await catalogue.categories()).toEqual(named);
    await take([staged("a", { categoryId: 5n }), staged("b", { categoryId: 6n })]);
    expect((await added()).map(({ category }) => category)).toEqual(["Écureuil", undefined]);
    expect(await catalogue.highestCategoryId()).toBe(int64Max);
    await store.transact(() => run(sql`DELETE FROM ${pets} WHERE category_id > 100`));
  });
});

test("a full disk is said to be that of the temporary file", async () => {
  const store = openSqliteStore({
    folder: ":memory:",
    clock: () => 0,
    timeoutMs: 100,
    serving: false,
  });
  const session = store.session();
  store.session = () => session;
  const stage = await catalogueOf(store).beginImport({ actor: "tester", nowMs: () => 0 });
  await session.read(() => rows(sql`PRAGMA temp.max_page_count = 8`));
  const many = Array.from({ length: 1_000 }, (_, index) => staged(`animal ${index}`));
  const error: unknown = await stage.add(many).catch((failure: unknown) => failure);
  expect((error as Error).message).toStartWith(
    "The temporary file of the import cannot be written",
  );
  await stage.close();
  await store.close();
});
