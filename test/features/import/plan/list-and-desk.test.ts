/** A list and people change the same animals: on both stores, against a model of two animals. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { type Desk, deskOf } from "../../animals/animals-of.ts";
import type { ImportOptions } from "../../../../src/features/import/plan/plan.ts";
import type { Store } from "../../../../src/storage/contract.ts";
import { changePets } from "../../../../src/storage/database.ts";
import type { PetStatus } from "../../../../src/domain/pet.ts";
import { importText } from "../../../helpers/import-text.ts";
import { openForEach, stores } from "../../../helpers/stores.ts";

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

describe.each(stores)("$name", (kind) => {
  let store: Store;
  let animals: Desk["animals"];
  let categories: Desk["categories"];

  openForEach(kind, (opened) => {
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
    (await animals.find({ limit: 10 })).pets.map(
      ({ name, status }) => `${name} ${status ?? "none"}`,
    );
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
    expect(again.keptAnimals).toEqual([
      {
        id: await idOf("Rex"),
        name: "Rex",
        did: "kept",
        by: "ana",
        fields: [{ field: "status", before: "sold", after: "available" }],
      },
    ]);
    const forced = await whole([rex], { listWins: true });
    expect(forced.animals[0]?.fields).toEqual([
      { field: "status", before: "sold", after: "available" },
    ]);
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

  test("an undo of an import takes back what its list said", async () => {
    await whole([rex]);
    await animals.update([await idOf("Rex")], { status: "sold" });
    // Both changed: the sale stays, and the import is a change, because it said something else.
    expect(await whole([{ ...rex, status: "pending" }])).toMatchObject({ kept: 1, updated: 0 });
    await animals.undo();
    await animals.undo();
    expect(await shown()).toEqual(["Rex available"]);
    expect(await whole([{ ...rex, status: "pending" }])).toMatchObject({ kept: 0, updated: 1 });
    expect(await shown()).toEqual(["Rex pending"]);
  });

  test("an animal that people removed comes back once its list had it gone", async () => {
    await whole([rex]);
    await animals.remove([await idOf("Rex")]);
    expect(await whole([rex])).toMatchObject({ added: 0, kept: 1 });
    await whole([{ id: "2", name: "Ada", status: "available" }]);
    expect(await whole([rex])).toMatchObject({ added: 1, kept: 0 });
    expect(await shown()).toEqual(["Rex available"]);
  });

  test("without ids a list knows its animals by what it calls them", async () => {
    const ada = { id: "", name: "Ada", status: "available" };
    await whole([{ ...rex, id: "" }, ada], { hasIds: false });
    await animals.update([await idOf("Rex")], { name: "Max", status: "pending" });
    expect(await whole([{ ...rex, id: "" }, ada], { hasIds: false })).toMatchObject({
      kept: 1,
      unchanged: 2,
      added: 0,
      withdrawn: 0,
    });
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

  test("a list of animals from before what it says was stored is told by events, or says less", async () => {
    await whole([rex, { id: "2", name: "Ada", status: "available" }]);
    await animals.update([await idOf("Rex")], { status: "sold" });
    await store.db.transaction((tx) => tx.delete(tx.t.listEntries));
    const next = [rex, { id: "2", name: "Ada", status: "pending" }];
    expect(await whole(next)).toMatchObject({ kept: 1, updated: 1 });
    expect(await shown()).toEqual(["Rex sold", "Ada pending"]);
    // Nothing tells who said what.
    await store.db.transaction(async (tx) => {
      for (const table of [tx.t.listEntries, tx.t.petEvents, tx.t.changes]) await tx.delete(table);
    });
    const last = [
      { ...rex, name: "Max" },
      { id: "2", name: "Ada", status: "sold" },
    ];
    expect(await whole(last)).toMatchObject({ kept: 1, updated: 1 });
    expect(await shown()).toEqual(["Rex sold", "Ada sold"]);
  });

  test("the same ids with other names are another list, which needs a source", async () => {
    const dogs = ["Rex", "Ada", "Tom"].map((name, at) => ({ ...rex, id: `${at + 1}`, name }));
    const cats = ["Mia", "Leo", "Tom"].map((name, at) => ({ ...rex, id: `${at + 1}`, name }));
    await list(dogs, { source: "" });
    expect(list(cats, { source: "" })).rejects.toMatchObject({ code: "otherList" });
    expect(await shown()).toEqual(["Rex available", "Ada available", "Tom available"]);
    expect(await list(cats, { source: "cats" })).toMatchObject({ added: 3 });
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
    type Said = { readonly is: "there"; name: string; status: Status } | { readonly is: "gone" };
    interface Known {
      readonly here: { readonly name: string; readonly status: Status } | undefined;
      /** As it was when it went. */
      readonly former?: { readonly name: string; readonly status: Status } | undefined;
      readonly said: Said;
      readonly saidName: string;
    }
    type Model = Readonly<Record<string, Known | undefined>>;
    const ids = ["1", "2"] as const;
    const far = ["available", "pending", null, "sold"];
    const further = (a: Status, b: Status) => (far.indexOf(a) >= far.indexOf(b) ? a : b);

    /** What becomes of one animal, in the words of the rules. */
    function listed(known: Known | undefined, row: Row | undefined): Known | undefined {
      const isThere = row !== undefined && row.status !== "died";
      if (!isThere) {
        if (known === undefined) return undefined;
        const goes = known.said.is === "there" && known.here !== undefined;
        const here = goes ? undefined : known.here;
        return { ...known, here, former: known.here ?? known.former, said: { is: "gone" } };
      }
      const { name } = row;
      const status = row.status as Status;
      const said = { is: "there", name, status } as const;
      const isAsListed = { here: { name, status }, said, saidName: name };
      if (known === undefined) return isAsListed;
      const { former, saidName } = known;
      if (known.here === undefined && known.said.is === "there")
        return { ...known, said, saidName: name };
      const had = known.here ?? former;
      if (had === undefined) return isAsListed;
      const nameNow = saidName !== name && had.name === saidName ? name : had.name;
      const lastStatus = known.said.is === "there" ? known.said.status : null;
      const isNew = known.here === undefined;
      const byList = lastStatus !== status;
      const byDesk = lastStatus !== had.status;
      const both = byDesk ? further(status, had.status) : status;
      const statusNow = isNew ? status : byList ? both : had.status;
      return { here: { name: nameNow, status: statusNow }, said, saidName: name };
    }

    const row = fc.option(
      fc.record({
        name: fc.constantFrom("Rex", "Max"),
        status: fc.constantFrom("available", "pending", "sold", "died"),
      }),
      { nil: undefined },
    );
    const which = fc.constantFrom(...ids);
    type Step =
      | { readonly do: "list"; readonly rows: readonly (Omit<Row, "id"> | undefined)[] }
      | { readonly do: "set"; readonly id: string; readonly status: Status }
      | { readonly do: "name"; readonly id: string; readonly name: string }
      | { readonly do: "remove"; readonly id: string }
      | { readonly do: "restore"; readonly id: string }
      | { readonly do: "undo" };
    const step: fc.Arbitrary<Step> = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ do: fc.constant("list" as const), rows: fc.tuple(row, row) }),
      },
      fc.record({
        do: fc.constant("set" as const),
        id: which,
        status: fc.constantFrom<Status>("available", "pending", "sold", null),
      }),
      fc.record({
        do: fc.constant("name" as const),
        id: which,
        name: fc.constantFrom("Rex", "Ada"),
      }),
      fc.record({ do: fc.constant("remove" as const), id: which }),
      fc.record({ do: fc.constant("restore" as const), id: which }),
      { weight: 2, arbitrary: fc.record({ do: fc.constant("undo" as const) }) },
    );

    async function clear() {
      await store.db.transaction(async (tx) => {
        const { petEvents, changes, pets, removedPets, listEntries, categories: named } = tx.t;
        const there = await tx.select({ id: pets.id }).from(pets);
        await changePets(tx, "any", async () => {
          for (const table of [petEvents, changes, pets, removedPets, listEntries, named]) {
            await tx.delete(table);
          }
          return { result: undefined, more: -there.length };
        });
      });
    }

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
        rows.map(({ externalId, name, status }) => [
          externalId?.replace("s:", ""),
          { name, status },
        ]),
      );
    }

    /** Does a step at the desk in the model; undefined where it is not possible. */
    function atDesk(known: Known, each: Exclude<Step, { do: "list" | "undo" }>): Known | undefined {
      const { here, former } = known;
      if (each.do === "restore") {
        return here === undefined && former
          ? { ...known, here: former, former: undefined }
          : undefined;
      }
      if (here === undefined) return undefined;
      if (each.do === "remove") return { ...known, here: undefined, former: here };
      const set = each.do === "set" ? { status: each.status } : { name: each.name };
      return { ...known, here: { ...here, ...set } };
    }

    async function really(each: Exclude<Step, { do: "list" | "undo" }>) {
      const id = (await petIds()).get(each.id) ?? 0n;
      if (each.do === "remove") return animals.remove([id]);
      if (each.do === "restore") return animals.restore(id);
      return animals.update(
        [id],
        each.do === "set" ? { status: each.status } : { name: each.name },
      );
    }

    test("ends as the rules say", async () => {
      const property = fc.asyncProperty(
        fc.array(step, { minLength: 2, maxLength: 12 }),
        async (steps) => {
          await clear();
          let model: Model = {};
          /** The model before each change in force. */
          const befores: Model[] = [];
          for (const each of steps) {
            const before = model;
            if (each.do === "list") {
              const rows = ids.flatMap((id, at) => {
                const found = each.rows[at];
                return found === undefined ? [] : [{ id, ...found }];
              });
              model = Object.fromEntries(
                ids.map((id) => [
                  id,
                  listed(
                    before[id],
                    rows.find((found) => found.id === id),
                  ),
                ]),
              );
              const done = await whole(rows);
              if (done.change !== undefined) befores.push(before);
            } else if (each.do === "undo") {
              const last = befores.pop();
              if (last === undefined) continue;
              model = last;
              await animals.undo();
            } else {
              const known = model[each.id];
              const next = known && atDesk(known, each);
              if (next === undefined) continue;
              model = { ...model, [each.id]: next };
              await really(each);
              if (JSON.stringify(next.here) !== JSON.stringify(known?.here)) befores.push(before);
            }
            const expected = Object.fromEntries(
              ids.flatMap((id) => (model[id]?.here === undefined ? [] : [[id, model[id].here]])),
            );
            expect(await state()).toEqual(expected as never);
          }
        },
      );
      await fc.assert(property, { seed: 20261128, numRuns: kind.name === "sqlite" ? 300 : 60 });
    }, 300_000);
  });
});
