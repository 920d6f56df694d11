/**
 * The public addresses. Each body is made at most once in five seconds, and shared by all
 * responses with its compressed form: a visitor costs no query and no compression.
 */
import { desc, eq, inArray, isNotNull, sql } from "drizzle-orm";
import { Elysia } from "elysia";
import { isoSeconds } from "../../domain/clock.ts";
import { jsonText } from "../../domain/exact-json.ts";
import type { RoutesOptions } from "../../http/app.ts";
import { respond } from "../../http/errors.ts";
import { acceptedLanguages, formFor, formsOf } from "../../web/encodings.ts";
import { type Database, type Tx, getMeta } from "../../storage/database.ts";
import { html, trusted, type Html } from "../../web/html.ts";
import { page, type Page } from "../../web/layout.ts";
import { storeIdMeta } from "../meta.ts";
import { isNamed } from "../visible.ts";
import embed from "./embed.js" with { type: "text" };
import style from "./public.css" with { type: "text" };

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
  const pages = { en: shared(clock, () => pageIn("en")), es: shared(clock, () => pageIn("es")) };
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

type PublicAnimal = Awaited<ReturnType<typeof animalsOf>>[number];

type PublicList = Awaited<ReturnType<typeof publicList>>;
type PublicFeed = Awaited<ReturnType<typeof newestAnimals>>;
type StoreFacts = Awaited<ReturnType<typeof storeFacts>>;

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

/* The bodies. They hold relative addresses only, as any host may ask. */

const languages = ["en", "es"] as const;
type Language = (typeof languages)[number];

const words = {
  en: {
    figure: (value: number) => value.toLocaleString("en"),
    title: "Animals for adoption",
    count: (animals: number) =>
      animals === 1
        ? "1 animal is looking for a home"
        : `${animals.toLocaleString("en")} animals are looking for a home`,
    more: (shown: number) =>
      `These are the newest ${shown.toLocaleString("en")} animals; there are more.`,
    pending: "adoption pending",
    unnamed: "Unnamed",
    number: "No.",
    others: "Other animals",
    none: "There are no animals for adoption right now.",
    categories: "Categories",
    updated: "Last change:",
    otherLanguage: "Español",
    feed: "Feed",
  },
  es: {
    figure: (value: number) => value.toLocaleString("es"),
    title: "Animales en adopción",
    count: (animals: number) =>
      animals === 1
        ? "1 animal busca un hogar"
        : `${animals.toLocaleString("es")} animales buscan un hogar`,
    more: (shown: number) =>
      `Estos son los ${shown.toLocaleString("es")} animales más recientes; hay más.`,
    pending: "adopción en trámite",
    unnamed: "Sin nombre",
    number: "N.º",
    others: "Otros animales",
    none: "Ahora mismo no hay animales en adopción.",
    categories: "Categorías",
    updated: "Último cambio:",
    otherLanguage: "English",
    feed: "Feed Atom",
  },
} satisfies Record<Language, unknown>;
type Words = (typeof words)[Language];
type Section = ReturnType<typeof sectionsOf>[number];

type Shelter = Readonly<
  Record<Language, { readonly title: string | undefined; readonly contact: string | undefined }>
>;

function animalsPage(
  { animals, hasMore, updatedAtMs }: PublicList,
  shelter: Shelter,
  language: Language,
): Page {
  const say = words[language];
  const { contact, title = say.title } = shelter[language];
  const sections = sectionsOf(animals, say).toSorted((a, b) =>
    a.name.localeCompare(b.name, language),
  );
  const other = language === "en" ? "es" : "en";
  const updated = isoSeconds(updatedAtMs);
  const body = html`<header>
      <h1>${title}</h1>
      <a href="?lang=${other}" lang="${other}" hreflang="${other}">${say.otherLanguage}</a>
    </header>
    <main>
      ${contact !== undefined && html`<p class="contact">${withTelephones(contact)}</p>`}
      <p>
        ${animals.length === 0 ? say.none : hasMore ? say.more(animals.length) : say.count(animals.length)}
      </p>
      ${sections.length > 1 && categoryLinks(say, sections)}
      ${sections.map((each) => section(each, say))}
    </main>
    <footer>
      ${say.updated} <time datetime="${updated}">${updated.slice(0, 10)}</time> ·
      <a href="animals.atom">${say.feed}</a> · <a href="animals.json">JSON</a>
    </footer>`;
  return page({ title, description: contact ?? title, lang: language, style, body });
}

