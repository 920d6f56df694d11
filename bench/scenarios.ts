// What is measured against the bare server and the peers.
import { bareName, oneCommitName, bareTarget, rungTarget } from "./bare-target.ts";
import { ask } from "./capture.ts";
import type { Scenario, Target } from "./measure.ts";
import type { Goal } from "./stats.ts";
import { type Peer, peerTarget } from "./peer-store.ts";
import { DidNotRun } from "./process.ts";
import { rehomeTarget } from "./rehome.ts";
import type { Request } from "./wrk.ts";

/** The keys all targets of a run know. */
export interface Keys {
  readonly unbounded: string;
  /** Well formed, and known to nobody. */
  readonly unknown: string;
  readonly unknownMany: readonly string[];
  /** A fresh one for every round, 0 (the warm-up) included. */
  readonly free: readonly string[];
  /** A fresh set for every round, 0 included. */
  readonly business: readonly (readonly string[])[];
}

interface World {
  readonly keys: Keys;
  readonly animals: number;
  readonly data: () => Promise<string>;
  readonly peerStore: () => Promise<string>;
  readonly peers: readonly Peer[];
  readonly installed: () => Promise<void>;
}

export const businessKeyCount = 600;
const connectionCount = 64;
/** Different requests of a rotating load: more than any memory of answers keeps. */
export const coldCount = 50_000;
/** Animals that a rotating load asks for where their answers may be kept: a working set. */
const warmCount = 10_000;
const freePerMinute = 60;
const serviceName = "rehome";

const bearer = (key: string): Record<string, string> => ({ Authorization: `Bearer ${key}` });

export const get = (path: string, key?: string): Request => ({
  method: "GET",
  path,
  headers: key === undefined ? {} : bearer(key),
});

/** `count` whole numbers spread over 1..most, the same in every run. */
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
export const someAnimals = (key: string, animals: number, count: number): Request[] =>
  spread(Math.min(count, animals), animals).map((id) => get(`/v1/pets/${id}`, key));

interface Shape {
  readonly name: string;
  readonly title: string;
  /** The least ratio to the bare server, where one is asked for. */
  readonly atLeast?: number;
  readonly requests: (round: number) => readonly Request[];
}

type More = Partial<Pick<Scenario, "status" | "arrange" | "atMostSeconds">>;

function reading(world: World, shape: Shape, more: More = {}): Scenario {
  const peers = world.peers.map((peer) => peerTarget(peer, world.peerStore, world.installed));
  const { name, title, requests, atLeast } = shape;
  return {
    name,
    title,
    connections: connectionCount,
    status: 200,
    baseline: bareName,
    goals: atLeast === undefined ? [] : [{ target: serviceName, against: bareName, atLeast }],
    targets: [rehomeTarget({ name: serviceName, data: world.data }), bareTarget("same"), ...peers],
    requests,
    ...more,
  };
}

/** Of twenty requests, nineteen are pages among a thousand, and one adds an animal. */
const mixedShape = { pages: 1_000, turns: 1_000, readsATurn: 19 } as const;

/** Reads and writes at once: what a create makes of the answers that are kept. */
function mixed(world: World): Scenario {
  const { keys, animals } = world;
  const first = spread(mixedShape.pages, animals - 100);
  const pages = first.map((after) => get(`/v1/pets?after=${after}`, keys.unbounded));
  const post = create(world);
  const requests = Array.from({ length: mixedShape.turns }, (_, turn) => {
    const at = turn * mixedShape.readsATurn;
    const read = Array.from({ length: mixedShape.readsATurn }, (__, i) => pages[(at + i) % 1_000]);
    return [...read.filter((page) => page !== undefined), post];
  }).flat();
  const peers = world.peers.map((peer) =>
    peerTarget(peer, world.peerStore, world.installed, "FULL"),
  );
  return {
    name: "mixed",
    title: "95 % pages of a working set of 1,000 and 5 % durable creates, 64 connections",
    connections: connectionCount,
    status: 200,
    baseline: bareName,
    targets: [
      rehomeTarget({ name: serviceName, data: world.data, copy: true }),
      bareTarget("same"),
      ...peers,
    ],
    requests: () => requests,
  };
}

const create = ({ keys }: World): Request => ({
  method: "POST",
  path: "/v1/pets",
  headers: { ...bearer(keys.unbounded), "Content-Type": "application/json" },
  body: newPet,
});

const newPet = JSON.stringify({ name: "Rex", categoryId: 1, status: "available" });

