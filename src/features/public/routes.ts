/**
 * The public addresses: bodies that are made on demand, at most once in five seconds, and kept with
 * their compressed forms. A visitor costs no query and no compression.
 */
import { Elysia } from "elysia";
import { AppError } from "../../domain/errors.ts";
import { formsOf, respondWith, type Forms } from "../../web/encodings.ts";
import type { Database } from "../../storage/database.ts";
import {
  newestAnimals,
  pageCount,
  pageSize,
  publicList,
  type StoreFacts,
  storeFacts,
} from "./animals.ts";
import {
  animalsFeed,
  animalsJson,
  animalsPage,
  type Language,
  languages,
  type Shelter,
} from "./pages.ts";
import type { Page } from "../../web/layout.ts";
import embed from "./embed.js" with { type: "text" };

/** Older pages take long to make, and change little. */
const madeForMs = { first: 5_000, later: 60_000 } as const;
/** How many bodies are kept: the pages of 100,000 animals in both languages and as JSON. */
const bodiesMax = 64;

export interface PublicOptions extends Shelter {
  readonly db: Database;
  readonly nowMs: () => number;
  readonly newId: () => string;
}

interface Body {
  readonly madeAtMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly forms: Forms;
}

const common = {
  "cache-control": "public, max-age=60",
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
  "x-content-type-options": "nosniff",
};
const typed = (type: string) => ({ "content-type": type });

export function publicRoutes(options: PublicOptions) {
  const { db, nowMs, newId } = options;
  let facts: Promise<StoreFacts> | undefined;
  const known = () => {
    facts ??= storeFacts(db, newId, nowMs());
    facts.catch(() => (facts = undefined));
    return facts;
  };
  const respond = bodies(nowMs);
  const isThere = pageCounter(db, nowMs);
  const listOf = async (number: number) => {
    if (!(await isThere(number))) throw notFound();
    return publicList(db, number, await known());
  };

  return new Elysia({ name: "public" })
    .get("/animals", ({ request }) => {
      const number = pageOf(request.url);
      const language = languageOf(request);
      return respond(request, `page ${language} ${number}`, async () => {
        const list = await listOf(number);
        const at = { page: number, size: pageSize };
        const { text, headers } = animalsPage(list, options, language, at);
        return { text, headers: { ...headers, vary: "Accept-Language" } };
      });
    })
    .get("/animals.json", ({ request }) => {
      const number = pageOf(request.url);
      return respond(request, `json ${number}`, async () => {
        const list = await listOf(number);
        return { text: animalsJson(list, number), headers: typed("application/json") };
      });
    })
    .get("/animals.atom", ({ request }) =>
      respond(request, "atom", async () => {
        const stored = await known();
        const text = animalsFeed(await newestAnimals(db, stored), options, stored);
        return { text, headers: typed("application/atom+xml; charset=utf-8") };
      }),
    )
    .get("/animals.js", ({ request }) =>
      respond(request, "js", () => ({
        text: embed,
        headers: typed("text/javascript; charset=utf-8"),
      })),
    );
}

/** Tells which pages the list has: to look for one that it lacks would take long. */
function pageCounter(db: Database, nowMs: () => number) {
  let counted: { readonly pages: Promise<number>; readonly atMs: number } | undefined;
  return async (number: number): Promise<boolean> => {
    if (number === 1) return true;
    const ageMs = counted === undefined ? Infinity : nowMs() - counted.atMs;
    if (counted === undefined || ageMs < 0 || ageMs >= madeForMs.first) {
      counted = { pages: pageCount(db), atMs: nowMs() };
      counted.pages.catch(() => (counted = undefined));
    }
    return number <= (await counted.pages);
  };
}

/** The number in `?page=`, 1 without it. Throws AppError `not_found` for what is no number. */
function pageOf(url: string): number {
  const text = new URL(url).searchParams.get("page") ?? "1";
  if (!/^[1-9]\d{0,5}$/.test(text)) throw notFound();
  return Number(text);
}

const notFound = () => new AppError("not_found", "The list has no such page.");

/** `?lang=`, else the best known language of Accept-Language (RFC 9110, section 12.5.4). */
function languageOf({ url, headers }: Request): Language {
  const asked = new URL(url).searchParams.get("lang");
  const accepted = (headers.get("accept-language") ?? "")
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part.trim().toLowerCase().split(";");
      const [, q = "1"] = /q=([\d.]+)/.exec(parameters.join(";")) ?? [];
      return { tag: tag.slice(0, 2), quality: Number(q) };
    })
    .toSorted((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
  const known = [asked, ...accepted].map((tag) => languages.find((each) => each === tag));
  return known.find((each) => each !== undefined) ?? "en";
}

/** Makes the bodies, keeps the last ones, and responds with the form that a client takes. */
function bodies(nowMs: () => number) {
  const made = new Map<string, Promise<Body>>();
  const current = async (key: string, make: () => Page | Promise<Page>) => {
    const kept = made.get(key);
    const body = kept && (await kept);
    const age = body && nowMs() - body.madeAtMs;
    const freshMs = / (?!1$)\d+$/.test(key) ? madeForMs.later : madeForMs.first;
    if (body !== undefined && age !== undefined && age >= 0 && age < freshMs) return body;
    // Another request may have begun to make it while this one waited.
    const begun = made.get(key);
    if (begun !== undefined && begun !== kept) return begun;
    const fresh = Promise.resolve(make()).then(async ({ text, headers }) => {
      const madeAtMs = nowMs();
      return { madeAtMs, headers, forms: await formsOf(text) };
    });
    made.delete(key);
    made.set(key, fresh);
    fresh.catch(() => made.get(key) === fresh && made.delete(key));
    for (const oldest of made.keys()) {
      if (made.size <= bodiesMax) break;
      made.delete(oldest);
    }
    return fresh;
  };
  return async (request: Request, key: string, make: () => Page | Promise<Page>) => {
    const { forms, headers } = await current(key, make);
    return respondWith(request, forms, { ...headers, ...common });
  };
}
