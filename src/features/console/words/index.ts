import { AppError, type ErrorKind } from "../../../domain/errors.ts";
import { en } from "./en.ts";
import { es } from "./es.ts";

/** Every word that the console shows. A translation is a second object of this type. */
export type Words = typeof en;

const formats = (locale: string) => ({
  moment: new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }),
  /** With its zone, which another clock may not have. */
  zoned: new Intl.DateTimeFormat(locale, { dateStyle: "long", timeStyle: "long" }),
  day: new Intl.DateTimeFormat(locale, { dateStyle: "medium" }),
  number: new Intl.NumberFormat(locale, { useGrouping: "always" }),
});

/** The languages of the console. */
export const languages = {
  en: { title: "English", words: en, ...formats("en-GB") },
  es: { title: "Español", words: es, ...formats("es") },
} as const;
export type Language = keyof typeof languages;

export const isLanguage = (code: unknown): code is Language =>
  typeof code === "string" && Object.hasOwn(languages, code);

/**
 * The language for a browser: the one that was `chosen` on it, else the first one of its
 * `Accept-Language` (RFC 9110, section 12.5.4) that the console speaks, else English.
 */
export function languageFor(chosen: unknown, accepted: string | null): Language {
  if (isLanguage(chosen)) return chosen;
  const wanted = (accepted ?? "").split(",").map((part) => {
    const [tag = "", ...parameters] = part.trim().split(";");
    const weight = parameters.map((each) => /^\s*q=([\d.]+)/.exec(each)?.[1]).find(Boolean);
    return { code: tag.slice(0, 2).toLowerCase(), weight: Number(weight ?? 1) };
  });
  const best = wanted.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight);
  return best.map(({ code }) => code).find(isLanguage) ?? "en";
}

/** The codes of failures whose words are in the catalogue of messages, and take no value. */
export type FailureCode = {
  [C in keyof typeof en.failures]: (typeof en.failures)[C] extends string ? C : never;
}[keyof typeof en.failures];

/** A failure that a person sees in their language, by its code. */
export function failure(kind: ErrorKind, code: FailureCode, cause?: unknown): AppError {
  return new AppError(kind, en.failures[code], { code, cause });
}

export function isFailureCode(code: string | undefined): code is FailureCode {
  return code !== undefined && typeof en.failures[code as FailureCode] === "string";
}
