import { AppError, type ErrorKind } from "../../../domain/errors.ts";
import { acceptedLanguages } from "../../../web/encodings.ts";
import { en, type Sentences } from "./en.ts";
import { es } from "./es.ts";
import { counts, labels } from "./labels.ts";

type Labels<T> = T extends readonly string[]
  ? string
  : T extends (...values: infer Values) => readonly string[]
    ? (...values: Values) => string
    : { readonly [Name in keyof T]: Labels<T[Name]> };

export type Words = Sentences & Labels<typeof labels>;

type Label = readonly string[] | ((...values: never[]) => readonly string[]);
interface Table {
  readonly [name: string]: Table | Label;
}

const isLabel = (each: Table | Label): each is readonly string[] => Array.isArray(each);

function labelsOf(table: Table, at: 0 | 1): Record<string, object | string> {
  const shown = (each: Table | Label) => {
    if (typeof each === "function") return (...values: never[]) => each(...values)[at] ?? "";
    return isLabel(each) ? (each[at] ?? "") : labelsOf(each, at);
  };
  return Object.fromEntries(Object.entries(table).map(([name, each]) => [name, shown(each)]));
}

/** The labels of a language, and its sentences of the same groups. */
function wordsOf(sentences: Sentences, at: 0 | 1): Words {
  const said: Record<string, object | string> = labelsOf(labels, at);
  for (const [group, more] of Object.entries(sentences)) {
    said[group] = Object.assign(said[group] ?? {}, more);
  }
  return said as Words;
}

export type CountName = keyof typeof counts;

export function countWord(language: Language, name: CountName, count: number): string {
  const [english, one, many] = counts[name];
  if (language === "en") return english;
  return count === 1 ? one : many;
}

const formats = (locale: string) => ({
  moment: new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }),
  /** With its zone, which another clock may not have. */
  zoned: new Intl.DateTimeFormat(locale, { dateStyle: "long", timeStyle: "long" }),
  day: new Intl.DateTimeFormat(locale, { dateStyle: "medium" }),
  number: new Intl.NumberFormat(locale),
});

export const languages = {
  en: { title: "English", words: wordsOf(en, 0), ...formats("en-GB") },
  es: { title: "Español", words: wordsOf(es, 1), ...formats("es") },
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

export function failure(kind: ErrorKind, code: FailureCode, cause?: unknown): AppError {
  return new AppError(kind, en.failures[code], { code, cause });
}

export function isFailureCode(code: string | undefined): code is FailureCode {
  return code !== undefined && typeof en.failures[code as FailureCode] === "string";
}
