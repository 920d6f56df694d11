/** How data are asked, the same on both databases. */
import { expect, test } from "bun:test";
import { asc, eq, sql } from "drizzle-orm";
import { int64Max } from "../../src/domain/int64.ts";
import type { Store } from "../../src/storage/contract.ts";
import { changePets, columnsOf, nextEpoch, type Tx } from "../../src/storage/database.ts";
import { postgresTables } from "../../src/storage/schema.postgres.ts";
import { sqliteTables } from "../../src/storage/schema.sqlite.ts";
import { openForEach } from "../helpers/stores.ts";

let store: Store;

openForEach((opened) => void (store = opened));

const add = (tx: Tx, id: bigint, name: string) =>
  tx.insert(tx.t.categories).values({ id, name, nameKey: name.toLowerCase() });
const names = () =>
  store.db.read((tx) => tx.select().from(tx.t.categories).orderBy(asc(tx.t.categories.id)));

test("a transaction reads, decides and writes", async () => {
  const changed = await store.db.transaction(async (tx) => {
    const { categories } = tx.t;
    await add(tx, 1n, "Dog");
    await add(tx, int64Max, "Écureuil");
    const isLast = eq(categories.id, int64Max);
    const [found] = await tx.forUpdate(tx.select().from(categories).where(isLast));
    const name = `${found?.name} roux`;
    return [
      await tx.run(tx.update(categories).set({ name }).where(isLast)),
      await tx.run(sql`DELETE FROM ${categories} WHERE ${categories.id} = 2`),
      await tx.rows(sql`SELECT id, name FROM ${categories} WHERE ${categories.name} <> ${"Dog"}`),
    ];
  });
  expect(changed).toEqual([1, 0, [{ id: int64Max, name: "Écureuil roux" }]]);
  expect(await names()).toEqual([
    { id: 1n, name: "Dog", nameKey: "dog" },
    { id: int64Max, name: "Écureuil roux", nameKey: "écureuil" },
  ]);
});

test("transactions that are asked for together see each other's results", async () => {
  const raise = () =>
    store.db.transaction(async (tx) => {
      const found = await tx.select().from(tx.t.categories);
      await add(tx, BigInt(found.length), `category ${found.length}`);
      return found.length;
    });
  expect(await Promise.all(Array.from({ length: 5 }, raise))).toEqual([0, 1, 2, 3, 4]);
});

test("a transaction is of no use after its end", async () => {
  const kept = await store.db.transaction(async (tx) => ({ tx, late: add(tx, 1n, "Dog") }));
  expect(async () => kept.late).toThrow();
  expect(async () => kept.tx.select().from(kept.tx.t.categories)).toThrow();
  expect(kept.tx.rows(sql`SELECT 1`)).rejects.toThrow("ended");
  expect(await names()).toEqual([]);
});

test("an int64 in JSON stays exact, in returning() too", async () => {
  const summary = { least: -int64Max - 1n, most: int64Max, text: "{}", list: [1, null] };
  const categories = [{ id: int64Max, before: null, after: "Dog" }];
  const both = await store.db.transaction(async (tx) => {
    const { changes } = tx.t;
    const change = { atMs: 1, actor: "tester", action: "add" };
    const returned = await tx
      .insert(changes)
      .values({ ...change, summary, categories })
      .returning(columnsOf(changes));
    await tx.insertAll(changes, [{ ...change, summary, categories }]);
    await tx.update(changes).set({ undoes: int64Max, summary }).where(eq(changes.id, 1n));
    const found = await tx.select(columnsOf(changes)).from(changes).orderBy(asc(changes.id));
    return { returned, found };
  });
  const stored = { id: 1n, atMs: 1, actor: "tester", action: "add", summary, categories };
  const nulls = { undoes: null, undoneIn: null };
  expect(both.returned).toEqual([{ ...stored, ...nulls }]);
  expect(both.found).toEqual([
    { ...stored, ...nulls, undoes: int64Max },
    { ...stored, ...nulls, id: 2n },
  ]);
});

test("insertAll adds rows of all types", async () => {
  const hash = new Uint8Array([0, 1, 255]);
  const session = { personId: "p", createdAtMs: 1, expiresAtMs: 2 ** 52, seenAtMs: 3 };
  const person = { id: "p", name: "Pat", role: "staff" as const, createdAtMs: 1, createdBy: "a" };
  const added = await store.db.transaction(async (tx) => [
    await tx.insertAll(tx.t.people, [person]),
    await tx.insertAll(tx.t.sessions, [{ hash, ...session }]),
    await tx.insertAll(tx.t.sessions, []),
  ]);
  expect(added).toEqual([1, 1, 0]);
  const [found] = await store.db.read((tx) =>
    tx.select().from(tx.t.sessions).where(eq(tx.t.sessions.hash, hash)),
  );
  expect({ ...found, hash: [...(found?.hash ?? [])] }).toEqual({ ...session, hash: [...hash] });
});

test("changes of animals and keys are seen by this process at once", async () => {
  const [before, count] = [store.versions(), await store.pets.count()];
  await store.db.transaction(async (tx) => {
    await nextEpoch(tx);
    await changePets(tx, "additions", async () => {
      const more = await tx.insertAll(tx.t.pets, [
        { name: "Rex", categoryId: 1n },
        { name: "Ada", categoryId: 2n },
      ]);
      return { result: undefined, more };
    });
  });
  const added = store.versions();
  expect(added.keys).toBe(before.keys + 1);
  expect(added.pets).toBeGreaterThan(before.pets);
  expect(added.edits).toBe(before.edits);
  expect(await store.pets.count()).toBe(count + 2);
  await store.db.transaction((tx) =>
    changePets(tx, "any", async () => {
      const fewer = await tx.run(sql`DELETE FROM ${tx.t.pets} WHERE ${tx.t.pets.name} = 'Rex'`);
      return { result: undefined, more: -fewer };
    }),
  );
  expect(store.versions().edits).toBeGreaterThan(added.edits);
  expect(await store.pets.count()).toBe(count + 1);
});

test("JSON of a bare column is refused where the client would round it", () => {
  const bare = { changeId: 2 ** 63 };
  expect(() => postgresTables.petEvents.after.mapFromDriverValue(bare)).toThrow("columnsOf");
  const text = '{"changeId":9223372036854775807}';
  const parsed = sqliteTables.petEvents.after.mapFromDriverValue(text);
  expect(parsed).toEqual({ changeId: int64Max });
});
