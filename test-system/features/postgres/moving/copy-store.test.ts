/** Moving everything from one store to another, in every direction. */
import { rotateKey } from "../../../../src/features/keys/service.ts";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { noBan } from "../../../../src/domain/ban.ts";
import type { AppError } from "../../../../src/domain/errors.ts";
import { int64Max, int64Min } from "../../../../src/domain/int64.ts";
import { publishedLimits } from "../../../../src/domain/plan.ts";
import { windowMs } from "../../../../src/domain/windows.ts";
import { nameCategories } from "../../../../src/features/animals/categories.ts";
import { makeChange } from "../../../../src/features/animals/changes.ts";
import { copyStore, movedTables } from "../../../../src/features/postgres/moving/copy.ts";
import type { KeyAction, KeyHash, Store } from "../../../../src/storage/contract.ts";
import { changePets } from "../../../../src/storage/database.ts";
import { sqliteTables } from "../../../../src/storage/schema.sqlite.ts";
import { countBan } from "../../../../src/storage/keys.ts";
import { hookTimeoutMs } from "../../../../test/helpers/postgres.ts";
import { bothStores, type StorePlace } from "../../../../test/helpers/stores.ts";
import { animalsOf } from "../../../../test/features/animals/animals-of.ts";

const noonMs = Date.UTC(2026, 10, 21, 12, 0, 10);
const by = (action: string): KeyAction => ({ action, actor: "tester", nowMs: noonMs });
const hashOf = (n: number) => new Uint8Array(32).map((_, at) => (n * 31 + at) % 256) as KeyHash;
const secret = { mask: "rehome_live_abcd...", createdAtMs: noonMs, expiresAtMs: undefined };

const directions = bothStores.flatMap((from) => bothStores.map((to) => ({ from, to })));

describe.each(directions)("from $from.name to $to.name", (kinds) => {
  let places: StorePlace[];
  let from: Store;
  let to: Store;

  beforeEach(async () => {
    places = [await kinds.from.place(), await kinds.to.place()];
    from = await (places[0] as StorePlace).open(() => noonMs);
    to = await (places[1] as StorePlace).open(() => noonMs);
    await fill(from);
  }, hookTimeoutMs);
  afterEach(async () => {
    await from.close();
    await to.close();
    for (const place of places) await place[Symbol.asyncDispose]();
  }, hookTimeoutMs);

  const copy = (say: (step: string) => void = () => {}) => copyStore(from, to, say);

  test("everything is there, equal, and goes on where it was", async () => {
    const copied = await copy();
    const filled = copied.filter(({ rows }) => rows > 0);
    expect(filled.map(({ title, rows }) => [title, rows])).toEqual([
      ["counters", 2],
      ["days of usage", 2],
      ["categories", 2],
      ["keys", 3],
      ["secrets' hashes", 4],
      ["keys' events", 5],
      ["changes", 2],
      ["animals' events", 1],
      ["removed animals", 1],
      ["animals", 5_001],
    ]);
    expect(await to.pets.page({ limit: 3, after: 4_990n })).toEqual(
      await from.pets.page({ limit: 3, after: 4_990n }),
    );
    expect(await to.pets.count()).toBe(5_001);
    expect(await to.keys.byHash(hashOf(4))).toEqual(await from.keys.byHash(hashOf(4)));
    // The id of an animal that was removed is not given again on the other side either.
    expect(await to.pets.create({ name: "next", categoryId: 1n })).toBe(5_003n);
    // A change after the move is noticed by who knows the epoch from before it.
    const epoch = from.versions().keys;
    await to.keys.change("key_2", by("rename"), (key) => ({ ...key, name: "renamed" }));
    expect(to.versions().keys).toBeGreaterThan(epoch);
    const changed = await to.keys.changedSince(epoch);
    expect(changed.map(({ id }) => id)).toEqual(["key_2"]);
  });

  test("a source that changes while it is copied is noticed", async () => {
    const changing = copy((step) => {
      if (step !== "Comparing both sides") return;
      late = from.db.transaction((tx) =>
        changePets(tx, "additions", async () => {
          const more = await tx.insertAll(tx.t.pets, [{ name: "late", categoryId: 1n }]);
          return { result: undefined, more };
        }),
      );
    });
    let late: Promise<unknown> | undefined;
    const error = await changing.catch((caught: unknown) => caught);
    await late;
    expect((error as AppError).message).toContain("The copy is not equal: animals are 5002 in");
  });
});

test("every table moves, or belongs to one place", () => {
  // Sessions and links end with a move, and people sign in again.
  const leftTables = ["keyEpoch", "storeState", "sessions", "invitations"];
  const tables = [...movedTables.map(({ table }) => table as string), ...leftTables];
  expect(tables.toSorted()).toEqual(Object.keys(sqliteTables).toSorted());
});

/** A little of everything, with what is hard to carry over. */
async function fill(store: Store): Promise<void> {
  const names = ["", "NULL", '{"a,b"}\\', "é 🐢 \u{10ffff}", " \t\n", "'; --"];
  const statuses = ["available", "pending", "sold", undefined] as const;
  await Promise.all(
    Array.from({ length: 5_000 }, (_, i) =>
      store.pets.create({
        name: names[i % names.length] ?? "",
        categoryId: [int64Max, int64Min, BigInt(i)][i % 3] ?? 0n,
        status: i === 2 ? "available" : statuses[i % 4],
      }),
    ),
  );
  const editing = { db: store.db, clock: () => noonMs, actor: "tester" };
  await makeChange(editing, "import", async (change) => {
    await nameCategories(change, [
      { id: -5n, name: "Écureuil" },
      { id: int64Max, name: "Dog" },
    ]);
    await change.add([{ name: "imported", categoryId: 1n, externalId: "x:1", source: "x" }]);
  });
  const gone = await store.pets.create({ name: "gone", categoryId: 1n });
  await animalsOf(store).remove([gone]);
  for (const [at, plan] of (["free", "pro", "enterprise"] as const).entries()) {
    const limits = plan === "enterprise" ? { perMinute: 7, perDay: 70 } : publishedLimits[plan];
    const key = {
      id: `key_${at + 1}`,
      name: `key "${at}" 🐢`,
      plan,
      limits,
      readOnly: at === 1,
      createdAtMs: noonMs + at,
      expiresAtMs: at === 0 ? undefined : noonMs + 1,
      revokedAtMs: undefined,
      ban: at === 0 ? noBan : { noisyMinutes: [1, 2], step: 1, bannedUntilMs: 5, reason: "why" },
    };
    await store.keys.insert(key, hashOf(at + 1), secret, by("create"));
  }
  await store.keys.ending((tx) =>
    rotateKey(tx, "key_1", { hash: hashOf(4), secret, oldExpireAtMs: noonMs + 9 }, by("rotate")),
  );
  await store.keys.change("key_1", by("revoke"), (key) => ({ ...key, revokedAtMs: noonMs }));
  const limits = { perMinute: 10, perDay: 20 };
  for (const keyId of ["key_1", "key_2"]) {
    await store.windows.reserve([{ keyId, limits, want: 3, unused: undefined }], []);
    await store.windows.reserve([], [{ keyId, day: 20_000, refusals: 5 }]);
    await store.counters.transaction((tx) => countBan(tx, keyId, 20_000 * windowMs.day));
  }
  expect(await store.pets.count()).toBe(5_001);
}
