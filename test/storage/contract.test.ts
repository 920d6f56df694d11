/** What a store promises, on each of the two. */
import { allKeys, eventsOf, rotateKey, secretsOf } from "../../src/features/keys/service.ts";
import { usageSince } from "../../src/features/keys/usage.ts";
import { sql } from "drizzle-orm";
import { editPets } from "../helpers/edit-pets.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { ApiKey, KeySecret } from "../../src/domain/api-key.ts";
import { noBan } from "../../src/domain/ban.ts";
import { int64Max, int64Min } from "../../src/domain/int64.ts";
import { dayMs, hourMs, minuteMs } from "../../src/domain/clock.ts";
import type { AppError } from "../../src/domain/errors.ts";
import type { NewPet, PetStatus } from "../../src/domain/pet.ts";
import { publishedLimits } from "../../src/domain/plan.ts";
import type { KeyAction, KeyHash, IdempotentCreate, Store } from "../../src/storage/contract.ts";
import { hookTimeoutMs } from "../helpers/postgres.ts";
import { stores, type StorePlace } from "../helpers/stores.ts";
import { until } from "../helpers/until.ts";

const noonMs = Date.UTC(2026, 10, 21, 12, 0, 10);

describe.each(stores)("$name", (kind) => {
  let place: StorePlace;
  let store: Store;
  let nowMs = noonMs;

  beforeAll(async () => {
    place = await kind.place();
    store = await place.open(() => nowMs);
  }, hookTimeoutMs);
  afterAll(async () => {
    await store.close();
    await place[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    nowMs = noonMs;
  });

  describe("animals", () => {
    test("get ascending ids from 1 on, each its own, in the order in which they came", async () => {
      const added = await Promise.all(
        Array.from({ length: 500 }, (_, i) =>
          store.pets.create({ name: `pet ${i}`, categoryId: BigInt(i) }),
        ),
      );
      expect(added).toEqual(Array.from({ length: 500 }, (_, i) => BigInt(i + 1)));
      expect(await store.pets.byId(137n)).toEqual({ id: 137n, name: "pet 136", categoryId: 136n });
      expect(await store.pets.count()).toBe(500);
    });

    test.each<[string, NewPet]>([
      ["the largest category", { name: "a", categoryId: int64Max }],
      ["the smallest category, an empty name", { name: "", categoryId: int64Min }],
      ["what an array literal is made of", { name: '{"a,b"}\\ \' "" {}', categoryId: 0n }],
      ["white space at both ends", { name: " \t\r\n a \u00a0", categoryId: 0n }],
      ["every plane of Unicode", { name: "é e\u0301 🐢 \u{10ffff} \ufeff\uffff", categoryId: 0n }],
      ["64 KiB of name", { name: "ñ".repeat(32_768), categoryId: 0n, status: "available" }],
      ["a status", { name: "a", categoryId: 1n, status: "pending" }],
    ])("are kept exactly: %s", async (_what, pet) => {
      const id = await store.pets.create(pet);
      expect(await store.pets.byId(id)).toEqual({ id, ...pet });
    });

    describe("added once", () => {
      let named = 0;
      const once = (changes: Partial<IdempotentCreate> = {}): IdempotentCreate => ({
        pet: { name: "once", categoryId: 7n, status: "sold" },
        keyId: "key_a",
        value: `value ${(named += 1)}`,
        bodyHash: new Uint8Array(32).fill(1),
        nowMs: noonMs,
        ...changes,
      });
      test("are one animal, however often they are sent, and at one moment", async () => {
        const create = once();
        const before = await store.pets.count();
        const { pets } = store.versions();
        const all = await Promise.all(
          Array.from({ length: 50 }, () => store.pets.createOnce(create)),
        );
        const [first, ...others] = all.filter(({ outcome }) => outcome === "added");
        if (first === undefined) throw new Error("none was added");
        expect(others).toEqual([]);
        expect(new Set(all.map(({ id }) => id)).size).toBe(1);
        expect(store.versions().pets).not.toBe(pets);
        expect(await store.pets.byId(first.id)).toEqual({ id: first.id, ...create.pet });
        const again = await store.pets.createOnce(create);
        expect(again).toEqual({ id: first.id, outcome: "repeated" });
        expect(await store.pets.count()).toBe(before + 1);
      });

      test("are told from another body, another key and another value", async () => {
        const create = once();
        const { id } = await store.pets.createOnce(create);
        const other = { ...create, bodyHash: new Uint8Array(32).fill(2) };
        expect(await store.pets.createOnce(other)).toEqual({ id, outcome: "other body" });
        for (const more of [{ keyId: "key_b" }, { value: `${create.value}x` }]) {
          const added = await store.pets.createOnce({ ...create, ...more });
          expect(added.outcome).toBe("added");
          expect(added.id).toBeGreaterThan(id);
        }
      });

      test("are remembered for a day, to the millisecond", async () => {
        const create = once();
        const { id } = await store.pets.createOnce(create);
        const late = { ...create, nowMs: noonMs + dayMs - 1 };
        expect(await store.pets.createOnce(late)).toEqual({ id, outcome: "repeated" });
        const over = await store.pets.createOnce({ ...create, nowMs: noonMs + dayMs });
        expect(over.outcome).toBe("added");
        expect(await store.pets.createOnce({ ...create, nowMs: noonMs + dayMs + 1 })).toEqual({
          id: over.id,
          outcome: "repeated",
        });
      });

      const forgetAll = () => store.db.transaction((tx) => tx.delete(tx.t.idempotencyKeys));

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
          const creates = Array.from({ length: 23 }, (_, hour) =>
            once({ nowMs: noonMs + hour * hourMs }),
          );
          for (const create of creates) await store.pets.createOnce(create);
          const nowMs = noonMs + 23 * hourMs;
          for (let count = 0; count < 3; count += 1) {
            await store.pets.createOnce(once({ nowMs: nowMs + hours * hourMs + count }));
          }
          for (const create of creates) {
            const again = await store.pets.createOnce({ ...create, nowMs });
            expect(again.outcome).toBe("repeated");
          }
        },
      );
    });

    test.each(["create", "createOnce"] as const)(
      "that cannot be stored fail alone, not with their neighbours of a commit: %s",
      async (how) => {
        const before = await store.pets.count();
        // The rules of names are the domain's. This one's is the database's, too.
        const names = ["Rex", "a\0b", "Luna", "\0", "Max"];
        const creates = names.map((name, at) => {
          const pet: NewPet = { name, categoryId: 1n };
          const once = { pet, keyId: "key_v", value: `${at}`, bodyHash: new Uint8Array(32) };
          return how === "create"
            ? store.pets.create(pet)
            : store.pets.createOnce({ ...once, nowMs: noonMs }).then(({ id }) => id);
        });
        const results = await Promise.allSettled(creates);
        const found = await Promise.all(
          results.map(async (result) =>
            result.status === "fulfilled"
              ? (await store.pets.byId(result.value))?.name
              : (result.reason as AppError).kind,
          ),
        );
        expect(found).toEqual(["Rex", "invalid_request", "Luna", "invalid_request", "Max"]);
        expect(await store.pets.count()).toBe(before + 3);
      },
    );

    test("are listed in pages, whole and by status", async () => {
      const statuses: (PetStatus | undefined)[] = ["available", undefined, "sold", "available"];
      const ids = [];
      for (const status of statuses) {
        ids.push(await store.pets.create({ name: "listed", categoryId: 1n, status }));
      }
      const after = (ids[0] as bigint) - 1n;
      const idsOf = async (query: Parameters<Store["pets"]["page"]>[0]) =>
        (await store.pets.page(query)).map(({ id }) => id);
      expect(await idsOf({ limit: 10, after })).toEqual(ids);
      expect(await idsOf({ limit: 2, after })).toEqual(ids.slice(0, 2));
      expect(await idsOf({ limit: 10, after, status: "available" })).toEqual([
        ids[0] as bigint,
        ids[3] as bigint,
      ]);
      expect(await idsOf({ limit: 1, after, status: "sold" })).toEqual([ids[2] as bigint]);
      expect(await idsOf({ limit: 10, after: int64Max })).toEqual([]);
      expect((await idsOf({ limit: 1 }))[0]).toBe(1n);
    });

    test("raise the version when they change, before the one who changed them is answered", async () => {
      let before = store.versions().pets;
      const id = await store.pets.create({ name: "a", categoryId: 1n });
      expect(store.versions().pets).toBeGreaterThan(before);
      before = store.versions().pets;
      await editPets(
        store.db,
        ({ t }) => sql`UPDATE ${t.pets} SET status = 'sold' WHERE id = ${id}`,
      );
      expect(store.versions().pets).toBeGreaterThan(before);
      before = store.versions().pets;
      await editPets(store.db, ({ t }) => sql`DELETE FROM ${t.pets} WHERE id = ${id}`);
      expect(store.versions().pets).toBeGreaterThan(before);
    });
  });

  describe("keys", () => {
    let made = 0;
    const by = (action: string): KeyAction => ({ action, actor: "tester", nowMs: noonMs });
    const hashOf = (n: number) => new Uint8Array(32).fill(n) as KeyHash;
    const secret: KeySecret = {
      mask: "rehome_live_abcd...",
      createdAtMs: noonMs,
      expiresAtMs: undefined,
    };

    async function makeKey(changes: Partial<ApiKey> = {}) {
      made += 1;
      const key: ApiKey = {
        id: `key_${made}`,
        name: `key "${made}" 🐢`,
        plan: "pro",
        limits: publishedLimits.pro,
        readOnly: false,
        createdAtMs: noonMs + made,
        expiresAtMs: undefined,
        revokedAtMs: undefined,
        ban: noBan,
        ...changes,
      };
      const hash = hashOf(made);
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

    test("tell for which environments they were made", async () => {
      await makeKey();
      expect(await store.keys.hasSecretOf("production")).toBe(true);
      expect(await store.keys.hasSecretOf("staging")).toBe(false);
    });

    test("change in one step with their event and the version", async () => {
      const { key } = await makeKey();
      const before = store.versions().keys;
      const revoked = { ...key, revokedAtMs: noonMs };
      expect(await store.keys.change(key.id, by("revoke"), () => revoked)).toEqual(revoked);
      const after = store.versions().keys;
      expect(after).toBeGreaterThan(before);
      expect(await store.keys.changedSince(before)).toEqual([revoked]);
      expect(await store.keys.changedSince(after)).toEqual([]);
      expect(await store.keys.byId(key.id)).toEqual(revoked);
      const events = await store.db.read((tx) => eventsOf(tx, key.id));
      expect(events.map(({ action }) => action)).toEqual(["create", "revoke"]);
      expect(events[0]).toMatchObject({ before: undefined, actor: "tester", atMs: noonMs });
      expect(events[1]?.after).toMatchObject({ revokedAt: "2026-11-21T12:00:10Z" });
      expect(Object.keys(events[1]?.after ?? {})).toEqual([
        "name",
        "plan",
        "perMinute",
        "perDay",
        "access",
        "revokedAt",
      ]);
    });

    test("keep nothing of a change that threw", async () => {
      const { key } = await makeKey();
      const refuse = () => {
        throw new RangeError("no");
      };
      const changed = (async () => store.keys.change(key.id, by("bad"), refuse))();
      expect(await changed.catch((error: unknown) => error)).toBeInstanceOf(RangeError);
      expect(await store.keys.byId(key.id)).toEqual(key);
      expect(await store.db.read((tx) => eventsOf(tx, key.id))).toHaveLength(1);
    });

    test("rotate: the old secret ends at its time, the new one has none, the key stays", async () => {
      const { key, hash } = await makeKey();
      const other = await makeKey();
      const fresh = hashOf(200 + made);
      const endMs = noonMs + 1_000;
      const second = { ...secret, mask: "second", createdAtMs: noonMs + 2 };
      expect(
        await store.keys.ending((tx) =>
          rotateKey(
            tx,
            key.id,
            { hash: fresh, secret: second, oldExpireAtMs: endMs },
            by("rotate"),
          ),
        ),
      ).toEqual(key);
      expect((await store.keys.byHash(hash))?.secretExpiresAtMs).toBe(endMs);
      expect((await store.keys.byHash(fresh))?.secretExpiresAtMs).toBeUndefined();
      const later = hashOf(100 + made);
      const third = { ...secret, mask: "third", createdAtMs: noonMs + 1 };
      await store.keys.ending((tx) =>
        rotateKey(
          tx,
          key.id,
          { hash: later, secret: third, oldExpireAtMs: endMs + 1 },
          by("rotate"),
        ),
      );
      // The first one is not given more time than it had.
      expect((await store.keys.byHash(hash))?.secretExpiresAtMs).toBe(endMs);
      expect((await store.keys.byHash(fresh))?.secretExpiresAtMs).toBe(endMs + 1);
      const masks = (await store.db.read((tx) => secretsOf(tx, key.id))).map(({ mask }) => mask);
      // By their times, which a clock that is set may turn round.
      expect(masks).toEqual([secret.mask, "third", "second"]);
      expect((await store.keys.byHash(other.hash))?.secretExpiresAtMs).toBeUndefined();
      const revoke = { ...by("revoke"), nowMs: endMs };
      await store.keys.change(key.id, revoke, (each) => ({ ...each, revokedAtMs: endMs }));
      expect(
        await store.keys.ending((tx) =>
          rotateKey(tx, key.id, { hash: hashOf(253), secret, oldExpireAtMs: 0 }, by("x")),
        ),
      ).toBeUndefined();
      expect(
        await store.keys.ending((tx) =>
          rotateKey(tx, "none", { hash: hashOf(254), secret, oldExpireAtMs: 0 }, by("x")),
        ),
      ).toBeUndefined();
    });

    test("take each noisy minute once", async () => {
      const { key } = await makeKey();
      const minute = Math.floor(noonMs / minuteMs);
      for (const label of [minute, minute, minute + 1]) {
        expect(await store.keys.noteMinute(key.id, label, label * minuteMs)).toBe(false);
      }
      expect(await store.db.read((tx) => eventsOf(tx, key.id))).toHaveLength(3);
      expect((await store.keys.byId(key.id))?.ban.noisyMinutes).toEqual([minute, minute + 1]);
      expect(await store.keys.noteMinute(key.id, minute + 2, (minute + 2) * minuteMs)).toBe(true);
      expect((await store.db.read((tx) => eventsOf(tx, key.id))).at(-1)?.action).toBe(
        "automatic-ban",
      );
      expect((await store.keys.byId(key.id))?.ban.step).toBe(1);
      const day = Math.floor(noonMs / dayMs);
      expect((await usageSince(store, day, key.id))[0]?.bans).toBe(1);
    });
  });

  test("is asked for its health by 600 at once, and stores every animal meanwhile", async () => {
    const checks = Array.from({ length: 600 }, () => store.check());
    const pets = Array.from({ length: 20 }, () => ({ name: "Rex", categoryId: 1n }));
    const ids = await Promise.all(pets.map((pet) => store.pets.create(pet)));
    expect(new Set(ids).size).toBe(20);
    for (const found of await Promise.all(checks)) {
      expect(found.length).toBeGreaterThan(0);
      expect(found.every(({ ok }) => ok)).toBe(true);
    }
    expect(store.current()).toBeUndefined();
  });

  describe("another process on the same data", () => {
    /** A second, and what a busy machine adds. */
    const noticedMaxMs = 1_000 + 4_000;

    test("sees what this one changed within a second", async () => {
      const other = await place.open(() => nowMs);
      try {
        const before = other.versions();
        const id = await store.pets.create({ name: "shared", categoryId: 1n });
        await until(() => other.versions().pets > before.pets, noticedMaxMs);
        expect(await other.pets.byId(id)).toEqual({ id, name: "shared", categoryId: 1n });
        const [key] = await store.db.read(allKeys);
        const by = { action: "rename", actor: "tester", nowMs };
        await store.keys.change(key?.id ?? "", by, (k) => ({ ...k, name: "renamed" }));
        await until(() => other.versions().keys > before.keys, noticedMaxMs);
        const changed = await other.keys.changedSince(before.keys);
        expect(changed.map(({ name }) => name)).toEqual(["renamed"]);
      } finally {
        await other.close();
      }
    });
  });
});
