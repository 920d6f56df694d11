/**
 * The directory on a store whose answers take their time, as those of a database across a network
 * do.
 */
import { expect, test } from "bun:test";
import { generateKey, type ApiKey, type PlainKey } from "../../src/domain/api-key.ts";
import { noBan } from "../../src/domain/ban.ts";
import { publishedLimits } from "../../src/domain/plan.ts";
import { Account } from "../../src/service/account.ts";
import { hashKey, KeyDirectory } from "../../src/service/key-directory.ts";
import type { KeyHash } from "../../src/storage/contract.ts";
import type { KeyStore } from "../../src/storage/keys.ts";
import { seededBytes, TestClock } from "../helpers/app.ts";
import { changesNoticed, openTestStore } from "../helpers/store-under-test.ts";

const by = { action: "test", actor: "tester", nowMs: 0 };

async function directoryOn(
  options: {
    stale?: () => Promise<void> | undefined;
    entriesMax?: number;
    /** False to answer look-ups at once. */
    isHeld?: boolean;
  } = {},
) {
  const clock = new TestClock();
  const store = await openTestStore({ clock: clock.read, serving: true });
  const plain: PlainKey = generateKey("production", seededBytes());
  const key: ApiKey = {
    id: "key_1",
    name: "a key",
    plan: "pro",
    limits: publishedLimits.pro,
    readOnly: false,
    createdAtMs: clock.nowMs,
    expiresAtMs: undefined,
    revokedAtMs: undefined,
    ban: noBan,
  };
  const secret = { mask: "", createdAtMs: clock.nowMs, expiresAtMs: undefined };
  await store.keys.insert(key, hashKey(plain), secret, by);
  const counts = { lookUps: 0, changes: 0 };
  const released: Account[] = [];
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
    store: {
      keys: Object.assign(Object.create(store.keys) as KeyStore, {
        async byHash(hash: KeyHash) {
          counts.lookUps += 1;
          const found = await store.keys.byHash(hash);
          if (options.isHeld === false) return found;
          await new Promise<void>((resolve) => answers.push(resolve));
          return found;
        },
        changedSince(version: number) {
          counts.changes += 1;
          return store.keys.changedSince(version);
        },
      }),
      versions: () => store.versions(),
      current: options.stale ?? (() => undefined),
    },
    limiter: {
      open: (opened) => new Account(opened),
      async release(accounts) {
        for (const account of accounts) released.push(account);
      },
    },
    environment: "production",
    clock: clock.read,
    entriesMax: options.entriesMax ?? 100,
  });
  return { answer, clock, counts, directory, isRead, key, plain, released, store };
}

test("tells a key of another environment from what is no key", async () => {
  const { directory } = await directoryOn();
  const staging = generateKey("staging", seededBytes());
  expect(await directory.find(`Bearer ${staging}`)).toBe("Bearer twice");
  expect(await directory.find(staging)).toBe("of another environment");
  expect(await directory.find(`${staging.slice(0, -1)}_`)).toBe("malformed");
});

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
  expect(await early).toMatchObject({ ended: "revoked", key: { id: key.id } });
  expect(await directory.find(plain)).toMatchObject({ ended: "revoked", key: { id: key.id } });
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

/** Credentials that look like keys and open nothing. */
const strangers = (count: number) =>
  Array.from({ length: count }, (_, i) => generateKey("production", seededBytes(1_000 + i)));

test("asks the store once for a credential that opens nothing, and again once a key changed", async () => {
  const { counts, directory, key, plain, store } = await directoryOn({ isHeld: false });
  const [stranger = plain] = strangers(1);
  for (let i = 0; i < 3; i += 1) expect(await directory.find(stranger)).toBe("unknown");
  expect(counts.lookUps).toBe(1);
  const secret = { mask: "", createdAtMs: 0, expiresAtMs: undefined };
  await store.keys.insert({ ...key, id: "key_2", name: "another" }, hashKey(stranger), secret, by);
  await changesNoticed();
  expect(await directory.find(stranger)).toBeInstanceOf(Account);
  expect(counts.lookUps).toBe(2);
});

test("lets go of all accounts, with what they hold, when there are too many; who asks again is found", async () => {
  const { counts, directory, key, plain, released, store } = await directoryOn({
    isHeld: false,
    entriesMax: 2,
  });
  const [second = plain, third = plain] = strangers(2);
  for (const [position, other] of [second, third].entries()) {
    const secret = { mask: "", createdAtMs: 0, expiresAtMs: undefined };
    const named = { ...key, id: `other_${position}`, name: `other ${position}` };
    await store.keys.insert(named, hashKey(other), secret, by);
  }
  await changesNoticed();
  const one = await directory.find(plain);
  await directory.find(second);
  expect(await directory.find(plain)).toBe(one);
  expect([...directory.accounts()].map(({ key: { id } }) => id)).toEqual([key.id, "other_0"]);
  expect([counts.lookUps, released.length]).toEqual([2, 0]);

  await directory.find(third);
  expect([...directory.accounts()].map(({ key: { id } }) => id)).toEqual(["other_1"]);
  expect(released.map(({ key: { id } }) => id)).toEqual([key.id, "other_0"]);
  const again = await directory.find(plain);
  expect(again).toBeInstanceOf(Account);
  expect(again).not.toBe(one);
  expect(counts.lookUps).toBe(4);
});
