/** Text as a terminal shows it. */
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

/** Made for the first text that is cut: it takes 1.5 ms and 2 MiB, which no server needs. */
let graphemes: Intl.Segmenter | undefined;

/** The beginning of `text` that fits `width` cells, ending in `…` when something is missing. */
export function cut(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let shown = "";
  let cells = 0;
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  for (const { segment } of graphemes.segment(text)) {
    cells += Bun.stringWidth(segment);
    if (cells > width - 1) break;
    shown += segment;
  }
  return `${shown}…`;
}

/** `text` filled up with spaces to `width` cells, at its end or, for numbers, at its beginning. */
export function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const spaces = " ".repeat(Math.max(0, width - Bun.stringWidth(text)));
  return align === "left" ? text + spaces : spaces + text;
}

/** A plan's limits in words: `60/min, 1,000/day`. */
export function limitsText({ perMinute, perDay }: Limits): string {
  return `${grouped(perMinute)}/min, ${grouped(perDay)}/day`;
}

/** `3 keys`, `1 key`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}
