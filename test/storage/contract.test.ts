/** What a store promises, on each of the two. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { ApiKey, KeySecret } from "../../src/domain/api-key.ts";
import { dayMs, hourMs } from "../../src/domain/clock.ts";
import type { AppError } from "../../src/domain/errors.ts";
import { int64Max, int64Min } from "../../src/domain/int64.ts";
import type { NewPet } from "../../src/domain/pet.ts";
import { allKeys, eventsOf, rotateKey, secretsOf } from "../../src/features/keys/service.ts";
import { usageSince } from "../../src/features/keys/usage.ts";
import type { KeyHash, IdempotentCreate, Store } from "../../src/storage/contract.ts";
import { servicesOn } from "../helpers/services.ts";
import { someKey } from "../helpers/app.ts";
import { hookTimeoutMs } from "../helpers/postgres.ts";
import { storeKind, type StorePlace } from "../helpers/stores.ts";
import { until } from "../helpers/ask.ts";

const noonMs = Date.UTC(2026, 10, 21, 12, 0, 10);
let place: StorePlace;
let store: Store;
let nowMs = noonMs;

beforeAll(async () => {
  place = await storeKind.place();
  store = await place.open(() => nowMs);
}, hookTimeoutMs);
afterAll(async () => {
  await store.close();
  await place[Symbol.asyncDispose]();
});
beforeEach(() => void (nowMs = noonMs));

const rex: NewPet = { name: "Rex", categoryId: 1n };
const bytes = (number: number) => new Uint8Array(32).fill(number);

test("animals get ascending ids from 1 on, each its own, in the order in which they came", async () => {
  const pets = Array.from({ length: 500 }, (_, i) => ({ name: `${i}`, categoryId: BigInt(i) }));
  const added = await Promise.all(pets.map((pet) => store.pets.create(pet)));
  expect(added).toEqual(pets.map(({ categoryId }) => categoryId + 1n));
  expect(await store.pets.byId(137n)).toEqual({ id: 137n, name: "136", categoryId: 136n });
  expect(await store.pets.count()).toBe(500);
});

test.each<[string, NewPet]>([
  ["the largest category", { name: "a", categoryId: int64Max }],
  ["the smallest category, an empty name", { name: "", categoryId: int64Min }],
  ["what an array literal is made of", { name: '{"a,b"}\\ \' "" {}', categoryId: 0n }],
  ["white space at both ends", { name: " \t\r\n a \u00a0", categoryId: 0n }],
  ["every plane of Unicode", { name: "é e\u0301 🐢 \u{10ffff} \ufeff\uffff", categoryId: 0n }],
  ["64 KiB of name", { name: "ñ".repeat(32_768), categoryId: 0n, status: "available" }],
])("animals are kept exactly: %s", async (_what, pet) => {
  const id = await store.pets.create(pet);
  expect(await store.pets.byId(id)).toEqual({ id, ...pet });
});

test.each(["create", "createOnce"] as const)(
  "animals that cannot be stored fail alone, not with their neighbours of a commit: %s",
  async (how) => {
    const before = await store.pets.count();
    // The rules of names are the domain's. This one's is the database's, too.
    const creates = ["Rex", "a\0b", "Luna", "\0", "Max"].map(async (name) => {
      const pet = { name, categoryId: 1n };
      if (how === "create") return store.pets.create(pet);
      const once = { pet, keyId: "key_v", value: name, bodyHash: bytes(0), nowMs: noonMs };
      return (await store.pets.createOnce(once)).id;
    });
    const found = await Promise.all(
      creates.map((create) =>
        create.then(
          async (id) => (await store.pets.byId(id))?.name,
          ({ kind }: AppError) => kind,
        ),
      ),
    );
    expect(found).toEqual(["Rex", "invalid_request", "Luna", "invalid_request", "Max"]);
    expect(await store.pets.count()).toBe(before + 3);
  },
);

describe("animals that are added once", () => {
  let named = 0;
  const once = (changes: Partial<IdempotentCreate> = {}): IdempotentCreate => ({
    pet: { name: "once", categoryId: 7n, status: "sold" },
    keyId: "key_a",
    value: `value ${(named += 1)}`,
    bodyHash: bytes(1),
    nowMs: noonMs,
    ...changes,
  });
  const outcomeOf = async (create: IdempotentCreate) =>
    (await store.pets.createOnce(create)).outcome;
  const forgetAll = () => store.db.transaction((tx) => tx.delete(tx.t.idempotencyKeys));

  test("are one animal, however often they are sent, and at one moment", async () => {
    const create = once();
    const before = await store.pets.count();
    const { pets } = store.versions();
    const sent = Array.from({ length: 50 }, () => store.pets.createOnce(create));
    const all = await Promise.all(sent);
    const [{ id } = { id: 0n }, ...others] = all.filter(({ outcome }) => outcome === "added");
    expect([others, [...new Set(all.map((each) => each.id))]]).toEqual([[], [id]]);
    expect(store.versions().pets).not.toBe(pets);
    expect(await store.pets.byId(id)).toEqual({ id, ...create.pet });
    expect(await store.pets.createOnce(create)).toEqual({ id, outcome: "repeated" });
    expect(await store.pets.count()).toBe(before + 1);
  });

  test("are told from another body, another key and another value, for a day to the millisecond", async () => {
    const create = once();
    const { id } = await store.pets.createOnce(create);
    const other = { ...create, bodyHash: bytes(2) };
    expect(await store.pets.createOnce(other)).toEqual({ id, outcome: "other body" });
    expect(await outcomeOf({ ...create, keyId: "key_b" })).toBe("added");
    expect(await outcomeOf({ ...create, value: `${create.value}x` })).toBe("added");
    const outcomes = [];
    for (const ms of [dayMs - 1, dayMs, dayMs + 1]) {
      outcomes.push(await outcomeOf({ ...create, nowMs: noonMs + ms }));
    }
    expect(outcomes).toEqual(["repeated", "added", "repeated"]);
  });

  test.each([
    ["an hour", hourMs, 30, 26],
    ["two days", 2 * dayMs, 4, 2],
    ["a month", 30 * dayMs, 4, 2],
  ])(
    "are forgotten after a day and an hour, where one comes each %s",
    async (_, everyMs, count, left) => {
      await forgetAll();
      for (let number = 0; number < count; number += 1) {
        await store.pets.createOnce(once({ nowMs: noonMs + number * everyMs }));
      }
      const stored = await store.db.read((tx) => tx.select().from(tx.t.idempotencyKeys));
      const numbers = stored.map(({ atMs }) => (atMs - noonMs) / everyMs);
      expect([Math.min(...numbers), numbers.length]).toEqual([count - left, left]);
    },
  );

  test.each([2, 23, 25, 10_000])(
    "are remembered by a clock that was %d hours ahead meanwhile",
    async (hours) => {
      await forgetAll();
      const creates = Array.from({ length: 23 }, (_, at) => once({ nowMs: noonMs + at * hourMs }));
      for (const create of creates) await store.pets.createOnce(create);
      const laterMs = noonMs + 23 * hourMs;
      for (let count = 0; count < 3; count += 1) {
        await store.pets.createOnce(once({ nowMs: laterMs + hours * hourMs + count }));
      }
      for (const create of creates) {
        expect(await outcomeOf({ ...create, nowMs: laterMs })).toBe("repeated");
      }
    },
  );
});

describe("keys", () => {
  let made = 0;
  const by = (action: string) => ({ action, actor: "tester", nowMs: noonMs });
  const hashOf = (number: number) => bytes(number) as KeyHash;
  const secret: KeySecret = { mask: "first", createdAtMs: noonMs, expiresAtMs: undefined };
  const events = (id: string) => store.db.read((tx) => eventsOf(tx, id));

  async function makeKey(changes: Partial<ApiKey> = {}) {
    const hash = hashOf((made += 1));
    const named = { id: `key_${made}`, name: `key "${made}" 🐢`, createdAtMs: noonMs + made };
    const key = someKey({ ...named, ...changes });
    await store.keys.insert(key, hash, secret, by("create"));
    return { key, hash };
  }

  test("are found by hash and by id, with all that is known of them", async () => {
    const { key, hash } = await makeKey({
      plan: "enterprise",
      limits: { perMinute: 7, perDay: 1_000_000_000 },
      expiresAtMs: noonMs + 1,
      ban: { noisyMinutes: [1, 2, 30_000_000], step: 2, bannedUntilMs: noonMs, reason: "why" },
    });
    expect(await store.keys.byHash(hash)).toEqual({ key, secretExpiresAtMs: undefined });
    expect(await store.keys.byId(key.id)).toEqual(key);
    expect(await store.keys.byHash(hashOf(255))).toBeUndefined();
    expect(await store.keys.byId("key_none")).toBeUndefined();
  });

  test("change in one step with their event and the version, and keep nothing of a change that threw", async () => {
    const { key } = await makeKey();
    const before = store.versions().keys;
    const refuse = () => {
      throw new RangeError("no");
    };
    expect((async () => store.keys.change(key.id, by("bad"), refuse))()).rejects.toThrow("no");
    const revoked = { ...key, revokedAtMs: noonMs };
    expect(await store.keys.change(key.id, by("revoke"), () => revoked)).toEqual(revoked);
    const after = store.versions().keys;
    expect(after).toBeGreaterThan(before);
    expect(await store.keys.changedSince(before)).toEqual([revoked]);
    expect(await store.keys.changedSince(after)).toEqual([]);
    expect(await store.keys.byId(key.id)).toEqual(revoked);
    const limits = { perMinute: 300, perDay: 10_000 };
    const fields = { name: key.name, plan: "pro", ...limits, access: "read-write" };
    const revokedAt = "2026-11-21T12:00:10Z";
    const given = { id: expect.any(BigInt), keyId: key.id, actor: "tester", atMs: noonMs };
    expect(await events(key.id)).toEqual([
      { ...given, action: "create", before: undefined, after: fields },
      { ...given, action: "revoke", before: fields, after: { ...fields, revokedAt } },
    ]);
  });

  test("rotate: the old secret ends at its time, the new one has none, the key stays", async () => {
    const { key, hash } = await makeKey();
    const other = await makeKey();
    const rotate = (id: string, to: number, mask: string, oldExpireAtMs: number, afterMs = 0) => {
      const next = { ...secret, mask, createdAtMs: noonMs + afterMs };
      const rotation = { hash: hashOf(to), secret: next, oldExpireAtMs };
      return store.keys.ending((tx) => rotateKey(tx, id, rotation, by("rotate")));
    };
    const ends = async (...hashes: readonly KeyHash[]) =>
      Promise.all(hashes.map(async (each) => (await store.keys.byHash(each))?.secretExpiresAtMs));
    const endMs = noonMs + 1_000;
    expect(await rotate(key.id, 200, "second", endMs, 2)).toEqual(key);
    expect(await ends(hash, hashOf(200))).toEqual([endMs, undefined]);
    await rotate(key.id, 201, "third", endMs + 1, 1);
    // The first one is not given more time than it had.
    expect(await ends(hash, hashOf(200), other.hash)).toEqual([endMs, endMs + 1, undefined]);
    const masks = (await store.db.read((tx) => secretsOf(tx, key.id))).map(({ mask }) => mask);
    // By their times, which a clock that is set may turn round.
    expect(masks).toEqual(["first", "third", "second"]);
    // Without a grace all of them end, those in an earlier one too.
    await rotate(key.id, 203, "fourth", noonMs, 3);
    expect(await ends(hash, hashOf(200), hashOf(201))).toEqual([noonMs, noonMs, noonMs]);
    await store.keys.change(key.id, by("revoke"), (each) => ({ ...each, revokedAtMs: endMs }));
    for (const id of [key.id, "none"]) expect(await rotate(id, 202, "x", 0)).toBeUndefined();
  });
});

describe("windows", () => {
  const today = Math.floor(noonMs / dayMs);
  const limits = { perMinute: 10, perDay: 25 };
  const wanted = (keyId: string, want: number) => ({ keyId, limits, want, unused: undefined });

  test("serve several keys at once, and one key several times", async () => {
    const granted = await Promise.all(
      [
        [wanted("w5", 6), wanted("w4", 2), wanted("w5", 6)],
        [wanted("w4", 9), wanted("w6", 1)],
        [],
      ].map(async (each) => (await store.windows.reserve(each, [])).map((got) => got.granted)),
    );
    expect(granted).toEqual([[6, 2, 4], [8, 1], []]);
  });

  test("keep 400 days with requests of a key, whatever the clock says", async () => {
    const days = Array.from({ length: 399 }, (_, ago) => ago - 500);
    const rows = ["w8", "w9"].flatMap((keyId) =>
      days.map((day) => ({ keyId, day: today + day, requests: 1 })),
    );
    await store.counters.transaction((tx) => tx.insertAll(tx.t.usageDays, rows));
    const daysOf = async (keyId: string) =>
      (await usageSince(store, 0, keyId)).map(({ day }) => day - today);
    for (const day of [0, 4_000, 4_001]) {
      nowMs = noonMs + day * dayMs;
      await store.windows.reserve([wanted("w8", 2)], []);
    }
    // 400 that ended, and the running one.
    expect(await daysOf("w8")).toEqual([...days.slice(1), 0, 4_000, 4_001]);
    expect(await daysOf("w9")).toHaveLength(399);
  });
});

test("is asked for its health by 600 at once, and stores every animal meanwhile", async () => {
  const services = servicesOn(await place.open(() => nowMs));
  const checks = Array.from({ length: 600 }, () => services.check());
  const ids = await Promise.all(Array.from({ length: 20 }, () => services.pets.create(rex)));
  expect(new Set(ids).size).toBe(20);
  for (const found of await Promise.all(checks)) {
    expect(found.length).toBeGreaterThan(0);
    expect(found.every(({ ok }) => ok)).toBe(true);
  }
  await services.close();
  expect(store.current?.()).toBeUndefined();
});

test("another process on the same data sees what this one changed within a second", async () => {
  /** A second, and what a busy machine adds. */
  const noticedMaxMs = 1_000 + 4_000;
  const other = await place.open(() => nowMs);
  const before = other.versions();
  const id = await store.pets.create(rex);
  await until(() => other.versions().pets > before.pets, noticedMaxMs);
  expect(await other.pets.byId(id)).toEqual({ id, ...rex });
  const [key] = await store.db.read(allKeys);
  const by = { action: "rename", actor: "tester", nowMs };
  await store.keys.change(key?.id ?? "", by, (each) => ({ ...each, name: "renamed" }));
  await until(() => other.versions().keys > before.keys, noticedMaxMs);
  const changed = await other.keys.changedSince(before.keys);
  expect(changed.map(({ name }) => name)).toEqual(["renamed"]);
  await other.close();
});
