/**
 * The public addresses. Each body is made at most once in five seconds, and shared by all
 * responses with its compressed form: a visitor costs no query and no compression.
 */
import { desc, eq, inArray, isNotNull, sql } from "drizzle-orm";
import { Elysia } from "elysia";
import type { RoutesOptions } from "../../http/app.ts";
import { respond } from "../../http/errors.ts";
import { acceptedLanguages, formFor, formsOf } from "../../web/encodings.ts";
import type { Database, Tx } from "../../storage/database.ts";
import { getMeta } from "../../storage/store-state.ts";
import type { Page } from "../../web/layout.ts";
import { storeIdMeta } from "../meta.ts";
import embed from "./embed.js" with { type: "text" };
import {
  animalsFeed,
  animalsJson,
  animalsPage,
  type Language,
  languages,
  type Shelter,
} from "./pages.ts";

const madeForMs = 5_000;

const common = {
  "cache-control": "public, max-age=60",
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
  "x-content-type-options": "nosniff",
};
const typed = (type: string) => ({ "content-type": type });

export function publicRoutes(shelter: Shelter, newId: string, options: RoutesOptions) {
  const { baseUrl, services } = options;
  const { clock, store } = services;
  const { db } = store;
  let facts: Promise<StoreFacts> | undefined;
  const known = () => {
    facts ??= storeFacts(db, newId, clock());
    facts.catch(() => (facts = undefined));
    return facts;
  };
  const list = async () => publicList(db, await known());
  const pageIn = async (language: Language) => {
    const { text, headers } = animalsPage(await list(), shelter, language);
    return { text, headers: { ...headers, vary: "Accept-Language" } };
  };
  const pages = {
    en: shared(clock, () => pageIn("en")),
    es: shared(clock, () => pageIn("es")),
  };
  const json = shared(clock, async () => {
    return { text: animalsJson(await list()), headers: typed("application/json") };
  });
  const feed = shared(clock, async () => {
    const stored = await known();
    const text = animalsFeed(await newestAnimals(db, stored), shelter, stored, baseUrl);
    return { text, headers: typed("application/atom+xml; charset=utf-8") };
  });
  const script = shared(clock, async () => {
    return { text: embed, headers: typed("text/javascript; charset=utf-8") };
  });

  return new Elysia({ name: "public" })
    .get("/animals", ({ request }) => pages[languageOf(request)](request))
    .get("/animals.json", ({ request }) => json(request))
    .get("/animals.atom", ({ request }) => feed(request))
    .get("/animals.js", ({ request }) => script(request));
}

/** Responds with what `make` returned last, or failed with, within the last five seconds. */
function shared(nowMs: () => number, make: () => Promise<Page>) {
  let madeAtMs = Number.NEGATIVE_INFINITY;
  let made: ReturnType<typeof makeBody> | undefined;
  const makeBody = async () => {
    const { headers, text } = await make();
    return { headers: { ...headers, ...common }, forms: await formsOf(text) };
  };
  return async (request: Request): Promise<Response> => {
    const ageMs = nowMs() - madeAtMs;
    if (made === undefined || ageMs < 0 || ageMs >= madeForMs) {
      madeAtMs = nowMs();
      made = makeBody();
    }
    const { forms, headers } = await made;
    return respond(request, ...formFor(request, forms, headers));
  };
}

function languageOf({ url, headers }: Request): Language {
  const asked = new URL(url).searchParams.get("lang");
  const accepted = acceptedLanguages(headers.get("accept-language"));
  const known = [asked, ...accepted].map((tag) => languages.find((each) => each === tag));
  return known.find((each) => each !== undefined) ?? "en";
}

/* The animals for adoption and their categories, newest first. */

const listSize = 5_000;
const feedSize = 50;

export type PublicAnimal = Awaited<ReturnType<typeof animalsOf>>[number];

export type PublicList = Awaited<ReturnType<typeof publicList>>;
export type PublicFeed = Awaited<ReturnType<typeof newestAnimals>>;
export type StoreFacts = Awaited<ReturnType<typeof storeFacts>>;

/** What the feed needs and stays: an id, and the time of animals of which none is known. */
function storeFacts(db: Database, newId: string, nowMs: number) {
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
function publicList(db: Database, { sinceMs }: StoreFacts) {
  return db.read(async (tx) => {
    const rows = await animalsOf(tx, listSize + 1);
    return {
      updatedAtMs: await lastChange(tx, sinceMs),
      animals: rows.slice(0, listSize),
      hasMore: rows.length > listSize,
    };
  });
}

function newestAnimals(db: Database, { sinceMs }: StoreFacts) {
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
