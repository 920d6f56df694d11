/** The bodies of the public addresses. They hold relative addresses only, as any host may ask. */
import { jsonText } from "../../domain/exact-json.ts";
import { isoSeconds } from "../../domain/clock.ts";
import { grouped } from "../../domain/int64.ts";
import { html, trusted, type Html } from "../../web/html.ts";
import { page, type Page } from "../../web/layout.ts";
import type { PublicAnimal, PublicFeed, PublicList, StoreFacts } from "./routes.ts";
import style from "./public.css" with { type: "text" };

export const languages = ["en", "es"] as const;
export type Language = (typeof languages)[number];

const words = {
  en: {
    title: "Animals for adoption",
    count: (animals: number) =>
      animals === 1
        ? "1 animal is looking for a home"
        : `${grouped(animals)} animals are looking for a home`,
    more: (shown: number) => `These are the newest ${grouped(shown)} animals; there are more.`,
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
    title: "Animales en adopción",
    count: (animals: number) =>
      animals === 1 ? "1 animal busca un hogar" : `${animals} animales buscan un hogar`,
    more: (shown: number) => `Estos son los ${shown} animales más recientes; hay más.`,
    pending: "adopción en trámite",
    unnamed: "Sin nombre",
    number: "N.º",
    others: "Otros animales",
    none: "Ahora mismo no hay animales en adopción.",
    categories: "Categorías",
    updated: "Último cambio:",
    otherLanguage: "English",
    feed: "Fuente Atom",
  },
} satisfies Record<Language, unknown>;
type Words = (typeof words)[Language];
type Section = ReturnType<typeof sectionsOf>[number];

export type Shelter = Readonly<
  Record<Language, { readonly title: string | undefined; readonly contact: string | undefined }>
>;

export function animalsPage(
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
      ${sections.length > 1 && categoryLinks(say.categories, sections)}
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

function categoryLinks(label: string, sections: readonly Section[]): Html {
  return html`<nav aria-label="${label}">
    <ul role="list">
      ${sections.map(
        ({ id, members, name }) =>
          html`<li>
            <a href="#${id}"><bdi>${name}</bdi> <span class="soft">${members.length}</span></a>
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

const nameOf = ({ name }: PublicAnimal, say: Words) => (name.trim() === "" ? say.unnamed : name);

export function animalsJson({ animals, hasMore, updatedAtMs }: PublicList): string {
  return jsonText({ updatedAt: isoSeconds(updatedAtMs), animals, ...(hasMore && { hasMore }) });
}

/**
 * `/animals.atom` (RFC 4287), the newest animals, in English. Its ids are tag URIs (RFC 4151), and
 * its addresses absolute where the operator named the one of the service.
 */
export function animalsFeed(
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
