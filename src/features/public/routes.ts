/**
 * The public addresses. Each body is made at most once in five seconds, and shared by all
 * responses with its compressed form: a visitor costs no query and no compression.
 */
import { Elysia } from "elysia";
import type { RoutesOptions } from "../../http/app.ts";
import { respond } from "../../http/errors.ts";
import { acceptedLanguages, formFor, formsOf } from "../../web/encodings.ts";
import type { Page } from "../../web/layout.ts";
import { newestAnimals, publicList, type StoreFacts, storeFacts } from "./animals.ts";
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

/** `newId` becomes the store's, if it has none. */
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

/** `?lang=`, else the best known language of Accept-Language. */
function languageOf({ url, headers }: Request): Language {
  const asked = new URL(url).searchParams.get("lang");
  const accepted = acceptedLanguages(headers.get("accept-language"));
  const known = [asked, ...accepted].map((tag) => languages.find((each) => each === tag));
  return known.find((each) => each !== undefined) ?? "en";
}
