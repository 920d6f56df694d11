import { afterEach, beforeEach, expect, test } from "bun:test";
import type { ApiKey, KeySecret } from "../../../src/domain/api-key.ts";
import { noBan } from "../../../src/domain/ban.ts";
import { publishedLimits } from "../../../src/domain/plan.ts";
import type { KeyAction, KeyHash, Store } from "../../../src/storage/contract.ts";
import { openSqliteStore } from "../../../src/storage/sqlite/store.ts";

const atMs = Date.UTC(2026, 10, 21, 12);
const key: ApiKey = {
  id: "key_1",
  name: "shelter",
  plan: "pro",
  limits: publishedLimits.pro,
  readOnly: false,
  createdAtMs: atMs,
  expiresAtMs: undefined,
  revokedAtMs: undefined,
  ban: noBan,
};
const hash = (byte: number) => new Uint8Array(32).fill(byte) as KeyHash;
const secret = (mask: string, expiresAtMs?: number): KeySecret => ({
  mask,
  createdAtMs: atMs,
  expiresAtMs,
});
const by = (action: string): KeyAction => ({ action, actor: "test", nowMs: atMs });

let store: Store;
beforeEach(async () => {
  store = openSqliteStore({
    folder: ":memory:",
    clock: () => atMs,
    timeoutMs: 100,
    serving: false,
  });
  await store.keys.insert(key, hash(1), secret("one"), by("created"));
});
afterEach(() => store.close());

test("a rotation ends the older secrets no later than told, and leaves what ends sooner", async () => {
  const epoch = store.versions().keys;
  const soonMs = atMs + 1_000;
  const laterMs = atMs + 86_400_000;
  await store.keys.rotate("key_1", hash(2), secret("two", soonMs), laterMs, by("rotated"));
  await store.keys.rotate("key_1", hash(3), secret("three"), laterMs + 1, by("rotated"));
  const ends = async () =>
    Promise.all([1, 2, 3].map(async (n) => (await store.keys.byHash(hash(n)))?.secretExpiresAtMs));
  expect(await ends()).toEqual([laterMs, soonMs, undefined]);
  await store.keys.rotate("key_1", hash(4), secret("four"), atMs, by("rotated"));
  expect(await ends()).toEqual([atMs, atMs, atMs]);
  expect((await store.keys.secrets("key_1")).map(({ mask }) => mask).toSorted()).toEqual([
    "four",
    "one",
    "three",
    "two",
  ]);
  expect(store.versions().keys).toBe(epoch + 3);
  expect((await store.keys.events("key_1")).map(({ action }) => action)).toEqual([
    "created",
    "rotated",
    "rotated",
    "rotated",
  ]);
});
