import { isBanned, operatorReason, type BanState } from "./ban.ts";
import type { Limits, PlanName } from "./plan.ts";

/** Production has `rehome_live_` keys, staging `rehome_test_`; neither accepts the other's. */
export const environments = ["production", "staging"] as const;
export type Environment = (typeof environments)[number];

/** NEVER change the prefix of keys that are in use: every one of them would become invalid. */
export const keyPrefixes = {
  production: "rehome_live_",
  staging: "rehome_test_",
} as const satisfies Record<Environment, string>;

const randomLength = 30;
const checksumLength = 6;

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** The largest multiple of 62 in a byte. Bytes from here on would favour the first letters. */
const unbiasedBytes = 248;
const bodyPattern = /^[0-9A-Za-z]{36}$/;

/** The secret that a caller sends. The program knows it at its issue and during a request. */
export type PlainKey = string & { readonly PlainKey: unique symbol };

export type RandomBytes = (count: number) => Uint8Array;

/**
 * A new key from `randomBytes`: prefix, 30 random base62 characters (178 bits), 6 characters of
 * CRC32 over all before.
 */
export function generateKey(environment: Environment, randomBytes: RandomBytes): PlainKey {
  let text: string = keyPrefixes[environment];
  const length = text.length + randomLength;
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length)) {
      if (byte < unbiasedBytes) text += base62.charAt(byte % 62);
    }
  }
  return (text + checksum(text)) as PlainKey;
}

export function isWellFormedKey(text: string, environment: Environment): text is PlainKey {
  const prefix = keyPrefixes[environment];
  if (!text.startsWith(prefix) || !bodyPattern.test(text.slice(prefix.length))) return false;
  return text.endsWith(checksum(text.slice(0, -checksumLength)));
}

/** CRC32 of `text` as six base62 characters, highest first. It finds typing errors only. */
function checksum(text: string): string {
  // Not that of node:zlib, which delays the start by more than a millisecond.
  let value = Bun.hash.crc32(text);
  let digits = "";
  for (let i = 0; i < checksumLength; i += 1) {
    digits = base62.charAt(value % 62) + digits;
    value = Math.floor(value / 62);
  }
  return digits;
}

/** A secret as lists show it: enough to recognise it, too little to use it. */
export function maskKey(key: PlainKey): string {
  return `${key.slice(0, "rehome_live_".length + 4)}...`;
}

const anySecret = new RegExp(`((?:${Object.values(keyPrefixes).join("|")})\\w{0,4})\\w*`, "g");

/** `text` with every secret in it, whole or not, masked. */
export function withoutSecrets(text: string): string {
  return text.replaceAll(anySecret, "$1...");
}

/** A key: its secrets change with rotation; its lineage, id, counters, plan and bans stay. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanName;
  readonly limits: Limits;
  readonly readOnly: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly revokedAtMs: number | undefined;
  readonly ban: BanState;
}

export const accesses = ["read-write", "read-only"] as const;
type Access = (typeof accesses)[number];

export function accessOf({ readOnly }: Pick<ApiKey, "readOnly">): Access {
  return readOnly ? "read-only" : "read-write";
}

/** One secret of a key, stored as SHA-256. A rotation ends it, at `expiresAtMs`. */
export interface KeySecret {
  readonly mask: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | undefined;
}

/**
 * How the life of a key has ended at `nowMs`; undefined for a live one, which may be banned. Expiry
 * is exact to the millisecond: at `expiresAtMs` the key is expired.
 */
export function endOf(
  key: Pick<ApiKey, "revokedAtMs" | "expiresAtMs">,
  nowMs: number,
): "revoked" | "expired" | undefined {
  if (key.revokedAtMs !== undefined) return "revoked";
  return key.expiresAtMs !== undefined && nowMs >= key.expiresAtMs ? "expired" : undefined;
}

/**
 * True while a ban binds the key. Only an operator's binds a read-only key: its secret may stand in
 * a public page, where anybody could have it banned.
 */
export function isKeyBanned(
  { ban, readOnly }: Pick<ApiKey, "ban" | "readOnly">,
  nowMs: number,
): boolean {
  return isBanned(ban, nowMs) && (!readOnly || ban.reason === operatorReason);
}

/** A new key's id: `key_` and 12 characters of Crockford's base32, which has no look-alikes. */
export function generateKeyId(randomBytes: RandomBytes): string {
  const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  let id = "key_";
  for (const byte of randomBytes(12)) id += alphabet.charAt(byte % 32);
  return id;
}
