// Flat in size: the same work in a small and in a large store must cost the same. The small one is
// the baseline of each pair.
import type { Scenario } from "./measure.ts";
import { rehomeTarget } from "./rehome.ts";
import { coldCount, get, someAnimals, spread } from "./scenarios.ts";
import type { KeyStore } from "./stores.ts";
import type { Request } from "./wrk.ts";

/** The least ratio that counts as flat: "within 10 %". */
const flatRatioMin = 0.9;

/** One side of a pair: a filled data folder and what is asked of it. */
interface Side {
  readonly name: string;
  readonly data: () => Promise<string>;
  readonly requests: () => Promise<readonly Request[]>;
}

interface About {
  readonly name: string;
  readonly title: string;
  readonly goal?: false;
}

function pair({ name, title, goal }: About, small: Side, large: Side): Scenario {
  return {
    name,
    title,
    connections: 64,
    status: 200,
    baseline: small.name,
    goals:
      goal === false ? [] : [{ target: large.name, against: small.name, atLeast: flatRatioMin }],
    targets: [small, large].map((side) => rehomeTarget({ name: side.name, data: side.data })),
    requests: (_round, target) => (target === large.name ? large : small).requests(),
  };
}

interface Sizes {
  readonly key: () => Promise<string>;
  readonly few: number;
  readonly middle: number;
  readonly many: number;
  /** The data folder with so many animals. */
  readonly dataOf: (animals: number) => () => Promise<string>;
}

const written = (n: number): string => n.toLocaleString("en");

/** Cost against the number of animals, and against how deep a page lies. */
export function animalScenarios({ key, few, middle, many, dataOf }: Sizes): Scenario[] {
  type Make = (key: string, animals: number) => readonly Request[];
  const side = (animals: number, requests: Make): Side => ({
    name: `${written(animals)} animals`,
    data: dataOf(animals),
    requests: async () => requests(await key(), animals),
  });
  const list: Make = (key) => [get("/v1/pets", key)];
  const asMany =
    (count: number): Make =>
    (key, animals) =>
      someAnimals(key, animals, count);
  const firstPages: Make = (key) =>
    spread(coldCount, coldCount).map((i) => get(`/v1/pets?after=${i}`, key));
  // As many animals as the first pages have: the service keeps as many in memory.
  const lastPages: Make = (key, animals) =>
    spread(coldCount, coldCount).map((i) => get(`/v1/pets?after=${animals - 100 - i}`, key));
  return [
    pair(
      { name: "flat-list", title: "GET /v1/pets by number of animals" },
      side(few, list),
      side(many, list),
    ),
    pair(
      {
        name: "flat-get",
        title: `GET /v1/pets/{petId} by number of animals, ${written(few)} of them asked for`,
      },
      side(few, asMany(few)),
      side(many, asMany(few)),
    ),
    pair(
      {
        name: "flat-get-cold",
        title:
          "GET /v1/pets/{petId} by number of animals, 50,000 of them asked for: more than are kept",
      },
      side(middle, asMany(coldCount)),
      side(many, asMany(coldCount)),
    ),
    pair(
      { name: "flat-deep", title: `Pages by where they lie among ${written(many)} animals` },
      { ...side(many, firstPages), name: "the first 50,000 pages" },
      { ...side(many, lastPages), name: "the last 50,000 pages" },
    ),
  ];
}

interface KeyCounts {
  readonly few: () => Promise<KeyStore>;
  readonly fewCount: number;
  readonly many: () => Promise<KeyStore>;
  readonly manyCount: number;
}

/** Cost against the number of keys stored, and (without a goal) with all of them in use at once. */
export function keyScenarios({ few, fewCount, many, manyCount }: KeyCounts): Scenario[] {
  const side = (count: number, store: () => Promise<KeyStore>, used = store): Side => ({
    name: `${written(count)} keys`,
    data: async () => (await store()).data,
    requests: async () => (await used()).keys.map((key) => get("/v1/pets", key)),
  });
  return [
    pair(
      {
        name: "flat-keys",
        title: `GET /v1/pets by number of keys stored, ${fewCount} of them in use`,
      },
      side(fewCount, few),
      side(manyCount, many, few),
    ),
    pair(
      {
        name: "flat-keys-used",
        title: "GET /v1/pets by number of keys in use, one request each in turn",
        goal: false,
      },
      side(fewCount, few),
      side(manyCount, many),
    ),
  ];
}
