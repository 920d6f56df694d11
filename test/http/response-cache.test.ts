/**
 * Rendered answers are kept while they are right, and no longer; and there is a bound to how many.
 */
import { sql, type SQL } from "drizzle-orm";
import { describe, expect, test } from "bun:test";
import type { PageQuery } from "../../src/domain/page.ts";
import { petsJson } from "../../src/domain/pet.ts";
import { type CacheBounds, ResponseCache, type Rendered } from "../../src/http/response-cache.ts";
import { listen } from "../../src/http/server.ts";
import type { Services } from "../../src/service/services.ts";
import type { Tx } from "../../src/storage/database.ts";
import { testApp } from "../helpers/app.ts";
import { editPets } from "../helpers/edit-pets.ts";
import { changesNoticed } from "../helpers/store-under-test.ts";

/** Answers on a store, with a count of how often the store was read. */
async function counted(bounds?: CacheBounds) {
  const { services } = await testApp();
  const { pets } = services;
  const reads = { count: 0, isEmpty: false, held: undefined as Promise<void> | undefined };
  const counting = Object.assign(Object.create(pets) as Services["pets"], {
    async page(query: PageQuery) {
      reads.count += 1;
      if (reads.isEmpty) return [];
      const found = await pets.page(query);
      await reads.held;
      return found;
    },
    async byId(id: bigint) {
      reads.count += 1;
      return pets.byId(id);
    },
  });
  const answers = new ResponseCache({ pets: counting, store: services.store }, bounds);
  const edit = (statement: (tx: Tx) => SQL) => editPets(services.store.db, statement);
  return { answers, edit, pets, reads };
}

const once = { keyId: "key", value: "a value", bodyHash: new Uint8Array(32), nowMs: 0 };

/** The body of an answer as text. */
const bodyOf = async (answer: Rendered | undefined | Promise<Rendered | undefined>) =>
  (await answer)?.body.text();

describe("an answer", () => {
  test("is shared by all who ask for it at the same time, and not over a change", async () => {
    const { answers, pets, reads } = await counted();
    await pets.create({ name: "Rex", categoryId: 1n });
    await changesNoticed();
    const { promise, resolve } = Promise.withResolvers<void>();
    reads.held = promise;
    const before = Array.from({ length: 3 }, async () => answers.page({ limit: 3 }));
    await pets.create({ name: "Luna", categoryId: 1n });
    await changesNoticed();
    const after = answers.page({ limit: 3 });
    resolve();
    const [first, ...others] = await Promise.all(before);
    for (const other of others) expect(other.body).toBe(first!.body);
    expect(await bodyOf(after)).toContain("Luna");
    expect(reads.count).toBe(2);
  });

  test("stays when an animal is added behind it, and goes when one changes", async () => {
    const { answers, edit, pets, reads } = await counted();
    for (const name of ["Rex", "Mia", "Tom"]) await pets.create({ name, categoryId: 1n });
    const ask = async () => {
      await changesNoticed();
      reads.count = 0;
      for (let i = 0; i < 2; i += 1) {
        await answers.page({ limit: 2 });
        await answers.page({ limit: 9 });
        await answers.pet(1n);
      }
      return reads.count;
    };
    expect(await ask()).toBe(3);
    expect(await ask()).toBe(0);
    await pets.create({ name: "Ada", categoryId: 1n });
    // What no page follows: the last page, and the animal.
    expect(await ask()).toBe(2);
    await pets.createOnce({ ...once, pet: { name: "Kim", categoryId: 1n } });
    expect(await ask()).toBe(2);
    await edit(({ t }) => sql`UPDATE ${t.pets} SET status = 'sold' WHERE id = 3`);
    expect(await ask()).toBe(3);
    await edit(({ t }) => sql`DELETE FROM ${t.pets} WHERE id > 3`);
    expect(await ask()).toBe(3);
    await pets.create({ name: "Leo", categoryId: 1n });
    expect(await ask()).toBe(2);
    await edit(({ t }) => sql`INSERT INTO ${t.pets} (id, name, category_id) VALUES (4, 'Ada', 1)`);
    expect(await ask()).toBe(3);
  });

  test.each([
    ["an animal is added", { limit: 9 }, undefined],
    [
      "an animal changes",
      { limit: 9 },
      ({ t }: Tx) => sql`UPDATE ${t.pets} SET name = 'Ada' WHERE id = 1`,
    ],
    [
      "a page changes that another follows",
      { limit: 1 },
      ({ t }: Tx) => sql`DELETE FROM ${t.pets} WHERE id = 1`,
    ],
  ])("that was read before %s is not kept after it", async (_what, query, statement) => {
    const { answers, edit, pets, reads } = await counted();
    for (const name of ["Rex", "Mia"]) await pets.create({ name, categoryId: 1n });
    await changesNoticed();
    const { promise, resolve } = Promise.withResolvers<void>();
    reads.held = promise;
    const early = answers.page(query);
    if (statement === undefined) await pets.create({ name: "Luna", categoryId: 1n });
    else await edit(statement);
    await changesNoticed();
    // Another request notices the change meanwhile.
    await answers.pet(2n);
    resolve();
    await early;
    expect(await bodyOf(answers.page(query))).toBe(petsJson(await pets.page(query)));
  });
});

test("are let go when they are more than the bounds, and there is room again", async () => {
  for (const bounds of [
    { entries: 2, bytes: 1_000 },
    { entries: 100, bytes: 80 },
  ]) {
    const { answers, pets, reads } = await counted(bounds);
    // Of 35 bytes as JSON.
    for (const name of ["Rex", "Mia", "Tom"]) await pets.create({ name, categoryId: 1n });
    await changesNoticed();
    const ask = async (...ids: readonly bigint[]) => {
      reads.count = 0;
      for (const id of ids) await answers.pet(id);
      return reads.count;
    };
    expect(await ask(1n, 2n, 1n, 2n)).toBe(2);
    expect(await ask(3n, 3n)).toBe(1);
    expect(await ask(1n, 3n)).toBe(1);
    // Larger than all that there is room for.
    await pets.create({ name: "x".repeat(1_000), categoryId: 1n });
    await changesNoticed();
    expect(await ask(4n, 4n)).toBe(2);
  }
});

test("a list has a new animal after its 201, however much was asked for before", async () => {
  const { handler, key, services } = await testApp();
  const server = listen(handler, { host: "127.0.0.1", port: 0, reusePort: false });
  const headers = { authorization: `Bearer ${await key()}`, "content-type": "application/json" };
  const url = `http://127.0.0.1:${server.port}/v1/pets`;
  const name = "x".repeat(1_000);
  await Promise.all(
    Array.from({ length: 300 }, () => services.pets.create({ name, categoryId: 1n })),
  );
  const list = async (after: number) => {
    const answer = await fetch(`${url}?limit=100&after=${after}`, { headers });
    return ((await answer.json()) as unknown[]).length;
  };
  // More than the cache holds; the next page is the first one that does not fit.
  for (let after = 0; after <= 40; after += 1) expect(await list(after)).toBe(100);
  expect(await list(299)).toBe(1);
  const body = '{"name":"Rex","categoryId":1}';
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(201);
  expect(await list(299)).toBe(2);
  await server.stop(100);
});
