/**
 * The directory on a store whose answers take their time, as those of a database across a network
 * do.
 */
import { expect, test } from "bun:test";
import { generateKey, type ApiKey, type PlainKey } from "../../src/domain/api-key.ts";
import { Account } from "../../src/service/limiter.ts";
import { hashKey, KeyDirectory } from "../../src/service/key-directory.ts";
import type { KeyHash } from "../../src/storage/contract.ts";
import type { KeyStore } from "../../src/storage/keys.ts";
import { seededBytes, someKey, TestClock } from "../helpers/app.ts";
import { changesNoticed, openTestStore } from "../helpers/store-under-test.ts";

const by = { action: "test", actor: "tester", nowMs: 0 };

interface Options {
  readonly current?: () => Promise<void> | undefined;
  readonly entriesMax?: number;
  /** False to answer look-ups at once. */
  readonly isHeld?: boolean;
}

/** A directory on a store with the key `key_1`, and how to let its look-ups have their answers. */
async function directoryOn({ current, entriesMax = 100, isHeld = true }: Options = {}) {
  const clock = new TestClock();
  const store = await openTestStore({ clock: clock.read, serving: true });
  const insert = async (id: string, plain: PlainKey) => {
    const secret = { mask: "", createdAtMs: 0, expiresAtMs: undefined };
    await store.keys.insert(someKey({ id, name: id }), hashKey(plain), secret, by);
  };
  /** Keys of production, the first of which is stored. */
  const [plain, second, third] = [1, 2, 3].map((seed) =>
    generateKey("production", seededBytes(seed)),
  ) as [PlainKey, PlainKey, PlainKey];
  await insert("key_1", plain);
  const counts = { lookUps: 0 };
  const released: string[] = [];
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
  const keys = Object.assign(Object.create(store.keys) as KeyStore, {
    async byHash(hash: KeyHash) {
      counts.lookUps += 1;
      const found = await store.keys.byHash(hash);
      if (isHeld) await new Promise<void>((resolve) => answers.push(resolve));
      return found;
    },
  });
  const options = {
    store: { keys, versions: () => store.versions(), current: current ?? (() => undefined) },
    limiter: {
      open: (opened: ApiKey) => new Account(opened),
      async release(accounts: Iterable<Account>) {
        for (const account of accounts) released.push(account.key.id);
      },
    },
    environment: "production",
    clock: clock.read,
  } as const;
  const directory = new KeyDirectory(options, entriesMax);
  const known = () => [...directory.accounts()].map(({ key: { id } }) => id);
  return {
    answer,
    clock,
    counts,
    directory,
    insert,
    isRead,
    known,
    plain,
    released,
    second,
    store,
    third,
  };
}

test("tells a key of another environment from what is no key", async () => {
  const { directory } = await directoryOn();
  const staging = generateKey("staging", seededBytes());
  expect(await directory.find(`Bearer ${staging}`)).toBe("Bearer twice");
  expect(await directory.find(staging)).toBe("of another environment");
  expect(await directory.find(`${staging.slice(0, -1)}_`)).toBe("malformed");
});

test("does not keep what it read of a key before the key was revoked", async () => {
  const { answer, clock, directory, isRead, plain, store } = await directoryOn();
  const early = directory.find(plain);
  await isRead();
  await store.keys.change("key_1", by, (k) => ({ ...k, revokedAtMs: clock.nowMs }));
  // Another caller makes the directory notice, while the first look-up is still under way.
  expect(await directory.find("rehome_live_nonsense")).toBe("malformed");
  await answer();
  await answer();
  for (const found of [await early, await directory.find(plain)]) {
    expect(found).toMatchObject({ ended: "revoked", key: { id: "key_1" } });
  }
});

test("waits for the store while what it knows is too old, and fails with it", async () => {
  let isGone = true;
  const error = new Error("the store is gone");
  const { answer, directory, plain } = await directoryOn({
    current: async () => {
      if (isGone) throw error;
    },
  });
  const failure = await Promise.resolve(directory.find(plain)).catch((thrown: unknown) => thrown);
  expect(failure).toBe(error);
  isGone = false;
  const found = directory.find(plain);
  await answer();
  expect(await found).toBeInstanceOf(Account);
});

test("asks the store once for a credential that opens nothing, and again once a key changed", async () => {
  const { counts, directory, insert, second } = await directoryOn({ isHeld: false });
  for (let i = 0; i < 3; i += 1) expect(await directory.find(second)).toBe("unknown");
  expect(counts.lookUps).toBe(1);
  await insert("key_2", second);
  await changesNoticed();
  expect(await directory.find(second)).toBeInstanceOf(Account);
  expect(counts.lookUps).toBe(2);
});

test("lets go of all accounts, with what they hold, when there are too many; who asks again is found", async () => {
  const place = await directoryOn({ isHeld: false, entriesMax: 2 });
  const { counts, directory, insert, known, plain, released, second, third } = place;
  await insert("key_2", second);
  await insert("key_3", third);
  await changesNoticed();
  const one = await directory.find(plain);
  await directory.find(second);
  expect(await directory.find(plain)).toBe(one);
  expect([known(), released, counts.lookUps]).toEqual([["key_1", "key_2"], [], 2]);
  await directory.find(third);
  expect([known(), released]).toEqual([["key_3"], ["key_1", "key_2"]]);
  const again = await directory.find(plain);
  expect([again instanceof Account, again === one, counts.lookUps]).toEqual([true, false, 4]);
});
