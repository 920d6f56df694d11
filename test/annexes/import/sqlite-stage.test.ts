import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { AppError } from "../../../src/domain/errors.ts";
import type { CatalogueStore, Store, StagedAnimal } from "../../../src/storage/contract.ts";
import { int64Max, int64Min } from "../../../src/domain/int64.ts";
import { catalogueMigrations } from "../../../src/storage/sqlite/files.ts";
import { migrate } from "../../../src/storage/sqlite/migrate.ts";
import { beginImport } from "../../../src/annexes/import/sqlite-stage.ts";
import { openSqliteStore } from "../../../src/storage/sqlite/store.ts";
import { takeOver } from "../../helpers/import-stage.ts";

let store: Store;
let catalogue: CatalogueStore;

beforeEach(() => {
  store = openSqliteStore({
    folder: ":memory:",
    clock: () => 0,
    random: () => 0,
    timeoutMs: 100,
    serving: false,
  });
  catalogue = store.catalogue;
});

afterEach(async () => {
  await store.close();
});

function animal(name: string, fields: Partial<StagedAnimal> = {}): StagedAnimal {
  const nothing = { status: undefined, externalId: undefined, version: 0, withdrawn: false };
  return { name, categoryId: 1n, categoryKey: undefined, ...nothing, ...fields };
}

const take = (animals: readonly StagedAnimal[], ids?: readonly (bigint | undefined)[]) =>
  takeOver(catalogue, animals, ids);

const all = async () => await catalogue.exportPage(int64Min, 1_000_000);
const names = async () => (await all()).map(({ name }) => name);

describe("an import", () => {
  test("adds exactly what it was given, in order, some at a time", async () => {
    const { ready, taken } = await take([
      animal("b", { externalId: "x:2", categoryId: int64Max, status: "sold" }),
      animal("a", { categoryId: int64Min }),
      animal("", { externalId: "x:1", status: "pending" }),
    ]);
    expect([ready, taken.map(({ added }) => added)]).toEqual([3, [2, 1]]);
    expect(await all()).toEqual([
      { id: 1n, name: "b", categoryId: int64Max, status: "sold", externalId: "x:2" },
      { id: 2n, name: "a", categoryId: int64Min, status: undefined, externalId: undefined },
      { id: 3n, name: "", categoryId: 1n, status: "pending", externalId: "x:1" },
    ]);
  });

  test("updates what has changed by external id, and nothing else", async () => {
    await take([animal("a", { externalId: "1" }), animal("b", { externalId: "2" })]);
    const second = [
      animal("a", { externalId: "1" }),
      animal("b", { externalId: "2", status: "sold" }),
      animal("c", { externalId: "3" }),
      animal("d"),
    ];
    const { compared, taken } = await take(second);
    expect(compared).toEqual({ added: 2, updated: 1, unchanged: 1 });
    expect(taken).toEqual([
      { added: 0, updated: 1, unchanged: 1 },
      { added: 2, updated: 0, unchanged: 0 },
    ]);
    expect((await all()).map(({ id, name, status }) => [id, name, status])).toEqual([
      [1n, "a", undefined],
      [2n, "b", "sold"],
      [3n, "c", undefined],
      [4n, "d", undefined],
    ]);
  });

  test("keeps the newest record of an animal: by version, else the later one", async () => {
    const { ready } = await take([
      animal("new", { externalId: "1", version: 3 }),
      animal("old", { externalId: "1", version: 2 }),
      animal("first", { externalId: "2" }),
      animal("last", { externalId: "2" }),
      animal("gone", { externalId: "3", version: 1 }),
      animal("", { externalId: "3", version: 2, withdrawn: true }),
      animal("", { externalId: "4", version: 1, withdrawn: true }),
      animal("back", { externalId: "4", version: 2 }),
      animal("twin"),
      animal("twin"),
    ]);
    expect(ready).toBe(5);
    expect(await names()).toEqual(["new", "last", "back", "twin", "twin"]);
  });

  test("fills in categories by key, and leaves out those that have none", async () => {
    const open = (name: string, categoryKey: number) =>
      animal(name, { categoryId: undefined, categoryKey });
    const { ready } = await take([open("a", 1), open("b", 0), open("c", 2)], [7n, undefined, -8n]);
    expect(ready).toBe(2);
    expect((await all()).map(({ name, categoryId }) => [name, categoryId])).toEqual([
      ["b", 7n],
      ["c", -8n],
    ]);
  });

  test("a large one goes in the order of external ids, and those without follow", async () => {
    const count = 100_001;
    const animals = Array.from({ length: count }, (_, index) =>
      animal(`n${index}`, index % 2 === 0 ? { externalId: `x:${count - index}` } : {}),
    );
    const stage = await catalogue.beginImport();
    await stage.add(animals);
    expect(await stage.arrange([])).toBe(count);
    expect(await stage.takeOver(count)).toEqual({ added: count, updated: 0, unchanged: 0 });
    await stage.close();
    const externalIds = (await all()).map(({ externalId }) => externalId);
    const given = animals.flatMap(({ externalId }) =>
      externalId === undefined ? [] : [externalId],
    );
    expect(externalIds.slice(0, given.length)).toEqual(given.toSorted());
    expect(externalIds.slice(given.length).every((id) => id === undefined)).toBe(true);
  });

  test("leaves nothing behind when it ends early, and the version of the animals rises when it does not", async () => {
    const stage = await catalogue.beginImport();
    await stage.add([animal("a", { externalId: "1" })]);
    await stage.close();
    expect(await names()).toEqual([]);
    const before = store.versions().pets;
    await take([animal("a")]);
    expect(store.versions().pets).toBeGreaterThan(before);
    expect(await names()).toEqual(["a"]);
  });
});

test("a full disk is said to be that of the temporary file", () => {
  using db = new Database(":memory:", { safeIntegers: true, strict: true });
  migrate(db, "the catalogue", catalogueMigrations);
  const stage = beginImport(db, () => {});
  db.run("PRAGMA temp.max_page_count = 8");
  const many = Array.from({ length: 1_000 }, (_, index) => animal(`animal ${index}`));
  expect(() => stage.add(many)).toThrow(
    "The temporary file of the import cannot be written (database or disk is full); nothing was changed.",
  );
});

describe("categories", () => {
  test("are listed by id, and the highest id counts those that animals carry", async () => {
    expect(await catalogue.highestCategoryId()).toBe(0n);
    await catalogue.addCategories([
      { id: 5n, name: "Écureuil" },
      { id: -2n, name: "Dog" },
    ]);
    expect(await catalogue.categories()).toEqual([
      { id: -2n, name: "Dog" },
      { id: 5n, name: "Écureuil" },
    ]);
    expect(await catalogue.highestCategoryId()).toBe(5n);
    await store.pets.create({ name: "a", categoryId: int64Max });
    expect(await catalogue.highestCategoryId()).toBe(int64Max);
  });

  test("one name in two cases is refused, and then none is kept", async () => {
    const twice = [
      { id: 1n, name: "Écureuil" },
      { id: 2n, name: "ÉCUREUIL" },
    ];
    const adding = (async () => catalogue.addCategories(twice))();
    expect(await adding.catch((error: AppError) => error.why)).toContain("UNIQUE");
    expect(await catalogue.categories()).toEqual([]);
  });
});
