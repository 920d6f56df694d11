import { hourMs } from "./clock.ts";

/** How long a create is remembered by its Idempotency-Key. */
export const rememberedMs = 24 * hourMs;
export const idempotencyKeyMax = 255;

/** What an Idempotency-Key must be, as the end of a sentence. */
export const idempotencyKeyRule = `must be 1 to ${idempotencyKeyMax} visible ASCII characters, with or without quotes around them`;

const visible = new RegExp(`^[\\x21-\\x7e]{1,${idempotencyKeyMax}}$`);

/**
 * The value of the header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), without
 * the quotes that may stand around it; undefined if it is not valid.
 */
export function idempotencyKeyOf(header: string): string | undefined {
  const isQuoted = header.length >= 2 && header.startsWith('"') && header.endsWith('"');
  const value = isQuoted ? header.slice(1, -1) : header;
  return visible.test(value) ? value : undefined;
}
