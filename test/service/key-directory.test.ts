/** The directory on a store whose answers take their time, as those of a database across a network do. */
import { expect, test } from "bun:test";
import { generateKey, type ApiKey, type PlainKey } from "../../src/domain/api-key.ts";
import { noBan } from "../../src/domain/ban.ts";
import { publishedLimits } from "../../src/domain/plan.ts";
import { hashKey, KeyDirectory } from "../../src/service/key-directory.ts";
import { Account } from "../../src/service/account.ts";
import type { KeyHash, KeyStore } from "../../src/storage/contract.ts";
import { seededBytes, TestClock } from "../helpers/app.ts";
import { openTestStore } from "../helpers/store-under-test.ts";

const by = { action: "test", actor: "tester", nowMs: 0 };

async function directoryOn(options: { stale?: () => Promise<void> | undefined } = {}) {
  const clock = new TestClock();
  const store = await openTestStore({ clock: clock.read, serving: true });
  const plain: PlainKey = generateKey("production", seededBytes());
  const key: ApiKey = {
    id: "key_1",
    name: "a key",
    plan: "pro",
    limits: publishedLimits.pro,
    createdAtMs: clock.nowMs,
    expiresAtMs: undefined,
    revokedAtMs: undefined,
    ban: noBan,
  };
  const secret = { mask: "", createdAtMs: clock.nowMs, expiresAtMs: undefined };
  await store.keys.insert(key, hashKey(plain), secret, by);
  const answers: (() => void)[] = [];
  /** Resolves when a look-up has read its row. */
  const isRead = async () => {
    while (answers.length === 0) await Bun.sleep(1);
  };
  /** Lets the next look-up have what it has read. */
  const answer = async () => {
    await isRead();
    answers.shift()?.();
  };
  const directory = new KeyDirectory({
    keys: Object.assign(Object.create(store.keys) as KeyStore, {
      async byHash(hash: KeyHash) {
        const found = await store.keys.byHash(hash);
        await new Promise<void>((resolve) => answers.push(resolve));
        return found;
      },
      changedSince: (epoch: number) => store.keys.changedSince(epoch),
    }),
    versions: () => store.versions(),
    current: options.stale ?? (() => undefined),
    environment: "production",
    clock: clock.read,
    release: () => {},
  });
  return { answer, clock, directory, isRead, key, plain, store };
}

test("does not keep what it read of a key before the key was revoked", async () => {
  const { answer, clock, directory, isRead, key, plain, store } = await directoryOn();
  const early = directory.find(plain);
  await isRead();
  await store.keys.change(key.id, by, (k) => ({ ...k, revokedAtMs: clock.nowMs }));
  // Another caller makes the directory notice, while the first look-up is still under way.
  const noticed = directory.find("rehome_live_nonsense");
  expect(await noticed).toBe("malformed");
  await answer();
  await answer();
  expect(await early).toBe("revoked");
  expect(await directory.find(plain)).toBe("revoked");
});

test("waits for the store while what it knows is too old, and fails with it", async () => {
  let isGone = true;
  const stale = async () => {
    if (isGone) throw new Error("the store is gone");
  };
  const { answer, directory, plain } = await directoryOn({ stale });
  const failure = await Promise.resolve(directory.find(plain)).catch((error: unknown) => error);
  expect(failure).toEqual(new Error("the store is gone"));
  isGone = false;
  const found = directory.find(plain);
  await answer();
  expect(await found).toBeInstanceOf(Account);
});
