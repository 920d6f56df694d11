// The data folders of a run, each made when the first scenario needs it.
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type PeerKey, fillPeerStore } from "./peer-store.ts";
import { DidNotRun } from "./process.ts";
import {
  type IssuedKey,
  unboundedPerMinute,
  cloneKey,
  createKey,
  fill,
  unknownKey,
} from "./rehome.ts";
import { businessKeyCount, coldCount, type Keys } from "./scenarios.ts";

type Say = (text: string) => void;

/** Calls `work` once, at the first call; its failure is told to every caller. */
export function lazy<T>(work: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | undefined;
  return () => (begun ??= work());
}

const written = (count: number): string => count.toLocaleString("en");

function folderIn(parent: string, name: string): string {
  const path = join(parent, name);
  mkdirSync(path, { recursive: true });
  return path;
}

/** A folder in which only keys are, known to the targets of the main table. */
interface KeyFolder {
  readonly data: string;
  readonly keys: Keys;
}

const plans = ["enterprise", "free", "business"] as const;

/** Makes the keys of the main table with the service's command line. Throws DidNotRun. */
export async function makeKeys(folder: string, rounds: number): Promise<KeyFolder> {
  const data = folderIn(folder, "keys");
  const issued: IssuedKey[] = [];
  for (const plan of plans) issued.push(await createKey(data, plan));
  const [unbounded, free, business] = issued as [IssuedKey, IssuedKey, IssuedKey];
  const sets = rounds + 1;
  const keys: Keys = {
    unbounded: unbounded.key,
    unknown: unknownKey(),
    unknownMany: someUnknown(coldCount),
    free: cloneKey(data, free, sets),
    business: inSets(cloneKey(data, business, sets * businessKeyCount)),
  };
  return { data, keys };
}

/** Keys for the peers alone, when there is no service to make any. */
export function makeUpKeys(rounds: number): Keys {
  const sets = rounds + 1;
  return {
    unbounded: unknownKey(),
    unknown: unknownKey(),
    unknownMany: someUnknown(coldCount),
    free: someUnknown(sets),
    business: inSets(someUnknown(sets * businessKeyCount)),
  };
}

const someUnknown = (count: number): string[] => Array.from({ length: count }, unknownKey);

function inSets(keys: readonly string[]): string[][] {
  const sets = keys.length / businessKeyCount;
  return Array.from({ length: sets }, (_, i) =>
    keys.slice(i * businessKeyCount, (i + 1) * businessKeyCount),
  );
}

/** Data folders by their number of animals, all with the keys of `base`. */
export function animalStores(
  folder: string,
  base: () => Promise<KeyFolder>,
  say: Say,
): (count: number) => () => Promise<string> {
  const made = new Map<number, () => Promise<string>>();
  return (count) => {
    const known =
      made.get(count) ??
      lazy(async () => {
        const data = join(folder, `animals-${count}`);
        const { data: empty } = await base();
        cpSync(empty, data, { recursive: true });
        say(`filling a store with ${written(count)} animals\n`);
        await fill(data, count, folder);
        return data;
      });
    made.set(count, known);
    return known;
  };
}

/** The peers' database, with the same animals and keys. */
export function peerStore(folder: string, animals: number, keys: () => Keys) {
  return lazy(async () => {
    const { unbounded, free, business } = keys();
    const peerKeys: PeerKey[] = [
      { key: unbounded, perMinute: unboundedPerMinute },
      ...free.map((key) => ({ key, perMinute: 60 })),
      ...business.flat().map((key) => ({ key, perMinute: 1000 })),
    ];
    const file = join(folder, "peers.db");
    fillPeerStore(file, animals, peerKeys);
    return file;
  });
}

export interface KeyStore {
  readonly data: string;
  readonly keys: readonly string[];
}

/** A data folder with a few keys, and a copy of it with many. */
export function keyStores(folder: string, animals: number, few: number, many: number, say: Say) {
  const small = lazy(async () => {
    const data = folderIn(folder, "few-keys");
    const first = await createKey(data, "enterprise");
    const keys = [first.key, ...cloneKey(data, first, few - 1)];
    await fill(data, animals, folder);
    return { first, store: { data, keys } };
  });
  const large = lazy(async (): Promise<KeyStore> => {
    const { first, store } = await small();
    const data = join(folder, "many-keys");
    cpSync(store.data, data, { recursive: true });
    say(`making ${written(many)} keys\n`);
    return { data, keys: [...store.keys, ...cloneKey(data, first, many - few, few)] };
  });
  return { few: async (): Promise<KeyStore> => (await small()).store, many: large };
}

/** A store that cannot be made, and why. */
export const missing = (reason: string) => async (): Promise<never> => {
  throw new DidNotRun(reason);
};
