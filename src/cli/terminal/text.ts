import { grouped } from "../../domain/int64.ts";
import type { Limits } from "../../domain/plan.ts";

export { grouped };

/** What a terminal would obey: controls, and marks that turn the direction of what follows. */
const commanding = /[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

const namedControls: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** `text` with all that a terminal would obey written out: a name must not move a cursor. */
export function printable(text: string): string {
  return text.replace(
    commanding,
    (mark) =>
      namedControls[mark] ?? `\\u${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`,
  );
}

/** Lines of which `printable` holds: each of their line feeds stays. */
export function printableLines(text: string): string {
  return text.replaceAll(/[^\n]+/g, printable);
}

/** A plan's limits in words: `60/min, 1,000/day`. */
export function limitsText({ perMinute, perDay }: Limits): string {
  return `${grouped(perMinute)}/min, ${grouped(perDay)}/day`;
}

/** `3 keys`, `1 key`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}
