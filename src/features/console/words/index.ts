import { AppError, type ErrorKind } from "../../../domain/errors.ts";
import { acceptedLanguages } from "../../../web/encodings.ts";
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

/** The language that was `chosen` on a browser, else the best that it accepts, else English. */
export const languageFor = (chosen: unknown, accepted: string | null): Language =>
  [chosen, ...acceptedLanguages(accepted)].find(isLanguage) ?? "en";

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
