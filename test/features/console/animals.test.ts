/** What the console's pages do with animals, on both stores. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { animalDesk, type AnimalDesk } from "../../../src/features/console/animals/desk.ts";
import type { AnimalQuery } from "../../../src/features/console/desk.ts";
import { createServices, type Services } from "../../../src/service/services.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { hookTimeoutMs } from "../../helpers/postgres.ts";
import { stores, type StorePlace } from "../../helpers/stores.ts";

describe.each(stores)("$name", (kind) => {
  let place: StorePlace;
  let services: Services;
  let store: Store;
  let desk: AnimalDesk;

  beforeEach(async () => {
    place = await kind.place();
    store = await place.open();
    services = createServices(store, {
      environment: "production",
      clock: Date.now,
      randomBytes: (count) => new Uint8Array(count),
      actor: "tester",
      anonymousPerMinute: 300,
      bans: true,
      onError: (error) => expect(error).toBeUndefined(),
    });
    desk = animalDesk(services);
  }, hookTimeoutMs);
  afterEach(async () => {
    await services.close();
    await place[Symbol.asyncDispose]();
  }, hookTimeoutMs);

  test("changes that one person makes in several tabs at once are told apart", async () => {
    const names = Array.from({ length: 8 }, (_, at) => `Rex ${at}`);
    const made = await Promise.all(
      names.map((name) => desk.add({ name, category: "Dog", status: undefined }, "Ana")),
    );
    const records = await Promise.all(made.map(({ changeId = 0n }) => desk.changeById(changeId)));
    expect(records.map((record) => record?.name)).toEqual(names);
    const [second] = made.slice(1);
    const undone = await desk.undo(second?.changeId ?? 0n, "Ana");
    expect(await desk.changeById(undone.changeId ?? 0n)).toMatchObject({
      undoes: second?.changeId,
      name: "Rex 1",
    });
  });

  test("a change that changes nothing has no number", async () => {
    const id = await store.pets.create({ name: "Rex", categoryId: 1n });
    expect(await desk.update([id], { name: "Rex" }, "Ana")).toEqual({ changeId: undefined });
    expect((await desk.update([id], { name: "Max" }, "Ana")).changeId).toBeDefined();
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

  test("a search with the index of names finds what one without it does", async () => {
    const statuses = ["available", "pending", "sold", undefined] as const;
    for (let at = 0; at < 60; at += 1) {
      const name = `${at % 3 === 0 ? "Ñandú Ø" : "Rex"} ${at}`;
      await store.pets.create({
        name,
        categoryId: BigInt((at % 2) + 1),
        status: statuses[at % 4],
      });
    }
    const indexed = animalDesk(services, 0);
    const all = { text: "", categoryId: undefined, status: undefined, limit: 7, before: undefined };
    await indexed.find(all);
    const asked: Partial<AnimalQuery>[] = [
      { text: "nandu" },
      { text: "u o" },
      { text: "REX 1" },
      { text: "zzz" },
      { text: "7" },
      { text: "60" },
      { text: "ñ", status: "sold" },
      { text: "rex", categoryId: 2n, before: 30n },
      { text: "rex", status: "none", limit: 100 },
    ];
    // The names are read in the background; both ways answer the same at any time.
    for (let round = 0; round < 3; round += 1) {
      for (const query of asked) {
        const [found, plain] = [
          await indexed.find({ ...all, ...query }),
          await desk.find({ ...all, ...query }),
        ];
        expect([query, found]).toEqual([query, plain]);
      }
    }
  });
});
