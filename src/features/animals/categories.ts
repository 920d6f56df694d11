/** Categories: the kinds of animals by name. The interface has only their ids. */
import { asc, count, eq, type SQL } from "drizzle-orm";
import { printable } from "../../cli/terminal/text.ts";
import { AppError } from "../../domain/errors.ts";
import { longWork } from "../long-work.ts";
import { parseInt64 } from "../../domain/int64.ts";
import { type Database, type Tx, getMeta } from "../../storage/database.ts";
import { setMeta } from "../meta.ts";
import { isVisible } from "../visible.ts";
import type { CategoryEvent, Change, ChangeRow, Editing } from "./changes.ts";
import { makeChange } from "./changes.ts";

export interface Category {
  readonly id: bigint;
  readonly name: string;
}

/** A category, named or carried by animals, and how many of them carry it. */
export interface CategoryUse {
  readonly id: bigint;
  /** Undefined for one that has a number only. */
  readonly name: string | undefined;
  readonly animals: number;
}

/** A category as a person names it: by its id, or by its name in any case. */
export interface CategoryReference {
  readonly text: string;
  /** Makes an unknown category; undefined if nothing may be made. */
  readonly create?: boolean | undefined;
}

/** What names are compared by: case, blanks around and composition of accents do not count. */
export function categoryKey(name: string): string {
  return name.trim().normalize("NFC").toLowerCase();
}

const lastCategoryMeta = "last_category_id";
/** Ids above it are given by people and programs only, so that theirs never use ours up. */
export const ownIdMax = 2n ** 53n;

