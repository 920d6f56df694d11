/** Pages made of animals in memory are those that the store has. */
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import type { PageQuery } from "../../src/domain/page.ts";
import { type Pet, petsJson, petStatuses } from "../../src/domain/pet.ts";
import { PetBlocks } from "../../src/http/blocks.ts";

/** A store of these animals, in ascending order, with a count of how often it was read. */
function storeOf(pets: readonly Pet[]) {
  const store = {
    reads: 0,
    page: async ({ limit, status, after }: PageQuery) => {
      store.reads += 1;
      const isAsked = (pet: Pet) =>
        (status === undefined || pet.status === status) && (after === undefined || pet.id > after);
      return pets.filter(isAsked).slice(0, limit);
    },
  };
  return store;
}

const numbered = (ids: readonly number[]): Pet[] =>
  ids.map((id) => ({ id: BigInt(id), name: `animal ${id}`, categoryId: 1n }));
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const always = () => true;

/** Asks for `query` until the blocks that it lacks can have been read. */
async function askOften(blocks: PetBlocks, query: PageQuery) {
  for (let times = 0; times < 32 && blocks.find(query) === undefined; times += 1) {
    await blocks.learn(query, always);
  }
  return blocks.find(query);
}

const text = fc.string({ unit: "binary" }).filter((name) => !name.includes("\0"));
const pet = fc.record({
  id: fc
    .oneof(
      { weight: 9, arbitrary: fc.integer({ min: 1, max: 90 }) },
      { weight: 1, arbitrary: fc.integer({ min: -5, max: 900 }) },
    )
    .map(BigInt),
  name: text,
  categoryId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  status: fc.constantFrom(undefined, ...petStatuses),
});
const pets = fc
  .uniqueArray(pet, { selector: ({ id }) => id, minLength: 40, maxLength: 90 })
  .map((all) => all.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
const after = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(undefined, 500n, 2n ** 62n) },
  { weight: 9, arbitrary: fc.integer({ min: -6, max: 95 }).map(BigInt) },
);
const query = fc.record({
  limit: fc.integer({ min: 1, max: 12 }),
  status: fc.constantFrom(undefined, undefined, undefined, "sold" as const),
  after,
});

test("a page that is found is byte for byte the store's, and has a page behind it", async () => {
  let found = 0;
  const property = async (all: Pet[], queries: PageQuery[], idsPerBlock: number) => {
    const store = storeOf(all);
    const blocks = new PetBlocks(store.page, { idsPerBlock, bytesMax: 1_000_000 });
    for (const each of queries) {
      const answer = await askOften(blocks, each);
      if (answer === undefined) continue;
      found += 1;
      const stored = await store.page({ ...each, limit: each.limit + 1 });
      const shown = stored.slice(0, each.limit);
      expect(await new Blob([...answer.parts]).text()).toBe(petsJson(shown));
      expect(answer.lastId).toBe(shown.at(-1)?.id as bigint);
      expect(stored.length).toBe(each.limit + 1);
    }
  };
  const queries = fc.array(query, { minLength: 10, maxLength: 20 });
  await fc.assert(fc.asyncProperty(pets, queries, fc.constantFrom(1, 4, 16, 64), property), {
    numRuns: 100,
  });
  expect(found).toBeGreaterThan(300);
});

test("different pages of the same animals are read once", async () => {
  const store = storeOf(numbered(upTo(1_000)));
  const blocks = new PetBlocks(store.page);
  for (let after = 0n; after < 900n; after += 1n) {
    await askOften(blocks, { limit: 20, after });
  }
  expect(store.reads).toBe(15);
});

test("a block is not read for its first page", async () => {
  const store = storeOf(numbered(upTo(1_000)));
  const blocks = new PetBlocks(store.page);
  await blocks.learn({ limit: 20 }, always);
  expect(store.reads).toBe(0);
  await blocks.learn({ limit: 20, after: 1n }, always);
  expect([store.reads, blocks.find({ limit: 20 })?.lastId]).toEqual([1, 20n]);
});

test("what was read before a change, and what may grow, is not kept", async () => {
  const store = storeOf(numbered(upTo(100)));
  const blocks = new PetBlocks(store.page);
  for (let times = 0; times < 4; times += 1) await blocks.learn({ limit: 20 }, () => false);
  expect(blocks.find({ limit: 20 })).toBeUndefined();
  expect(await askOften(blocks, { limit: 20 })).toBeDefined();
  // Ids 65 to 128: the next animal belongs to them.
  const { reads } = store;
  expect(await askOften(blocks, { limit: 20, after: 70n })).toBeUndefined();
  expect(await askOften(blocks, { limit: 20, after: 60n })).toBeUndefined();
  // After 2, 4, 8, 16, 32 and 64 times.
  expect(store.reads - reads).toBe(6);
  blocks.clear();
  expect(blocks.find({ limit: 20 })).toBeUndefined();
});

test("a page behind a long gap is left to the store", async () => {
  const blocks = new PetBlocks(storeOf(numbered([1, 2, 3, 5_000, 5_001])).page);
  expect((await askOften(blocks, { limit: 3 }))?.lastId).toBe(3n);
  expect(await askOften(blocks, { limit: 4 })).toBeUndefined();
});

test("after an edit a block is read again as soon as it was the first time", async () => {
  const blocks = new PetBlocks(storeOf(numbered(upTo(100))).page);
  for (let edits = 0; edits < 4; edits += 1) {
    for (let times = 0; times < 2; times += 1) await blocks.learn({ limit: 20 }, always);
    expect(blocks.find({ limit: 20 })).toBeDefined();
    blocks.clear();
  }
});

test("a block that two requests read at the same time counts once", async () => {
  const store = storeOf(numbered(upTo(9)));
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = async (query: PageQuery) => {
    await promise;
    return store.page(query);
  };
  // One block is smaller than this, and two are not.
  const blocks = new PetBlocks(slow, { idsPerBlock: 4, bytesMax: 300 });
  const learning = Array.from({ length: 4 }, () => blocks.learn({ limit: 2 }, always));
  resolve();
  await Promise.all(learning);
  expect(await askOften(blocks, { limit: 2, after: 4n })).toBeDefined();
});

test("no more animals are in memory than fit, and others get their place in time", async () => {
  const store = storeOf(numbered(upTo(2_000)));
  const blocks = new PetBlocks(store.page, { idsPerBlock: 64, bytesMax: 1 });
  expect(await askOften(blocks, { limit: 20 })).toBeDefined();
  expect(await askOften(blocks, { limit: 20, after: 1_000n })).toBeUndefined();
  expect(store.reads).toBe(1);
  for (let times = 0; times < 20_000; times += 1) {
    await blocks.learn({ limit: 20, after: 1_000n }, always);
  }
  expect(blocks.find({ limit: 20, after: 1_000n })).toBeDefined();
  expect(blocks.find({ limit: 20 })).toBeUndefined();
});

test("which blocks were missing is forgotten when there are too many", async () => {
  const blocks = new PetBlocks(storeOf(numbered(upTo(100))).page);
  expect(await askOften(blocks, { limit: 20 })).toBeDefined();
  for (let number = 1; number <= 40_000; number += 1) {
    await blocks.learn({ limit: 20, after: BigInt(number * 64) }, always);
  }
  expect(blocks.find({ limit: 20 })).toBeUndefined();
});
