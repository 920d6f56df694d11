import { type ByteChunks, UnreadableInput } from "./input.ts";
import { isListName } from "./json.ts";
import { peeked } from "./peek.ts";
import { message } from "../messages.ts";

/** How records are laid out in the input. */
export type Shape =
  | { readonly kind: "json"; readonly wrapped: boolean }
  | { readonly kind: "ndjson" }
  | { readonly kind: "csv"; readonly delimiter: string };

const peekBytes = 64 * 1024;

/** The shape of the input, and chunks that still yield all of it. Throws UnreadableInput. */
export async function detectShape(
  source: ByteChunks,
): Promise<{ readonly shape: Shape; readonly chunks: ByteChunks }> {
  const { beginning, chunks, close } = await peeked(source, peekBytes);
  try {
    return { shape: shapeOf(new TextDecoder().decode(beginning)), chunks };
  } catch (error) {
    await close();
    throw error;
  }
}

function shapeOf(text: string): Shape {
  const start = text.trimStart();
  if (start === "") throw new UnreadableInput(0, message("empty"));
  if (start.startsWith("[")) return { kind: "json", wrapped: false };
  if (!start.startsWith("{")) return { kind: "csv", delimiter: delimiterOf(start) };
  if (wrapsList(start)) return { kind: "json", wrapped: true };
  const [firstLine = ""] = start.split("\n", 1);
  // Objects that span lines are read by their brackets, whatever their line breaks.
  return firstLine.trimEnd().endsWith("}") ? { kind: "ndjson" } : { kind: "json", wrapped: false };
}

const token = /"((?:[^"\\]|\\.)*)"|[{}[\]]/g;

/** True when a field of the object that `text` begins with holds a list of records. */
function wrapsList(text: string): boolean {
  let depth = 0;
  let name: string | undefined;
  for (const [mark, string] of text.matchAll(token)) {
    if (string !== undefined) name = string;
    else if (mark === "{" || mark === "[") {
      if (depth === 1 && mark === "[" && name !== undefined && isListName(name)) {
        return true;
      }
      depth += 1;
    } else {
      depth -= 1;
      if (depth === 0) return false;
    }
  }
  return false;
}

const delimiters = [",", ";", "\t", "|"] as const;

/** Lines that tell the delimiter. Those above the header may have none, or another one. */
const delimiterLinesMax = 20;

/**
 * The delimiter that the line `sep=;` names, as Excel writes it, or else by which the most lines
 * have equally many fields, outside quotes.
 */
function delimiterOf(text: string): string {
  const told = /^sep=(.)\r?\n/i.exec(text)?.[1];
  if (told !== undefined) return told;
  const lines = text.replaceAll(/"[^"]*"/g, "").split("\n", delimiterLinesMax);
  const scores = delimiters.map((delimiter) => [delimiter, evenness(lines, delimiter)] as const);
  return scores.reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}

/** The fields in lines with the most common number of them; 0 without any delimiter. */
function evenness(lines: readonly string[], delimiter: string): number {
  const linesByCount = new Map<number, number>();
  for (const line of lines) {
    const count = line.split(delimiter).length - 1;
    if (count > 0) linesByCount.set(count, (linesByCount.get(count) ?? 0) + 1);
  }
  return Math.max(0, ...[...linesByCount].map(([count, found]) => count * found));
}
