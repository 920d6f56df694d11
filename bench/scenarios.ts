// What is measured, in the order it runs: those that write come last.
import { type Request } from "./load.ts";
import { ask, type Scenario } from "./measure.ts";
import { peerTarget } from "./peers.ts";
import { DidNotRun } from "./process.ts";
import { rehomeTarget } from "./rehome.ts";
import { businessKeyCount, type KeyStore, type Stores } from "./stores.ts";
import { oneCommit } from "./yardsticks.ts";

export const serviceName = "rehome";
export const animalCount = 100_000;
const fewAnimals = 1_000;
const manyAnimals = 1_000_000;
const fewKeys = 10;
const manyKeys = 100_000;
const connections = 64;
/** Different requests of a rotating load: more than any memory of responses keeps. */
export const coldCount = 50_000;
/** Animals that a rotating load asks for where their responses may be kept: a working set. */
const warmCount = 10_000;
const freePerMinute = 60;
/** Refusals warn of a ban from so long after the first one of a minute. */
const warnedAfterMs = 2_100;

const bearer = (key: string): Record<string, string> => ({ Authorization: `Bearer ${key}` });
const written = (count: number): string => count.toLocaleString("en");

export const get = (path: string, key: string): Request => ({
  method: "GET",
  path,
  headers: bearer(key),
});

export const createOf = (key: string): Request => ({
  method: "POST",
  path: "/v1/pets",
  headers: { ...bearer(key), "Content-Type": "application/json" },
  body: JSON.stringify({ name: "Rex", categoryId: 1, status: "available" }),
});

/** `count` whole numbers spread over 1 to `most`, the same in every run. */
export function spread(count: number, most: number): number[] {
  return Array.from({ length: count }, (_, i) => 1 + ((i * 7919) % most));
}

/** The page requests that start somewhere in the last nine tenths of the store. */
export function deepPages(key: string, animals: number): Request[] {
  const first = Math.floor(animals / 10);
  const pages = spread(coldCount, animals - first - 100);
  return pages.map((i) => get(`/v1/pets?after=${first + i}`, key));
}

/** Requests for `count` different animals of the store (for all of a smaller one). */
const someAnimals = (key: string, animals: number, count: number): Request[] =>
  spread(Math.min(count, animals), animals).map((id) => get(`/v1/pets/${id}`, key));

/** Uses a Free key up in a minute with room for `seconds`: all the load gets one refusal. */
async function exhaust(port: number, key: string, seconds: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < (seconds + 4) * 1000 + warnedAfterMs) await Bun.sleep(leftMs + 50);
  for (let i = 0; i <= freePerMinute; i++) {
    if ((await ask(port, get("/v1/pets", key))).status !== 429) continue;
    await Bun.sleep(warnedAfterMs);
    await ask(port, get("/v1/pets", key));
    return;
  }
  throw new DidNotRun("a Free key is still admitted after 61 requests");
}

/** Of twenty requests, nineteen are pages among a thousand, and one adds an animal. */
function mixedRequests(key: string): Request[] {
  const pages = spread(1_000, animalCount - 100).map((after) =>
    get(`/v1/pets?after=${after}`, key),
  );
  return Array.from({ length: 20_000 }, (_, i) =>
    i % 20 === 19 ? createOf(key) : (pages[i % pages.length] as Request),
  );
}

export interface World {
  readonly stores: Stores;
  readonly withPeer: boolean;
}

