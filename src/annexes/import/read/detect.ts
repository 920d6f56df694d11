import { type ByteChunks, UnreadableInput } from "./input.ts";
import { isListName } from "./json.ts";

/** How records are laid out in the input. */
export type Shape =
  | { readonly kind: "json"; readonly wrapped: boolean }
  | { readonly kind: "ndjson" }
  | { readonly kind: "csv"; readonly delimiter: string };

const peekBytes = 64 * 1024;

/**
 * The shape of the input, told by its first 64 KiB, and chunks that still yield all of it.
 * Throws UnreadableInput when there is nothing in it.
 */
export async function detectShape(
  chunks: ByteChunks,
): Promise<{ readonly shape: Shape; readonly chunks: ByteChunks }> {
  const source = chunks[Symbol.asyncIterator]();
  const peeked: Uint8Array[] = [];
  let size = 0;
  while (size < peekBytes) {
    const next = await source.next();
    if (next.done === true) break;
    peeked.push(next.value);
    size += next.value.length;
  }
  const text = new TextDecoder().decode(Buffer.concat(peeked).subarray(0, peekBytes));
  try {
    return { shape: shapeOf(text), chunks: replayed(peeked, source) };
  } catch (error) {
    await source.return?.();
    throw error;
  }
}

async function* replayed(
  peeked: readonly Uint8Array[],
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* peeked;
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      yield next.value;
    }
  } finally {
    await source.return?.();
  }
}

function shapeOf(text: string): Shape {
  const start = text.trimStart();
  if (start === "") throw new UnreadableInput(0, "the input is empty");
  if (start.startsWith("[")) return { kind: "json", wrapped: false };
  if (!start.startsWith("{")) return { kind: "csv", delimiter: delimiterOf(start) };
  if (wrapsList(start)) return { kind: "json", wrapped: true };
  const [firstLine = ""] = start.split("\n", 1);
  // Objects that span lines are read by their brackets, whatever their line breaks.
  return firstLine.trimEnd().endsWith("}") ? { kind: "ndjson" } : { kind: "json", wrapped: false };
}

const token = /"((?:[^"\\]|\\.)*)"|[{}[\]:]/g;

/** True when a field of the object that `text` begins with holds a list of records. */
function wrapsList(text: string): boolean {
  let depth = 0;
  let name: string | undefined;
  let isField = false;
  for (const [mark, string] of text.matchAll(token)) {
    if (string !== undefined) name = string;
    else if (mark === ":") isField = true;
    else if (mark === "{" || mark === "[") {
      if (depth === 1 && isField && mark === "[" && name !== undefined && isListName(name)) {
        return true;
      }
      depth += 1;
    } else {
      depth -= 1;
      if (depth === 0) return false;
    }
    if (mark !== ":") isField = false;
  }
  return false;
}

const delimiters = [",", ";", "\t"] as const;

/** The delimiter that the header line has most of, outside quotes. */
function delimiterOf(text: string): string {
  const [header = ""] = text.replaceAll(/"[^"]*"/g, "").split("\n", 1);
  const counted = delimiters.map(
    (delimiter) => [delimiter, header.split(delimiter).length] as const,
  );
  return counted.reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}