export async function categoriesInUse(tx: Tx): Promise<CategoryUse[]> {
  const { pets } = tx.t;
  const named = await namedCategories(tx);
  const all = new Map<bigint, CategoryUse>(named.map((each) => [each.id, { ...each, animals: 0 }]));
  const carried = tx.select({ id: pets.categoryId, animals: count() }).from(pets);
  for (const { id, animals } of await carried.groupBy(pets.categoryId)) {
    all.set(id, { id, name: all.get(id)?.name, animals });
  }
  return [...all.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

export async function namedCategories(tx: Tx, where?: SQL): Promise<Category[]> {
  const { id, name } = tx.t.categories;
  return tx.select({ id, name }).from(tx.t.categories).where(where).orderBy(asc(id));
}

export const categoryById = async (tx: Tx, id: bigint): Promise<Category | undefined> =>
  (await namedCategories(tx, eq(tx.t.categories.id, id)))[0];

export const categoryByName = async (tx: Tx, name: string): Promise<Category | undefined> =>
  (await namedCategories(tx, eq(tx.t.categories.nameKey, categoryKey(name))))[0];

/** What names of categories mean in lists that people merged or renamed, by `categoryKey`. */
export async function categoryWords(tx: Tx): Promise<ReadonlyMap<string, bigint>> {
  const words = tx.t.categoryWords;
  const rows = await tx.select().from(words).orderBy(words.nameKey, words.changeId);
  return new Map(rows.map(({ nameKey, categoryId }) => [nameKey, categoryId]));
}

/** Lets lists mean `into` by the name of a category, and by all that it stood for until now. */
export async function rememberWord(change: Change, name: string, from: bigint, into: bigint) {
  const { tx, id: changeId } = change;
  const known = [...(await categoryWords(tx))].filter(([, id]) => id === from && from !== into);
  const keys = new Set([categoryKey(name), ...known.map(([key]) => key)]);
  const rows = [...keys].map((nameKey) => ({ nameKey, changeId, categoryId: into }));
  await tx.insert(tx.t.categoryWords).values(rows).onConflictDoNothing();
}

const isCarried = async ({ select, t: { pets } }: Tx, id: bigint): Promise<boolean> =>
  (await select().from(pets).where(eq(pets.categoryId, id)).limit(1)).length > 0;

/**
 * The id of the category that `reference` means: a number that has a name or an animal, else a
 * name. Throws `not_found`, with the known names, when there is none and none may be made in
 * `change`.
 */
export async function resolveCategory(
  tx: Tx,
  { text, create }: CategoryReference,
  change?: Change,
): Promise<bigint> {
  const name = text.trim();
  const id = parseInt64(name);
  const known = await namedCategories(tx);
  if (id !== undefined) {
    // If no category has a name, any number is valid.
    const isAny = known.length === 0 || known.some((each) => each.id === id);
    if (isAny || (await isCarried(tx, id))) return id;
  }
  const found = await categoryByName(tx, name);
  if (found !== undefined) return found.id;
  if (create !== true || change === undefined) {
    throw unknownCategory(name, known, create !== undefined);
  }
  // A number needs no name; animals carry it from now on.
  return id ?? (await nameCategory(change, await freeName(tx, name))).id;
}

/** The name without blanks around it, which must be seen, and which no other category has. */
async function freeName(tx: Tx, given: string, own?: bigint): Promise<string> {
  const holder = await categoryByName(tx, given);
  if (holder !== undefined && holder.id !== own) throw taken(holder);
  if (isVisible(given)) return given.trim();
  const message = "The name of a category must have a character that can be seen.";
  throw new AppError("invalid_request", message);
}

function taken({ id, name }: Category): AppError {
  const hint = "rehome categories rename gives it another name, and merge makes one of two.";
  const message = `The category ${id} has the name ${JSON.stringify(name)}.`;
  return new AppError("invalid_request", message, { hint });
}

function unknownCategory(name: string, known: readonly Category[], mayCreate: boolean): AppError {
  const some = known.slice(0, 20).map((each) => `${printable(each.name)} (${each.id})`);
  const more = known.length > 20 ? ", and others" : "";
  const list = known.length === 0 ? "None has a name yet" : `Known: ${some.join(", ")}${more}`;
  return new AppError("not_found", `There is no category ${JSON.stringify(name)}. ${list}.`, {
    hint: `${mayCreate ? "Add --create-category to make it; " : ""}rehome categories list shows all.`,
  });
}

/** Gives names to new categories, with ids above all that were given, or to ids that have none. */
export async function nameCategories(
  change: Change,
  wanted: readonly { readonly id?: bigint | undefined; readonly name: string }[],
): Promise<Category[]> {
  const { tx } = change;
  const used = new Set((await categoriesInUse(tx)).map(({ id }) => id));
  let last = await lastGiven(tx);
  const made: Category[] = [];
  for (const { id: given, name } of wanted) {
    let free = last + 1n;
    while (used.has(free)) free += 1n;
    const id = given ?? free;
    if (id > last && id <= ownIdMax) last = id;
    await setName(change, { id, after: name, ...(used.has(id) && { wasCarried: true }) });
    made.push({ id, name });
  }
  await setMeta(tx, lastCategoryMeta, String(last));
  return made;
}

async function nameCategory(change: Change, name: string, id?: bigint): Promise<Category> {
  const [made] = (await nameCategories(change, [{ id, name }])) as [Category];
  return made;
}

/** The greatest id that a category got here. A store of 1.0.0 has no such fact: its names tell. */
export async function lastGiven(tx: Tx): Promise<bigint> {
  const given = BigInt((await getMeta(tx, lastCategoryMeta)) ?? 0);
  const ids = (await namedCategories(tx)).map(({ id }) => id);
  return ids.filter((id) => id <= ownIdMax).reduce((a, b) => (a > b ? a : b), given);
}

/** Gives a category the name that it has after `event`, or takes it away. */
async function setName({ tx, categories: events }: Change, event: CategoryEvent): Promise<void> {
  const { categories } = tx.t;
  const { id, after: name } = event;
  await tx.delete(categories).where(eq(categories.id, id));
  if (name !== undefined) {
    await tx.insert(categories).values({ id, name, nameKey: categoryKey(name) });
  }
  events.push(event);
}

/**
 * Undoes what a change did to categories, as far as nobody changed them since. A name that another
 * category has now stays there, and a category with animals stays: theirs are undone before.
 */
export async function undoCategories(change: Change, undone: ChangeRow): Promise<void> {
  const { tx } = change;
  for (const event of undone.categories ?? []) {
    const { before, after, wasCarried } = event as Partial<CategoryEvent>;
    const id = BigInt(event["id"] as number | bigint);
    if ((await categoryById(tx, id))?.name !== after) continue;
    const holder = before === undefined ? undefined : await categoryByName(tx, before);
    const isNeeded = before === undefined && wasCarried !== true && (await isCarried(tx, id));
    if (isNeeded || (holder?.id ?? id) !== id) continue;
    await setName(change, { id, before: after, after: before });
  }
}

export const categoryNames = async (db: Database): Promise<ReadonlyMap<bigint, string>> =>
  new Map((await db.read(namedCategories)).map(({ id, name }) => [id, name]));

/** Names a category: the one with `id`, or a new one. */
export function addCategory(editing: Editing, given: string, id?: bigint): Promise<Category> {
  return makeChange(editing, "add category", async (change) => {
    const name = await freeName(change.tx, given);
    const current = id === undefined ? undefined : await categoryById(change.tx, id);
    if (current !== undefined) throw taken(current);
    const made = await nameCategory(change, name, id);
    change.summary = { ...made };
    return made;
  });
}

export function renameCategory(editing: Editing, from: string, given: string): Promise<Category> {
  return makeChange(editing, "rename category", async (change) => {
    const { tx } = change;
    const id = await resolveCategory(tx, { text: from });
    const name = await freeName(tx, given, id);
    const before = (await categoryById(tx, id))?.name;
    if (before === name) return { id, name };
    change.summary = { id, before, after: name };
    if (before === undefined) return nameCategory(change, name, id);
    await rememberWord(change, before, id, id);
    await setName(change, { id, before, after: name });
    return { id, name };
  });
}

/** Moves the animals of `from` to `into`, and drops `from`. Returns how many animals moved. */
export function mergeCategories(editing: Editing, from: string, into: string): Promise<number> {
  const work = async (change: Change) => {
    const { tx } = change;
    change.summary = { from, into };
    const categoryId = await resolveCategory(tx, { text: into });
    const id = await resolveCategory(tx, { text: from });
    if (id === categoryId) {
      const both = printable(`${from} and ${into}`);
      throw new AppError("invalid_request", `${both} are the same category.`);
    }
    await change.planUpdate(eq(tx.t.pets.categoryId, id), { categoryId });
    const named = await categoryById(tx, id);
    if (named !== undefined) {
      await rememberWord(change, named.name, id, categoryId);
      await setName(change, { id, before: named.name });
    }
    await change.carryOut();
    return change.counts.updated;
  };
  return makeChange(editing, "merge categories", work, longWork);
}
