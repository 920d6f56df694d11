// The peers: installed from their own lock file or compiled from Debian's packages, each on a
// database of the same animals and the same keys.
import { Database } from "bun:sqlite";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { animal } from "./animals.ts";
import type { Context, Target } from "./measure.ts";
import { compiled, debianVersions, type NativeRuntime } from "./native-peers.ts";
import { DidNotRun, freePort, run, startServer } from "./process.ts";

const peersFolder = join(import.meta.dir, "peers");
const lockFile = join(peersFolder, "package-lock.json");
const installedFile = join(peersFolder, "node_modules", ".bench-lock-hash");

export interface Peer {
  readonly name: string;
  readonly runtime: "node" | "bun" | NativeRuntime;
  /** The program of a peer that is not compiled. */
  readonly file?: string;
  /** The packages whose versions the table names. */
  readonly packages: readonly string[];
  /** What rehome does for the same request and this peer does not. */
  readonly omits: readonly string[];
}

const omittedByAll = [
  "One window per key instead of two.",
  "Counters are in memory only: a restart loses them, and processes do not share them.",
  "No bans, access log, metrics, `Deprecation` or `Sunset`.",
];
const exactTo53 = "Integers are exact up to 2^53 only.";
const noHeadersOn401 = "A 401 has no limit headers.";
const relaxedByDefault =
  "Creates are durable only with `synchronous=FULL`, which is not the driver's default.";
const onlyTypes = "Fields are checked by type only.";

export const allPeers: readonly Peer[] = [
  {
    name: "Fastify",
    file: "fastify.js",
    runtime: "node",
    packages: ["fastify", "better-sqlite3", "@fastify/rate-limit", "@fastify/bearer-auth"],
    omits: [
      ...omittedByAll,
      exactTo53,
      "`X-RateLimit-Reset` is seconds left, not a time.",
      noHeadersOn401,
      "It counts at most 5,000 keys.",
      relaxedByDefault,
    ],
  },
  {
    name: "Hono on Bun",
    file: "hono.js",
    runtime: "bun",
    packages: ["hono", "hono-rate-limiter", "@hono/zod-validator", "zod"],
    omits: [
      ...omittedByAll,
      exactTo53,
      "The headers begin with `RateLimit`, not `X-RateLimit`, and `Reset` is seconds left.",
      noHeadersOn401,
    ],
  },
  {
    name: "Express",
    file: "express.js",
    runtime: "node",
    packages: ["express", "better-sqlite3", "express-rate-limit", "zod"],
    omits: [...omittedByAll, exactTo53, noHeadersOn401, relaxedByDefault],
  },
  {
    name: "Go",
    runtime: "go",
    packages: ["golang-go", "golang-github-mattn-go-sqlite3-dev"],
    omits: [
      ...omittedByAll,
      noHeadersOn401,
      onlyTypes,
      "It has one connection to the database, so each create is a commit.",
    ],
  },
  {
    name: "Rust",
    runtime: "rust",
    packages: ["librust-hyper-dev", "librust-tokio-dev", "librust-rusqlite-dev"],
    omits: [
      ...omittedByAll,
      noHeadersOn401,
      onlyTypes,
      "It has one connection to the database behind a lock, so each create is a commit.",
    ],
  },
];

export interface PeerKey {
  readonly key: string;
  readonly perMinute: number;
}

const hash = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");

/** The exact versions in bench/peers/package.json, and those of Debian's packages. */
export async function peerVersions(): Promise<Readonly<Record<string, string>>> {
  const file: { dependencies: Record<string, string> } = await Bun.file(
    join(peersFolder, "package.json"),
  ).json();
  return { ...file.dependencies, ...(await debianVersions()) };
}

/** Installs what the peers' lock file names, unless that is what is installed. Throws DidNotRun. */
export async function installPeers(say: (text: string) => void): Promise<void> {
  const wanted = hash(await Bun.file(lockFile).text());
  if (existsSync(installedFile) && (await Bun.file(installedFile).text()) === wanted) return;
  say("installing the peers (better-sqlite3 is compiled: about a minute)\n");
  await run(["npm", "ci", "--no-audit", "--no-fund"], peersFolder);
  await Bun.write(installedFile, wanted);
}

/** Fills a database for the peers: `animals` animals and the keys. */
export function fillPeerStore(file: string, animals: number, keys: readonly PeerKey[]): void {
  const db = new Database(file, { create: true, strict: true });
  db.run("PRAGMA journal_mode = WAL");
  db.run(
    "CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category_id INTEGER NOT NULL, status TEXT)",
  );
  db.run(
    "CREATE TABLE api_keys (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, per_minute INTEGER NOT NULL)",
  );
  const addPet = db.query("INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)");
  const addKey = db.query("INSERT INTO api_keys (hash, per_minute) VALUES (?, ?)");
  db.transaction(() => {
    for (let i = 1; i <= animals; i++) {
      const { name, categoryId, status } = animal(i);
      addPet.run(name, categoryId, status ?? null);
    }
    for (const { key, perMinute } of keys) addKey.run(hash(key), perMinute);
  })();
  db.run("CREATE INDEX pets_by_status ON pets (status, id)");
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

/** A peer as a target, on a copy of the database. `synchronous` is by default the driver's. */
export function peerTarget(
  peer: Peer,
  store: () => Promise<string>,
  installed: () => Promise<void>,
  synchronous?: "FULL" | "NORMAL",
): Target {
  const name = peer.name;
  const start = async ({ folder }: Context) => {
    const command = await programOf(peer, installed);
    const database = join(folder, "peer.db");
    copyFileSync(await store(), database);
    const env = {
      DATABASE: database,
      ...(synchronous === undefined ? {} : { SYNCHRONOUS: synchronous }),
    };
    const stderrFile = join(folder, "stderr.txt");
    const port = await freePort();
    return await startServer({ command, port, env, cwd: peersFolder, stderrFile });
  };
  return { name, start };
}

/** The command that runs a peer, which is installed or compiled first. Throws DidNotRun. */
async function programOf(
  { runtime, file = "" }: Peer,
  installed: () => Promise<void>,
): Promise<string[]> {
  if (runtime === "go" || runtime === "rust") return [await compiled(runtime)];
  await installed();
  return [runtime === "bun" ? process.execPath : "node", file];
}

/** Wraps an installation so that it is tried once and its failure told to every peer. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let tried: Promise<void> | undefined;
  return async () => {
    tried ??= work();
    await tried.catch((error: unknown) => {
      throw new DidNotRun(`could not be installed: ${error instanceof Error ? error.message : ""}`);
    });
  };
}