function creating(
  world: World,
  connections: number,
  goals: readonly Goal[],
  relaxed = false,
): Scenario {
  const post = create(world);
  const synchronous = relaxed ? "NORMAL" : "FULL";
  const peers = world.peers.map((peer) =>
    peerTarget(peer, world.peerStore, world.installed, synchronous),
  );
  const yardsticks: Target[] = relaxed ? [] : [bareTarget("one-commit")];
  return {
    name: relaxed ? "create-relaxed" : `create-${connections}`,
    title: relaxed
      ? `POST /v1/pets, ${connections} connections; rehome durable as ever, the peers with synchronous=NORMAL (a power cut loses their last creates)`
      : `POST /v1/pets, durable (on the disk before the 201), ${connections} connections`,
    connections,
    status: 201,
    baseline: bareName,
    goals,
    targets: [
      rehomeTarget({ name: serviceName, data: world.data, copy: true }),
      bareTarget("echo"),
      ...yardsticks,
      ...peers,
    ],
    requests: () => [post],
    creates: true,
  };
}

/** Refusals warn of a ban from so long after the first one of a minute. */
const warnedAfterMs = 2_100;

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

/** The scenarios of the main table, in the order they are run: those that write come last. */
export const scenarios = (world: World): Scenario[] => [
  ...reads(world),
  ...refusals(world),
  manyKeys(world),
  ...creates(world),
  mixed(world),
  ladder(world),
];

function reads(world: World): Scenario[] {
  const { keys, animals } = world;
  const key = keys.unbounded;
  const cold = someAnimals(key, animals, coldCount);
  const scenario = (
    name: string,
    title: string,
    requests: readonly Request[],
    atLeast = 0.6,
  ): Scenario => reading(world, { name, title, atLeast, requests: () => requests });
  return [
    scenario("list", "GET /v1/pets (20 animals)", [get("/v1/pets", key)]),
    scenario("filtered", "GET /v1/pets?status=available (20 animals)", [
      get("/v1/pets?status=available", key),
    ]),
    scenario(
      "deep",
      "GET /v1/pets?after=…, 50,000 different pages deep inside, more than are kept; their animals are",
      deepPages(key, animals),
    ),
    scenario(
      "get",
      "GET /v1/pets/{petId}, 10,000 different animals",
      someAnimals(key, animals, warmCount),
      0.57,
    ),
    reading(world, {
      name: "get-cold",
      title: "GET /v1/pets/{petId}, 50,000 different animals, more than are kept",
      requests: () => cold,
    }),
  ];
}

function refusals(world: World): Scenario[] {
  const { keys } = world;
  const freeKey = (round: number): string => keys.free[round] as string;
  return [
    reading(
      world,
      {
        name: "429",
        title: "GET /v1/pets with a Free key that is used up",
        atLeast: 0.6,
        requests: (round) => [get("/v1/pets", freeKey(round))],
      },
      {
        status: 429,
        arrange: (port, round, seconds) => exhaust(port, freeKey(round), seconds),
      },
    ),
    reading(
      world,
      {
        name: "401",
        title: "GET /v1/pets with a well-formed key nobody has",
        atLeast: 0.6,
        requests: () => [get("/v1/pets", keys.unknown)],
      },
      { status: 401 },
    ),
    reading(
      world,
      {
        name: "401-many",
        title: "GET /v1/pets with 50,000 different well-formed keys nobody has",
        requests: () => keys.unknownMany.map((one) => get("/v1/pets", one)),
      },
      { status: 401 },
    ),
  ];
}

function manyKeys(world: World): Scenario {
  return reading(
    world,
    {
      name: "600-keys",
      title: `GET /v1/pets, ${businessKeyCount} Business keys in turn, every request paid for in the table`,
      atLeast: 0.57,
      requests: (round) => (world.keys.business[round] ?? []).map((key) => get("/v1/pets", key)),
    },
    // 600 keys of 1,000 a minute: five seconds at 100,000/s stay below.
    { atMostSeconds: 5 },
  );
}

function creates(world: World): Scenario[] {
  const durable = (connections: number, atLeast: number, timesOneCommit: number): Scenario =>
    creating(world, connections, [
      { target: serviceName, against: bareName, atLeast },
      { target: serviceName, against: oneCommitName, atLeast: timesOneCommit },
    ]);
  return [durable(64, 0.42, 15), durable(256, 0.46, 15), creating(world, 64, [], true)];
}

/** Where the time between the bare server and the service goes. */
function ladder(world: World): Scenario {
  const { data, keys } = world;
  return {
    name: "ladder",
    title:
      "GET /v1/pets, from the bare server to the service: each target does one thing more than the one before",
    connections: connectionCount,
    status: 200,
    baseline: bareName,
    targets: [
      rehomeTarget({ name: serviceName, data }),
      bareTarget("same"),
      rungTarget("it asks for URL, headers and address", "asks"),
      rungTarget("its headers are each answer's own", "counts"),
      rungTarget("it answers through Elysia", "elysia"),
      rungTarget("it takes the key from the bearer plugin", "bearer"),
      rehomeTarget({ name: `${serviceName} without its log`, data, logged: false }),
    ],
    requests: () => [get("/v1/pets", keys.unbounded)],
  };
}
