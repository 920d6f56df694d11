import { expect, test } from "bun:test";
import * as fc from "fast-check";
import * as apiKey from "../../src/domain/api-key.ts";
import { noBan } from "../../src/domain/ban.ts";
import { imposeBan, keyState } from "../../src/features/keys/service.ts";
import { seededBytes, someKey } from "../helpers/app.ts";
import { checked } from "./checked.ts";

const { environments, generateKey, generateKeyId, isWellFormedKey, keyPrefixes, maskKey } = apiKey;
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** CRC32 bit by bit (ISO 3309), and base62 of big integers: nothing shared with what is tested. */
function checksumOf(text: string): string {
  let crc = 0xffffffff;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  let rest = BigInt(~crc >>> 0);
  let digits = "";
  for (; rest > 0n; rest /= 62n) digits = alphabet.charAt(Number(rest % 62n)) + digits;
  return digits.padStart(6, "0");
}

test("a key is its prefix, 30 random and 6 checksum characters, and its mask shows four of them", () => {
  expect(keyPrefixes).toEqual({ production: "rehome_live_", staging: "rehome_test_" });
  checked(fc.tuple(fc.constantFrom(...environments), fc.nat()), ([where, seed]) => {
    const key = generateKey(where, seededBytes(seed));
    expect(key).toStartWith(keyPrefixes[where]);
    expect(key.slice(12)).toMatch(/^[0-9A-Za-z]{36}$/);
    expect(key.slice(-6)).toBe(checksumOf(key.slice(0, -6)));
    expect(environments.filter((each) => isWellFormedKey(key, each))).toEqual([where]);
    expect(maskKey(key)).toBe(`${key.slice(0, 16)}...`);
  });
});

test("every byte below 248 is a letter and every other one is dropped", () => {
  for (let byte = 0; byte < 256; byte += 1) {
    const rest = [byte];
    const bytes = (count: number) => Uint8Array.from({ length: count }, () => rest.shift() ?? 61);
    const first = byte < 248 ? alphabet.charAt(byte % 62) : "z";
    const letters = generateKey("production", bytes).slice(12, 42);
    expect([byte, letters]).toEqual([byte, first + "z".repeat(29)]);
  }
});

test("an id is 12 letters of Crockford's 32, which every byte means as often as another", () => {
  const letters = "0123456789abcdefghjkmnpqrstvwxyz";
  for (let byte = 0; byte < 256; byte += 1) {
    const id = generateKeyId((count) => new Uint8Array(count).fill(byte));
    expect(id).toBe(`key_${letters.charAt(byte % 32).repeat(12)}`);
  }
});

test("a key with one other, one more or one less character, or two swapped, is none", () => {
  for (const where of environments) {
    const key = generateKey(where, seededBytes(7));
    const refused = (edited: string) =>
      expect([edited, isWellFormedKey(edited, where)]).toEqual([edited, edited === key]);
    for (let at = 0; at < key.length; at += 1) {
      const [before, after] = [key.slice(0, at), key.slice(at + 1)];
      for (let code = 32; code < 127; code += 1) {
        refused(before + String.fromCharCode(code) + after);
      }
      refused(before + after);
      refused(`${before}A${key.slice(at)}`);
      refused(before + key.charAt(at + 1) + key.charAt(at) + after.slice(1));
    }
    const other = where === "staging" ? "production" : "staging";
    const rewritten = key.replace(keyPrefixes[where], keyPrefixes[other]);
    expect(isWellFormedKey(rewritten, other)).toBe(false);
  }
});

test.each([
  ["A".repeat(30), true],
  ["A".repeat(29), false],
  ["A".repeat(31), false],
  ["", false],
  [`${"A".repeat(29)}-`, false],
])("with its right checksum %j makes a key: %p", (random, isKey) => {
  const key = `${keyPrefixes.production}${random}`;
  expect(isWellFormedKey(key + checksumOf(key), "production")).toBe(isKey);
});

test("a key's state changes in the millisecond of its end; revoked beats expired, expired banned", () => {
  const atMs = Date.UTC(2026, 10, 21, 8, 32, 0, 500);
  const active = someKey();
  const expiring = { ...active, expiresAtMs: atMs };
  const banned = { ...active, ban: imposeBan(noBan, 0, atMs) };
  const both = { ...expiring, ban: imposeBan(noBan, 1, atMs) };
  const states = (key: apiKey.ApiKey) => [-1, 0, 1].map((ms) => keyState(key, atMs + ms));
  expect(states(expiring)).toEqual(["active", "expired", "expired"]);
  expect(states(banned)).toEqual(["banned", "active", "active"]);
  expect(states(both)).toEqual(["banned", "expired", "expired"]);
  expect(keyState({ ...both, revokedAtMs: atMs }, atMs)).toBe("revoked");
});
