/** What the public pages show: the animals for adoption and their categories, newest first. */
import { desc, eq, inArray, isNotNull, sql } from "drizzle-orm";
import type { Database, Tx } from "../../storage/database.ts";
import { getMeta } from "../../storage/store-state.ts";
import { storeIdMeta } from "../meta.ts";

export const listSize = 5_000;
export const feedSize = 50;

export type PublicAnimal = Awaited<ReturnType<typeof animalsOf>>[number];

export type PublicList = Awaited<ReturnType<typeof publicList>>;
export type PublicFeed = Awaited<ReturnType<typeof newestAnimals>>;
export type StoreFacts = Awaited<ReturnType<typeof storeFacts>>;

/**
 * The facts that the feed needs and that stay as they are, stored the first time: an id, and what
 * counts as the last change of animals of which nothing older is known.
 */
export function storeFacts(db: Database, newId: string, nowMs: number) {
  return db.transaction(async (tx) => {
    const stored = async (name: string, value: string) => {
      await tx.insert(tx.t.storeState).values({ name, value }).onConflictDoNothing();
      return (await getMeta(tx, name)) ?? value;
    };
    const storeId = await stored(storeIdMeta, newId);
    return { storeId, sinceMs: Number(await stored("public_since_ms", String(nowMs))) };
  });
}

/** The newest animals: the page says it if there are more, and the interface has them all. */
export function publicList(db: Database, { sinceMs }: StoreFacts) {
  return db.read(async (tx) => {
    const rows = await animalsOf(tx, listSize + 1);
    return {
      updatedAtMs: await lastChange(tx, sinceMs),
      animals: rows.slice(0, listSize),
      hasMore: rows.length > listSize,
    };
  });
}

/** The newest animals with the time of the last change of each. */
export function newestAnimals(db: Database, { sinceMs }: StoreFacts) {
  return db.read(async (tx) => {
    const animals = await animalsOf(tx, feedSize);
    const ids = animals.map(({ id }) => id);
    const times = await changeTimes(tx, ids);
    return {
      updatedAtMs: await lastChange(tx, sinceMs),
      entries: animals.map((each) => ({ ...each, updatedAtMs: times.get(each.id) ?? sinceMs })),
    };
  });
}

function animalsOf(tx: Tx, limit: number) {
  const { pets, categories } = tx.t;
  const { id, name, status } = pets;
  const category = { id: pets.categoryId, name: categories.name };
  return tx
    .select({ id, name, status, category })
    .from(pets)
    .leftJoin(categories, eq(categories.id, pets.categoryId))
    .where(inArray(status, ["available", "pending"]))
    .orderBy(desc(id))
    .limit(limit);
}

/** When each animal was last changed, else created; null where neither is known. */
async function changeTimes(tx: Tx, ids: bigint[]): Promise<Map<bigint, number | null>> {
  const { pets, petEvents, changes } = tx.t;
  const rows = await tx
    .select({
      id: pets.id,
      createdAtMs: pets.createdAtMs,
      changedAtMs: sql<number | null>`max(${changes.atMs})`.mapWith(changes.atMs),
    })
    .from(pets)
    .leftJoin(petEvents, eq(petEvents.petId, pets.id))
    .leftJoin(changes, eq(changes.id, petEvents.changeId))
    .where(inArray(pets.id, ids))
    .groupBy(pets.id, pets.createdAtMs);
  return new Map(rows.map((each) => [each.id, each.changedAtMs ?? each.createdAtMs]));
}

/** When anything of the list last changed: an animal that leaves it changes it too. */
async function lastChange(tx: Tx, sinceMs: number): Promise<number> {
  const { pets, changes } = tx.t;
  const [change] = await tx
    .select({ atMs: changes.atMs })
    .from(changes)
    .orderBy(desc(changes.id))
    .limit(1);
  const [pet] = await tx
    .select({ atMs: pets.createdAtMs })
    .from(pets)
    .where(isNotNull(pets.createdAtMs))
    .orderBy(desc(pets.id))
    .limit(1);
  return Math.max(change?.atMs ?? sinceMs, pet?.atMs ?? sinceMs);
}