/** The scenarios that compare the service with the peer. */
export function main({ stores, withPeer }: World): Scenario[] {
  const { keys } = stores;
  const key = keys.unbounded;
  const freeKey = (round: number): string => keys.free[round] as string;
  const data = stores.withAnimals(animalCount);
  const peers = withPeer ? [peerTarget(stores.ofPeers(animalCount))] : [];
  const reading = (
    name: string,
    title: string,
    requests: Scenario["requests"],
    more: Partial<Scenario> = {},
  ): Scenario => {
    const targets = [rehomeTarget({ name: serviceName, data }), ...peers];
    return { name, title, connections, status: 200, targets, requests, ...more };
  };
  const writer = rehomeTarget({ name: serviceName, data, copy: true });
  const creating = (count: number): Scenario => ({
    name: `create-${count}`,
    title: `POST /v1/pets, on the disk before the 201, ${count} connections`,
    connections: count,
    status: 201,
    targets: [writer, oneCommit, ...peers],
    requests: () => [createOf(key)],
    creates: true,
  });
  const list = [get("/v1/pets", key)];
  const deep = deepPages(key, animalCount);
  const animals = someAnimals(key, animalCount, warmCount);
  return [
    reading("list", "GET /v1/pets, 20 animals", () => list),
    reading("deep", "GET /v1/pets?after=, 50,000 different pages", () => deep),
    reading("get", "GET /v1/pets/{petId}, 10,000 different animals", () => animals),
    reading(
      "429",
      "GET /v1/pets with a Free key that is used up",
      (round) => [get("/v1/pets", freeKey(round))],
      { status: 429, arrange: (port, round, seconds) => exhaust(port, freeKey(round), seconds) },
    ),
    reading(
      "401",
      "GET /v1/pets with a well-formed key nobody has",
      () => [get("/v1/pets", keys.unknown)],
      { status: 401 },
    ),
    // 600 keys of 1,000 a minute: a round stays below.
    reading("600-keys", `GET /v1/pets, ${businessKeyCount} Business keys in turn`, (round) =>
      (keys.business[round] ?? []).map((one) => get("/v1/pets", one)),
    ),
    creating(64),
    creating(256),
    reading("mixed", "95 % pages of 1,000, 5 % creates", () => mixedRequests(key), {
      targets: [writer, ...peers],
    }),
  ];
}

/** One side of a pair: a filled data folder and what is asked of it. */
interface Side {
  readonly name: string;
  readonly data: () => Promise<string>;
  readonly requests: () => Promise<readonly Request[]>;
}

const pair = (name: string, title: string, small: Side, large: Side): Scenario => ({
  name,
  title,
  connections,
  status: 200,
  targets: [large, small].map((side) => rehomeTarget({ name: side.name, data: side.data })),
  requests: (_, target) => (target === large.name ? large : small).requests(),
});

/** Flat in size: the same work in a small and in a large store. The large one comes first. */
export function flat({ stores }: World): Scenario[] {
  const key = stores.keys.unbounded;
  const ofAnimals = (count: number, requests: readonly Request[]): Side => ({
    name: `${written(count)} animals`,
    data: stores.withAnimals(count),
    requests: async () => requests,
  });
  const ofKeys = (count: number, store: () => Promise<KeyStore>, used: number): Side => ({
    name: `${written(count)} keys`,
    data: async () => (await store()).data,
    requests: async () => (await store()).keys.slice(0, used).map((one) => get("/v1/pets", one)),
  });
  const list = [get("/v1/pets", key)];
  const single = someAnimals(key, fewAnimals, fewAnimals);
  const spreadOut = someAnimals(key, manyAnimals, fewAnimals);
  const pages = (from: number) =>
    spread(coldCount, coldCount).map((i) => get(`/v1/pets?after=${from + i}`, key));
  const last = manyAnimals - coldCount - 100;
  return [
    pair("flat-list", "lists", ofAnimals(fewAnimals, list), ofAnimals(manyAnimals, list)),
    pair("flat-get", "gets", ofAnimals(fewAnimals, single), ofAnimals(manyAnimals, spreadOut)),
    pair(
      "flat-deep",
      "pages among 1,000,000 animals",
      { ...ofAnimals(manyAnimals, pages(0)), name: "the first 50,000 pages" },
      { ...ofAnimals(manyAnimals, pages(last)), name: "the last 50,000 pages" },
    ),
    pair(
      "flat-keys",
      `lists with ${fewKeys} keys`,
      ofKeys(fewKeys, stores.withKeys(fewKeys), fewKeys),
      ofKeys(manyKeys, stores.withKeys(manyKeys), fewKeys),
    ),
  ];
}