/** The animals by category. Those of categories without a name are one group for who reads it. */
function sectionsOf(animals: readonly PublicAnimal[], say: Words) {
  const groups = Map.groupBy(animals, ({ category: { id, name } }) => (name ? id : "others"));
  return [...groups].map(([id, members]) => ({
    id: `category-${id}`,
    name: members[0]?.category.name || say.others,
    members,
  }));
}

/** Seven digits or more with what people write between them, but no date. */
const telephone = /(?:\+|\b)(?!\d{4}-\d\d-\d\d)\d(?:[\s()./-]{0,2}\d){6,14}\b/g;

function withTelephones(text: string): Html {
  const link = (number: string) => `<a href="tel:${number.replace(/[^\d+]/g, "")}">${number}</a>`;
  return trusted(html`${text}`.text.replace(telephone, link));
}

function categoryLinks(say: Words, sections: readonly Section[]): Html {
  return html`<nav aria-label="${say.categories}">
    <ul role="list">
      ${sections.map(
        ({ id, members, name }) =>
          html`<li>
            <a href="#${id}"
              ><bdi>${name}</bdi> <span class="soft">${say.figure(members.length)}</span></a
            >
          </li>`,
      )}
    </ul>
  </nav>`;
}

function section({ id, members, name }: Section, say: Words): Html {
  return html`<section id="${id}">
    <h2><bdi>${name}</bdi></h2>
    <ul class="animals" role="list">
      ${members.map(
        (animal) =>
          html`<li id="animal-${String(animal.id)}">
            <bdi>${nameOf(animal, say)}</bdi>
            ${animal.status === "pending" && html`<small class="badge">${say.pending}</small>`}
            <small>${say.number} ${String(animal.id)}</small>
          </li>`,
      )}
    </ul>
  </section>`;
}

const nameOf = ({ name }: PublicAnimal, say: Words) => (isNamed(name) ? name : say.unnamed);

function animalsJson({ animals, hasMore, updatedAtMs }: PublicList): string {
  return jsonText({ updatedAt: isoSeconds(updatedAtMs), animals, ...(hasMore && { hasMore }) });
}

/**
 * `/animals.atom` (RFC 4287), the newest animals, in English. Its ids are tag URIs (RFC 4151), and
 * its addresses absolute where the operator named the one of the service.
 */
function animalsFeed(
  { updatedAtMs, entries }: PublicFeed,
  shelter: Shelter,
  { storeId, sinceMs }: StoreFacts,
  baseUrl: string | undefined,
): string {
  const say = words.en;
  const { contact, title = say.title } = shelter.en;
  const year = isoSeconds(sinceMs).slice(0, 4);
  const tag = (what: string) => `tag:${storeId}.rehome.invalid,${year}:${what}`;
  const address = (path: string) => (baseUrl === undefined ? path : new URL(path, baseUrl).href);
  const items = entries.map((animal) => {
    const kind = animal.category.name || say.others;
    const summary = animal.status === "pending" ? `${kind}, ${say.pending}` : kind;
    return html`<entry>
      <id>${tag(`animals/${animal.id}`)}</id>
      <title>${xmlText(nameOf(animal, say))}</title>
      <updated>${isoSeconds(animal.updatedAtMs)}</updated>
      <link href="${address(`animals#animal-${animal.id}`)}" />
      <summary>${xmlText(summary)}</summary>
    </entry>`;
  });
  return html`<?xml version="1.0" encoding="utf-8"?>
    <feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
      <id>${tag("animals")}</id>
      <title>${xmlText(title)}</title>
      ${contact !== undefined && html`<subtitle>${xmlText(contact)}</subtitle>`}
      <updated>${isoSeconds(updatedAtMs)}</updated>
      <author><name>${xmlText(title)}</name></author>
      <link href="${address("animals")}" />
      <link rel="self" type="application/atom+xml" href="${address("animals.atom")}" />
      ${items}
    </feed>`.text.replace(/>\s+</g, "><");
}

/** Text without the characters that XML 1.0 has no way to write (section 2.2). */
function xmlText(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "");
}
