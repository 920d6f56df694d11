/** A list and people change the same animals: on both stores, against a model of two animals. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { type Desk, deskOf } from "../../animals/animals-of.ts";
import type { ImportOptions } from "../../../../src/features/import/plan/plan.ts";
import { decide, type Said } from "../../../../src/features/import/plan/said.ts";
import { runImport } from "../../../../src/features/import/import.ts";
import { prepare } from "../../../../src/features/import/understand/propose.ts";
import { importedText } from "../../../../src/features/import/report.ts";
import type { Store } from "../../../../src/storage/contract.ts";
import type { PetStatus } from "../../../../src/domain/pet.ts";
import { changePets } from "../../../../src/storage/database.ts";
import { emptied, importText } from "../../../helpers/import-text.ts";
import { openForEach } from "../../../helpers/stores.ts";
import { isOnPostgres } from "../../../helpers/store-under-test.ts";

const nowMs = Date.UTC(2026, 10, 28);
type Status = PetStatus | null;
interface Row {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly kind?: string;
}

const columns = { externalId: "Id", name: "Name", categoryId: "Species", status: "Status" };
const nameless = { name: "Name", categoryId: "Species", status: "Status" };

const csv = (rows: readonly Row[]) =>
  [
    "Id,Name,Species,Status",
    ...rows.map((row) => [row.id, row.name, row.kind ?? "Dog", row.status].join()),
  ].join("\n");

let store: Store;
let animals: Desk["animals"];
let categories: Desk["categories"];

openForEach((opened) => {
  store = opened;
  const editing = { db: store.db, clock: () => nowMs, actor: "ana" };
  ({ animals, categories } = deskOf(editing));
});

interface Options extends ImportOptions {
  readonly source?: string;
  readonly hasIds?: boolean;
}
const list = (rows: readonly Row[], { source = "s", hasIds = true, ...options }: Options = {}) =>
  importText(store.db, csv(rows), {
    given: { columns: hasIds ? columns : nameless, source },
    nowMs,
    confirmed: true,
    ...options,
  });
const whole = (rows: readonly Row[], options: Options = {}) =>
  list(rows, { complete: true, ...options });
const shown = async () =>
  (await animals.find({ limit: 10 })).pets.map(({ name, status }) => `${name} ${status ?? "none"}`);
const idOf = async (name: string) => {
  const [pet] = (await animals.find({ name, limit: 1 })).pets;
  return pet?.id ?? 0n;
};
const rex = { id: "1", name: "Rex", status: "available" };

test("the list does not take back an adoption at the desk, and says who is kept", async () => {
  await whole([rex]);
  await animals.update([await idOf("Rex")], { status: "sold" });
  const again = await whole([rex]);
  expect(await shown()).toEqual(["Rex sold"]);
  expect(again).toMatchObject({ kept: 1, unchanged: 1, updated: 0, change: undefined });
  expect(importedText(again)).toContain("1  unchanged\n  1  of them kept as people changed them");
  const fields = [{ field: "status", before: "sold", after: "available" }];
  const animal = { id: await idOf("Rex"), name: "Rex" };
  expect(again.keptAnimals).toMatchObject([{ ...animal, did: "kept", by: "ana", fields }]);
  const forced = await whole([rex], { listWins: true });
  expect(forced.animals).toMatchObject([{ ...animal, did: "updated", fields }]);
  expect(await shown()).toEqual(["Rex available"]);
  await animals.undo();
  expect(await shown()).toEqual(["Rex sold"]);
});

test.each([
  ["a kind that is not known", { kind: "Unicorn" }],
  ["the error of a spreadsheet for a name", { name: "#REF!" }],
])("a bad record with %s hides whom it calls adopted, once", async (_, bad) => {
  const bo = { id: "2", name: "Bo", status: "available" };
  await whole([rex, bo]);
  const listed = (status: string) =>
    list([{ ...rex, ...bad, status }, bo], { skipBad: true, createCategories: false });
  expect(await listed("adopted")).toMatchObject({ rejected: 1, updated: 1, unchanged: 1 });
  expect(await shown()).toEqual(["Rex sold", "Bo available"]);
  // What people decide since holds against the same words of the list.
  await animals.update([await idOf("Rex")], { status: "available" });
  expect(await listed("adopted")).toMatchObject({ rejected: 1, updated: 0 });
  // And nothing but a status further from adoption is taken of a bad record.
  await animals.update([await idOf("Rex")], { status: "sold" });
  expect(await listed("reserved")).toMatchObject({ rejected: 1, updated: 0 });
  expect(await shown()).toEqual(["Rex sold", "Bo available"]);
});

test("without ids a list knows its animals by what it calls them", async () => {
  const ada = { id: "", name: "Ada", status: "available" };
  await whole([{ ...rex, id: "" }, ada], { hasIds: false });
  await animals.update([await idOf("Rex")], { name: "Max", status: "pending" });
  const again = await whole([{ ...rex, id: "" }, ada], { hasIds: false });
  expect(again).toMatchObject({ kept: 1, unchanged: 2, added: 0, withdrawn: 0 });
  expect(await shown()).toEqual(["Max pending", "Ada available"]);
  expect(await whole([ada], { hasIds: false })).toMatchObject({ withdrawn: 1 });
  expect(await whole([{ ...rex, id: "" }, ada], { hasIds: false })).toMatchObject({ added: 1 });
  expect(await shown()).toEqual(["Max available", "Ada available"]);
});

test("the word of a category means what it was merged into, until somebody makes it", async () => {
  const perro = { ...rex, kind: "Perro" };
  await whole([perro]);
  await categories.add("Dog");
  await categories.merge("Perro", "Dog");
  await categories.rename("Dog", "Canine");
  const more = { id: "2", name: "Ada", status: "available", kind: "Perro" };
  expect(await whole([perro, more])).toMatchObject({ added: 1, updated: 0, kept: 0 });
  expect((await categories.named()).map(({ name }) => name)).toEqual(["Canine"]);
  const again = await categories.add("Perro");
  await whole([perro, more, { ...more, id: "3", name: "Tom" }]);
  const pets = (await animals.find({ limit: 10 })).pets;
  expect(pets.map(({ categoryId }) => categoryId === again.id)).toEqual([false, false, true]);
});

test("what a list said before that was stored is told by events, or the further holds", async () => {
  const ada = { id: "2", name: "Ada", status: "available" };
  await whole([rex, { ...ada, status: "pending" }]);
  await whole([
    { ...rex, status: "pending" },
    { ...ada, status: "pending" },
  ]);
  const forget = (...more: ("petEvents" | "changes")[]) =>
    store.db.transaction(async (tx) => {
      for (const table of ["listEntries", ...more] as const) await tx.delete(tx.t[table]);
    });
  await forget();
  // The list says otherwise than it did, and people changed nothing.
  expect(await whole([rex, ada])).toMatchObject({ kept: 0, updated: 2 });
  expect(await shown()).toEqual(["Rex available", "Ada available"]);
  await animals.update([await idOf("Rex")], { status: "sold" });
  await forget("petEvents", "changes");
  // Nothing tells who said what.
  const last = [
    { ...rex, name: "Max" },
    { ...ada, status: "pending" },
  ];
  expect(await whole(last)).toMatchObject({ kept: 1, updated: 1 });
  expect(await shown()).toEqual(["Rex sold", "Ada pending"]);
});

test("the same ids with other names are another list, which needs a source", async () => {
  const dogs = ["Rex", "Ada", "Tom"].map((name, at) => ({ ...rex, id: `${at + 1}`, name }));
  const cats = ["Mia", "Leo", "Tom"].map((name, at) => ({ ...rex, id: `${at + 1}`, name }));
  await list(dogs, { source: "" });
  expect(list(cats, { source: "" })).rejects.toMatchObject({ code: "otherList" });
  expect(await shown()).toEqual(["Rex available", "Ada available", "Tom available"]);
  expect(await list(cats, { source: "cats" })).toMatchObject({ added: 3 });
  // Nor is it the list of the last source with these columns, unless somebody says so.
  const told = await prepare(new TextEncoder().encode(csv(dogs)), { columns, source: "cats" });
  const recalled = { ...told, isSourceNamed: false };
  const editing = { db: store.db, clock: () => nowMs, actor: "ana" };
  expect(runImport(editing, recalled)).rejects.toMatchObject({ code: "otherList" });
  expect(await runImport(editing, told)).toMatchObject({ updated: 2 });
});

test("a word that nobody explained hides who was available, until it is explained", async () => {
  const others = ["2", "3"].map((id) => ({ ...rex, id, name: `Dog ${id}` }));
  await list([rex, ...others]);
  const strange = [{ ...rex, status: "zwischenstation" }, ...others];
  const hidden = await list(strange, { skipBad: true });
  expect(hidden).toMatchObject({ waiting: 1, rejected: 1, unchanged: 2 });
  expect(await shown()).toEqual(["Rex none", "Dog 2 available", "Dog 3 available"]);
  // Who knows better makes it available, and it stays so.
  await animals.update([await idOf("Rex")], { status: "available" });
  expect(await list(strange, { skipBad: true })).toMatchObject({ waiting: 0 });
  expect(await shown()).toEqual(["Rex available", "Dog 2 available", "Dog 3 available"]);
  await animals.undo();
  expect(await list([rex, ...others])).toMatchObject({ updated: 1, kept: 0 });
  const most = [rex, ...others].map((each) => ({ ...each, status: "zwischenstation" }));
  expect(list([...most, { ...rex, id: "9" }], { skipBad: true })).rejects.toMatchObject({
    code: "mostUnexplained",
  });
});

test("an animal that was stored as Unnamed has no name once its list comes again", async () => {
  await list([
    { ...rex, name: "Unnamed" },
    { ...rex, id: "2", name: "Unnamed" },
  ]);
  await store.db.transaction(async (tx) => {
    const { pets, listEntries } = tx.t;
    await tx.delete(listEntries);
    await changePets(tx, "any", async () => {
      await tx.update(pets).set({ name: "Unnamed" });
      return { result: undefined, more: 0 };
    });
  });
  await animals.update([2n], { name: "Ada" });
  await list([
    { ...rex, name: "" },
    { ...rex, id: "2", name: "" },
  ]);
  expect(await shown()).toEqual([" available", "Ada available"]);
});

describe("any sequence of lists, work at the desk and undos", () => {
  /** An animal as it is here, and as its list said last. */
  interface Known {
    readonly here: Said;
    readonly said: Said;
  }
  type Model = Readonly<Record<string, Known | undefined>>;
  const ids = ["1", "2"] as const;

  /** What becomes of one animal by the rules, of which desk.test.ts has every case. */
  function listed(known: Known | undefined, row: Row | undefined): Known | undefined {
    const isThere = row !== undefined && row.status !== "died";
    if (!isThere && known === undefined) return undefined;
    const { name, status } = isThere ? row : { name: known?.said.name ?? null, status: null };
    const presence = isThere ? ("there" as const) : ("gone" as const);
    const now = { presence, name, status: status as Status, category: null };
    if (known === undefined) return { here: now, said: now };
    const here = { ...known.here };
    for (const field of decide(known.said, now, here, false).takes) {
      Object.assign(here, { [field]: now[field] });
    }
    return { here, said: now };
  }

  const row = fc.option(
    fc.record({
      name: fc.constantFrom("Rex", "Max"),
      status: fc.constantFrom("available", "pending", "sold", "died"),
    }),
    { nil: undefined },
  );
  /** What a person does with one animal; undefined in the model where it is not possible. */
  interface AtDesk {
    readonly id: string;
    readonly inModel: (here: Said) => Said | undefined;
    readonly really: (pet: bigint) => Promise<unknown>;
  }
  const isHere = ({ presence }: Said) => presence === "there";
  const sets = (id: string, set: { name?: string; status?: Status }): AtDesk => ({
    id,
    inModel: (here) => (isHere(here) ? { ...here, ...set } : undefined),
    really: (pet) => animals.update([pet], set),
  });
  const removes = (id: string): AtDesk => ({
    id,
    inModel: (here) => (isHere(here) ? { ...here, presence: "gone" } : undefined),
    really: (pet) => animals.remove([pet]),
  });
  const restores = (id: string): AtDesk => ({
    id,
    inModel: (here) => (isHere(here) ? undefined : { ...here, presence: "there" }),
    really: (pet) => animals.restore(pet),
  });
  const which = fc.constantFrom(...ids);
  const aStatus = fc.constantFrom<Status>("available", "pending", "sold", null);
  const aName = fc.constantFrom("Rex", "Ada");
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(row, row).map((rows) => ({ rows })) },
    fc.tuple(which, aStatus).map(([id, status]) => sets(id, { status })),
    fc.tuple(which, aName).map(([id, name]) => sets(id, { name })),
    which.map(removes),
    which.map(restores),
    { weight: 2, arbitrary: fc.constant("undo" as const) },
  );

  async function petIds() {
    return store.db.read(async (tx) => {
      const { pets, removedPets } = tx.t;
      const found = [];
      for (const table of [pets, removedPets]) {
        found.push(...(await tx.select({ id: table.id, of: table.externalId }).from(table)));
      }
      return new Map(found.map(({ id, of }) => [of?.replace("s:", "") ?? "", id]));
    });
  }

  async function state() {
    const rows = await store.db.read((tx) => tx.select().from(tx.t.pets));
    return Object.fromEntries(
      rows.map(({ externalId, name, status }) => [externalId?.replace("s:", ""), { name, status }]),
    );
  }

  test("ends as the rules say", async () => {
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 2, maxLength: 12 }),
      async (steps) => {
        await emptied(store);
        let model: Model = {};
        /** The model before each change in force. */
        const befores: Model[] = [];
        for (const each of steps) {
          const before = model;
          if (each === "undo") {
            const last = befores.pop();
            if (last === undefined) continue;
            model = last;
            await animals.undo();
          } else if ("rows" in each) {
            const found = ids.map((id, at) => each.rows[at] && { id, ...each.rows[at] });
            model = Object.fromEntries(ids.map((id, at) => [id, listed(before[id], found[at])]));
            const done = await whole(found.filter((listedRow) => listedRow !== undefined));
            if (done.change !== undefined) befores.push(before);
          } else {
            const known = model[each.id];
            const here = known && each.inModel(known.here);
            if (known === undefined || here === undefined) continue;
            model = { ...model, [each.id]: { ...known, here } };
            await each.really((await petIds()).get(each.id) ?? 0n);
            if (JSON.stringify(here) !== JSON.stringify(known.here)) befores.push(before);
          }
          const known = Object.entries(model).flatMap(([id, each]) =>
            each !== undefined && isHere(each.here) ? [[id, each.here] as const] : [],
          );
          const shown = known.map(([id, { name, status }]) => [id, { name, status }] as const);
          expect(await state()).toEqual(Object.fromEntries(shown) as never);
        }
      },
    );
    await fc.assert(property, { seed: 20261128, numRuns: isOnPostgres ? 60 : 300 });
  }, 300_000);
});
