/** The bodies of the public addresses. They hold relative addresses only, as any host may ask. */
import { jsonText } from "../../domain/exact-json.ts";
import { isoSeconds } from "../../domain/clock.ts";
import { html, type Html } from "../../web/html.ts";
import { page, type Page } from "../../web/layout.ts";
import type { PublicAnimal, PublicFeed, PublicList, StoreFacts } from "./animals.ts";
import style from "./public.css" with { type: "text" };

export const languages = ["en", "es"] as const;
export type Language = (typeof languages)[number];

const words = {
  en: {
    title: "Animals for adoption",
    pending: "adoption pending",
    others: "Other animals",
    none: "There are no animals for adoption right now.",
    categories: "Categories",
    more: "Older animals",
    newer: "Newer animals",
    range: (from: number, to: number) => `Animals ${from} to ${to}, newest first`,
    updated: "Last change:",
    otherLanguage: "Español",
    feed: "Feed",
  },
  es: {
    title: "Animales en adopción",
    pending: "adopción en trámite",
    others: "Otros animales",
    none: "Ahora mismo no hay animales en adopción.",
    categories: "Categorías",
    more: "Animales anteriores",
    newer: "Animales más recientes",
    range: (from: number, to: number) => `Animales del ${from} al ${to}, los más recientes primero`,
    updated: "Último cambio:",
    otherLanguage: "English",
    feed: "Fuente Atom",
  },
} satisfies Record<Language, unknown>;
type Words = (typeof words)[Language];

/** What the operator says about the shelter. */
export interface Shelter {
  readonly title: string | undefined;
  readonly contact: string | undefined;
}

/** `/animals`: complete without a script, on a phone and on paper. */
export function animalsPage(
  { animals, hasMore, updatedAtMs }: PublicList,
  { title, contact }: Shelter,
  language: Language,
  at: { readonly page: number; readonly size: number },
): Page {
  const say = words[language];
  const heading = title ?? say.title;
  // Those without a name are one group for who reads it.
  const groups = Map.groupBy(animals, ({ category: { id, name } }) => (name ? id : "others"));
  const sections = [...groups].map(([id, members]) => ({
    id: `category-${id}`,
    name: members[0]?.category.name ?? say.others,
    members,
  }));
  sections.sort((a, b) => a.name.localeCompare(b.name, language));
  const other = language === "en" ? "es" : "en";
  const updated = isoSeconds(updatedAtMs);
  const first = (at.page - 1) * at.size + 1;
  const link = (to: number, text: string) =>
    html`<a href="?page=${to}&amp;lang=${language}">${text}</a>`;
  const body = html`<header>
      <h1>${heading}</h1>
      <a href="?lang=${other}" lang="${other}" hreflang="${other}">${say.otherLanguage}</a>
    </header>
    <main>
      ${contact !== undefined && html`<p class="contact">${contact}</p>`}
      ${animals.length === 0 && html`<p>${say.none}</p>`}
      ${sections.length > 1 && categoryLinks(say.categories, sections)}
      ${(hasMore || at.page > 1) && html`<p>${say.range(first, first + animals.length - 1)}</p>`}
      ${sections.map(({ id, name, members }) => section(id, name, members, say))}
      ${
        (hasMore || at.page > 1) &&
        html`<p class="pages">
          ${at.page > 1 && link(at.page - 1, say.newer)} ${hasMore && link(at.page + 1, say.more)}
        </p>`
      }
    </main>
    <footer>
      ${say.updated} <time datetime="${updated}">${updated.slice(0, 10)}</time> ·
      <a href="animals.atom">${say.feed}</a> · <a href="animals.json">JSON</a>
    </footer>`;
  return page({ title: heading, description: contact ?? heading, lang: language, style, body });
}

function categoryLinks(
  label: string,
  sections: readonly { readonly id: string; readonly name: string }[],
): Html {
  return html`<nav aria-label="${label}">
    <ul>
      ${sections.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}
    </ul>
  </nav>`;
}

function section(id: string, name: string, animals: readonly PublicAnimal[], say: Words): Html {
  return html`<section id="${id}">
    <h2>${name}</h2>
    <ul class="animals">
      ${animals.map(
        (animal) =>
          html`<li id="animal-${String(animal.id)}">
            ${animal.name} ${animal.status === "pending" && html`<small>${say.pending}</small>`}
          </li>`,
      )}
    </ul>
  </section>`;
}

/** `/animals.json`. */
export function animalsJson({ animals, hasMore, updatedAtMs }: PublicList, number: number): string {
  const updatedAt = isoSeconds(updatedAtMs);
  const next = hasMore ? { next: `animals.json?page=${number + 1}` } : {};
  return jsonText({ updatedAt, animals, ...next });
}

/** `/animals.atom` (RFC 4287), the newest animals, in English. Its ids are tag URIs (RFC 4151). */
export function animalsFeed(
  { updatedAtMs, entries }: PublicFeed,
  { title, contact }: Shelter,
  { storeId, sinceMs }: StoreFacts,
): string {
  const say = words.en;
  const year = isoSeconds(sinceMs).slice(0, 4);
  const tag = (what: string) => `tag:${storeId}.rehome.invalid,${year}:${what}`;
  const heading = title ?? say.title;
  const items = entries.map(({ id, name, status, category, updatedAtMs: changedAtMs }) => {
    const kind = category.name ?? say.others;
    const summary = status === "pending" ? `${kind}, ${say.pending}` : kind;
    return html`<entry>
      <id>${tag(`animals/${id}`)}</id>
      <title>${xmlText(name === "" ? String(id) : name)}</title>
      <updated>${isoSeconds(changedAtMs)}</updated>
      <link href="animals#animal-${String(id)}" />
      <summary>${xmlText(summary)}</summary>
    </entry>`;
  });
  return html`<?xml version="1.0" encoding="utf-8"?>
    <feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
      <id>${tag("animals")}</id>
      <title>${xmlText(heading)}</title>
      ${contact !== undefined && html`<subtitle>${xmlText(contact)}</subtitle>`}
      <updated>${isoSeconds(updatedAtMs)}</updated>
      <author><name>${xmlText(heading)}</name></author>
      <link href="animals" />
      <link rel="self" type="application/atom+xml" href="animals.atom" />
      ${items}
    </feed>`.text.replace(/>\s+</g, "><");
}

/** Text without the characters that XML 1.0 has no way to write (section 2.2). */
function xmlText(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "");
}
