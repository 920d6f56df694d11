// The data folders of a run, each made when the first scenario needs it.
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type PeerKey, fillPeerStore } from "./peers.ts";
import { cloneKey, createKey, fill, unboundedPerMinute, unknownKey } from "./rehome.ts";

type Say = (text: string) => void;

export const businessKeyCount = 600;
const fewAnimals = 1_000;

/** The keys that all targets of a run know. */
export interface Keys {
  readonly unbounded: string;
  /** Well formed, and known to nobody. */
  readonly unknown: string;
  /** A fresh one for every round, 0 (the warm-up) included. */
  readonly free: readonly string[];
  /** A fresh set for every round, 0 included. */
  readonly business: readonly (readonly string[])[];
}

export interface KeyStore {
  readonly data: string;
  readonly keys: readonly string[];
}

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

/** A folder in which only keys are, made with the service's command line. Throws DidNotRun. */
async function makeKeys(data: string, rounds: number): Promise<Keys> {
  const sets = rounds + 1;
  const unbounded = await createKey(data, "enterprise");
  const free = await createKey(data, "free");
  const business = await createKey(data, "business");
  const many = cloneKey(data, business, sets * businessKeyCount);
  return {
    unbounded: unbounded.key,
    unknown: unknownKey(),
    free: cloneKey(data, free, sets),
    business: Array.from({ length: sets }, (_, i) =>
      many.slice(i * businessKeyCount, (i + 1) * businessKeyCount),
    ),
  };
}

/** All stores of a run in `folder`. */
export async function makeStores(folder: string, rounds: number, say: Say) {
  const empty = folderIn(folder, "keys");
  const keys = await makeKeys(empty, rounds);
  const made = new Map<number, () => Promise<string>>();
  /** The data folder with so many animals, and the keys. */
  const withAnimals = (count: number): (() => Promise<string>) => {
    const known =
      made.get(count) ??
      lazy(async () => {
        const data = join(folder, `animals-${count}`);
        cpSync(empty, data, { recursive: true });
        say(`filling a store with ${written(count)} animals\n`);
        await fill(data, count, folder);
        return data;
      });
    made.set(count, known);
    return known;
  };
  const few = lazy(async () => {
    const data = folderIn(folder, "few-keys");
    const first = await createKey(data, "enterprise");
    await fill(data, fewAnimals, folder);
    return { first, store: { data, keys: [first.key] } };
  });
  /** A data folder with one key, or a copy of it with `count`. */
  const withKeys = (count: number) =>
    lazy(async (): Promise<KeyStore> => {
      const { first, store } = await few();
      if (count === 1) return store;
      const data = join(folder, `keys-${count}`);
      cpSync(store.data, data, { recursive: true });
      say(`making ${written(count)} keys\n`);
      return { data, keys: [...store.keys, ...cloneKey(data, first, count - 1)] };
    });
  /** The peers' database, with the same animals and keys. */
  const ofPeers = (animals: number) =>
    lazy(async () => {
      const peerKeys: PeerKey[] = [
        { key: keys.unbounded, perMinute: unboundedPerMinute },
        ...keys.free.map((key) => ({ key, perMinute: 60 })),
        ...keys.business.flat().map((key) => ({ key, perMinute: 1000 })),
      ];
      const file = join(folder, "peers.db");
      fillPeerStore(file, animals, peerKeys);
      return file;
    });
  return { keys, withAnimals, withKeys, ofPeers };
}

export type Stores = Awaited<ReturnType<typeof makeStores>>;
