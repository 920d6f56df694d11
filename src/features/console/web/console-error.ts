import { AppError, type ErrorKind } from "../../../domain/errors.ts";
import { en } from "../words/en.ts";
import type { Words } from "../words/index.ts";

/** A failure that a person sees in their language, by its name in `words.failures`. */
export class ConsoleError extends AppError {
  readonly word: TextWord;

  constructor(kind: ErrorKind, word: TextWord, options: { readonly cause?: unknown } = {}) {
    super(kind, en.failures[word], options);
    this.word = word;
  }
}

/** The words that are a text, and take no value. */
type TextWord = {
  [W in keyof Words["failures"]]: Words["failures"][W] extends string ? W : never;
}[keyof Words["failures"]];
