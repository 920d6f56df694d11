import { tokensOf, type Token } from "../json-text.ts";

/** How a language writes a value that JSON text describes. */
export interface Style {
  readonly object: readonly [open: string, close: string];
  readonly array: readonly [open: string, close: string];
  readonly pair: string;
  readonly words: Readonly<Record<string, string>>;
  readonly string: (value: string) => string;
  readonly key: (name: string) => string;
  readonly number: (digits: string) => string;
}

/** JSON text as a value of another language, with every digit; undefined if it is no object. */
export function literalOf(json: string, style: Style): string | undefined {
  if (!isObject(json)) return undefined;
  const written = tokensOf(json).map((token) => piece(token, style));
  return written.join("");
}

export function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function piece({ kind, text }: Token, style: Style): string {
  if (kind === "key") return style.key(JSON.parse(text) as string) + style.pair;
  if (kind === "string") return style.string(JSON.parse(text) as string);
  if (kind === "number") return style.number(text);
  if (kind === "word") return style.words[text] ?? text;
  if (text === "{") return style.object[0];
  if (text === "}") return style.object[1];
  if (text === "[") return style.array[0];
  if (text === "]") return style.array[1];
  return ", ";
}

/** A text between single quotes, with a backslash before those in it and before backslashes. */
export const singleQuoted = (text: string): string => `'${text.replace(/[\\']/g, "\\$&")}'`;
