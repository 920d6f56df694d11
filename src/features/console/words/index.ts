import { en } from "./en.ts";
import { es } from "./es.ts";

/** Every word that the console shows. A translation is a second object of this type. */
export type Words = typeof en;

const formats = (locale: string) => ({
  moment: new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }),
  day: new Intl.DateTimeFormat(locale, { dateStyle: "medium" }),
  number: new Intl.NumberFormat(locale, { useGrouping: "always" }),
});

/** The languages of the console. */
export const languages = {
  en: { title: "English", words: en, ...formats("en-GB") },
  es: { title: "Español", words: es, ...formats("es") },
} as const;
export type Language = keyof typeof languages;

const isLanguage = (code: string): code is Language => Object.hasOwn(languages, code);

/**
 * The language for a browser: the one that was `chosen` on it, else the first one of its
 * `Accept-Language` (RFC 9110, section 12.5.4) that the console speaks, else English.
 */
export function languageFor(chosen: string | undefined, accepted: string | null): Language {
  if (chosen !== undefined && isLanguage(chosen)) return chosen;
  const wanted = (accepted ?? "").split(",").map((part) => {
    const [tag = "", ...parameters] = part.trim().split(";");
    const weight = parameters.map((each) => /^\s*q=([\d.]+)/.exec(each)?.[1]).find(Boolean);
    return { code: tag.slice(0, 2).toLowerCase(), weight: Number(weight ?? 1) };
  });
  const best = wanted
    .filter(({ code, weight }) => isLanguage(code) && weight > 0)
    .toSorted((a, b) => b.weight - a.weight)[0]?.code;
  return best !== undefined && isLanguage(best) ? best : "en";
}
