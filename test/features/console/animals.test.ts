/** What the console's pages do with animals, on both stores. */
import { addAnimal } from "../../../src/features/animals/animals.ts";
import { expect, test } from "bun:test";
import {
  AnimalActions,
  alikeCategory,
  named,
  type AnimalQuery,
} from "../../../src/features/console/animals.ts";
import { makeChange } from "../../../src/features/animals/changes.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { servicesOn } from "../../helpers/services.ts";
import { openForEach } from "../../helpers/stores.ts";

let store: Store;
let desk: AnimalActions;

openForEach((opened) => {
  store = opened;
  const services = servicesOn(store);
  desk = new AnimalActions(services);
  return services.close;
});

test("a page and an export have the same animals, whatever their number", async () => {
  for (const status of ["sold", undefined, "sold", undefined, undefined] as const) {
    await store.pets.create({ name: "Rex", categoryId: 1n, status });
  }
  const all = { text: "", categoryId: undefined, status: undefined, limit: 2, before: undefined };
  const cases: readonly (readonly [Partial<AnimalQuery>, readonly bigint[]])[] = [
    [{}, [1n, 2n, 3n, 4n, 5n]],
    [{ text: "rex" }, [1n, 2n, 3n, 4n, 5n]],
    [{ status: "none" }, [2n, 4n, 5n]],
    [{ text: "4" }, [4n]],
    [{ text: "9".repeat(30) }, []],
  ];
  for (const [query, ids] of cases) {
    const asked = { ...all, ...query };
    const batches = await Array.fromAsync(desk.all(asked));
    expect([query, batches.flat().map(({ id }) => id)]).toEqual([query, [...ids]]);
    const { animals, more, found } = await desk.find({ ...asked, limit: ids.length || 1 });
    expect([query, animals.map(({ id }) => id)]).toEqual([query, ids.toReversed()]);
    expect([query, more, found]).toEqual([query, false, ids.length]);
    const short = await desk.find({ ...asked, limit: 1 });
    expect([query, short.more]).toEqual([query, ids.length > 1]);
  }
});

test("animals are found by their ID in a list, counted by status, and ordered by name", async () => {
  const editing = { db: store.db, clock: Date.now, actor: "Ana" };
  const listed = (name: string, id: string, status?: "sold" | "pending") => ({
    name,
    categoryId: 1n,
    externalId: `north:${id}`,
    source: "north",
    ...(status && { status }),
  });
  const all = [listed("Zoe", "R-1", "sold"), listed("Ärmel", "R-2"), listed("bo", "R-10", "sold")];
  await makeChange(editing, "import", (change) => change.add(all));
  const asked = { text: "", categoryId: undefined, status: undefined, before: undefined };
  const names = async (query: Partial<AnimalQuery>) =>
    (await desk.find({ ...asked, limit: 2, ...query })).animals.map(({ name }) => name);
  expect(await names({ text: "r-1" })).toEqual(["Zoe"]);
  expect(await names({ text: "north:R-2" })).toEqual(["Ärmel"]);
  expect(await names({ byNameFrom: 0 })).toEqual(["Ärmel", "bo"]);
  expect(await names({ byNameFrom: 2 })).toEqual(["Zoe"]);
  expect(await names({ byNameFrom: 0, status: "sold" })).toEqual(["bo", "Zoe"]);
  for (const text of ["", "o"]) {
    const { counts } = await desk.find({ ...asked, text, limit: 1, status: "sold" });
    expect([text, counts.get("sold"), counts.get(null)]).toEqual([text, 2, text ? undefined : 1]);
  }
  expect(await desk.origin(1n)).toEqual({ source: "north", externalId: "R-1", said: undefined });
  expect(await desk.named("Max", "Dog")).toBeUndefined();
  const max = { name: "Max", category: named("Dog") };
  await desk.change("Ana", (by) => addAnimal(by, max));
  expect(await desk.named("MAX", "dog")).toMatchObject({ name: "Max" });
});

test.each([
  ["Dgo", "Dog"],
  ["do g", "Dog"],
  ["Dgos", undefined],
  ["Fox", "Fax"],
  ["Oxx", undefined],
  ["FÔX", undefined],
  ["Cat", undefined],
])("a category %s is one slip away from %p", (name, here) => {
  const known = ["Dog", "Ox", "Fax", "Fôx", "Cat"].map((each, at) => ({
    id: BigInt(at),
    name: each,
  }));
  expect(alikeCategory(name, known)?.name).toBe(here);
});
