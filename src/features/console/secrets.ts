import { createHash } from "node:crypto";
import type { RandomBytes } from "../../domain/api-key.ts";
import { dayMs } from "../../domain/clock.ts";

/** How long an invitation is good. */
export const invitationMs = 7 * dayMs;
/** How long a session is good after its last use. */
export const sessionMs = 30 * dayMs;
/** A session is renewed at most once in this time, so that reading a page is no write as a rule. */
export const renewAfterMs = dayMs;

/** What a link or a cookie holds. Only its hash is kept. */
export type Secret = string & { readonly Secret: unique symbol };

const secretBytes = 32;
const secretPattern = /^[\w-]{43}$/;

/** A new secret of 256 random bits, as base64url. */
export function newSecret(randomBytes: RandomBytes): Secret {
  return Buffer.from(randomBytes(secretBytes)).toString("base64url") as Secret;
}

/** True for text that can be a secret. Anything else is not looked up. */
export function isSecret(text: unknown): text is Secret {
  return typeof text === "string" && secretPattern.test(text);
}

/** SHA-256 of a secret, for the store. A random secret needs no salt and no slow hash. */
export function hashSecret(secret: Secret): Uint8Array {
  return createHash("sha256").update(secret).digest();
}
