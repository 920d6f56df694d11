// The peers: installed from their own lock file or compiled from Debian's packages, each on a
// database of the same animals and the same keys.
import { Database } from "bun:sqlite";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { animal } from "./animals.ts";
import type { Context, Target } from "./measure.ts";
import { DidNotRun, freePort, run, startServer } from "./process.ts";
import { root, unboundedPerDay } from "./rehome.ts";
import { lazy } from "./stores.ts";

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

/** What none of them does. */
export const omittedByAll: readonly string[] = [
  "Counters are in memory only: a restart loses them, and processes do not share them.",
  "No bans, metrics, `Deprecation` or `Sunset`. A 401 has no limit headers.",
];
const exactTo53 = "Integers are exact up to 2^53 only.";
const relaxedByDefault =
  "Creates are durable only with `synchronous=FULL`, which is not the driver's default.";
const yardstickOmits = [
  "No access log, and one window per key instead of two.",
  "Fields are checked by type only. Each create is a commit.",
];

export const allPeers: readonly Peer[] = [
  {
    name: "Fastify",
    file: "fastify.js",
    runtime: "node",
    packages: ["fastify", "better-sqlite3", "@fastify/rate-limit", "@fastify/bearer-auth"],
    omits: [
      exactTo53,
      "`X-RateLimit-Reset` is seconds left, not a time.",
      "It counts at most 5,000 keys.",
      relaxedByDefault,
    ],
  },
  {
    name: "Hono",
    file: "hono.js",
    runtime: "bun",
    packages: ["hono", "hono-rate-limiter", "@hono/zod-validator", "zod"],
    omits: [exactTo53, "The headers begin with `RateLimit`, and `Reset` is seconds left."],
  },
  {
    name: "Express",
    file: "express.js",
    runtime: "node",
    packages: ["express", "better-sqlite3", "express-rate-limit", "morgan", "zod"],
    omits: [exactTo53, relaxedByDefault],
  },
  {
    name: "Go",
    runtime: "go",
    packages: ["golang-go", "golang-github-mattn-go-sqlite3-dev"],
    omits: yardstickOmits,
  },
  {
    name: "Rust",
    runtime: "rust",
    packages: ["librust-hyper-dev", "librust-tokio-dev", "librust-rusqlite-dev"],
    omits: yardstickOmits,
  },
];

/** The promises are held against these; the compiled ones are yardsticks. */
export const frameworks: readonly string[] = ["Fastify", "Hono", "Express"];

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
const installed = lazy(async (): Promise<void> => {
  const wanted = hash(await Bun.file(lockFile).text());
  if (existsSync(installedFile) && (await Bun.file(installedFile).text()) === wanted) return;
  process.stderr.write("installing the peers (better-sqlite3 is compiled: about a minute)\n");
  await run(["npm", "ci", "--no-audit", "--no-fund"], peersFolder);
  await Bun.write(installedFile, wanted);
});

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

/** A peer as a target, on a copy of the database. Its creates are as durable as the service's. */
export function peerTarget(peer: Peer, store: () => Promise<string>): Target {
  const name = peer.name;
  const start = async ({ folder }: Context) => {
    const command = await programOf(peer);
    const database = join(folder, "peer.db");
    copyFileSync(await store(), database);
    const env = {
      DATABASE: database,
      SYNCHRONOUS: "FULL",
      ACCESS_LOG: join(folder, "access.log"),
      PER_DAY: String(unboundedPerDay),
    };
    const stderrFile = join(folder, "stderr.txt");
    const port = await freePort();
    return await startServer({ command, port, env, cwd: peersFolder, stderrFile });
  };
  return { name, start };
}

/** The command that runs a peer, which is installed or compiled first. Throws DidNotRun. */
async function programOf({ runtime, file = "" }: Peer): Promise<string[]> {
  if (runtime === "go" || runtime === "rust") return [await compiled(runtime)];
  await installed();
  return [runtime === "bun" ? process.execPath : "node", file];
}

type NativeRuntime = "go" | "rust";

const builtFolder = join(root, "dist", "bench", "peers");

interface Recipe {
  readonly tool: string;
  /** What to install where it does not compile. */
  readonly packages: readonly string[];
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly program: string;
}

const recipes: Readonly<Record<NativeRuntime, Recipe>> = {
  go: {
    tool: "go",
    packages: ["golang-go", "golang-github-mattn-go-sqlite3-dev"],
    command: ["go", "build", "-tags", "libsqlite3", "-o", join(builtFolder, "go-peer"), "."],
    env: { GO111MODULE: "off", GOPATH: "/usr/share/gocode", GOFLAGS: "-buildvcs=false" },
    program: join(builtFolder, "go-peer"),
  },
  rust: {
    tool: "cargo",
    packages: [
      "cargo",
      "librust-hyper-dev",
      "librust-tokio-dev",
      "librust-rusqlite-dev",
      "librust-serde-derive-dev",
      "librust-serde-json-dev",
      "librust-sha2-dev",
    ],
    command: ["cargo", "build", "--release", "--offline"],
    env: { CARGO_TARGET_DIR: join(builtFolder, "rust") },
    program: join(builtFolder, "rust", "release", "rust-peer"),
  },
};

const programs = new Map<NativeRuntime, Promise<string>>();

/** The program of a peer, compiled once a run. Throws DidNotRun without its packages. */
function compiled(runtime: NativeRuntime): Promise<string> {
  const known = programs.get(runtime) ?? compile(runtime);
  programs.set(runtime, known);
  return known;
}

async function compile(runtime: NativeRuntime): Promise<string> {
  const { tool, packages, command, env, program } = recipes[runtime];
  const install = `apt install ${packages.join(" ")}`;
  if (Bun.which(tool) === null) throw new DidNotRun(`${tool} not found; on Debian: ${install}`);
  try {
    await run(
      ["env", ...Object.entries(env).map((each) => each.join("=")), ...command],
      join(import.meta.dir, "peers", runtime),
    );
  } catch (error) {
    throw new DidNotRun(`it did not compile; on Debian: ${install} (${(error as Error).message})`);
  }
  return program;
}

/** The versions of the packages that the compiled peers are made of, where they are installed. */
async function debianVersions(): Promise<Readonly<Record<string, string>>> {
  const names = Object.values(recipes).flatMap(({ packages }) => packages);
  const format = "${Package} ${source:Upstream-Version}\\n";
  const listed = await run(["dpkg-query", "-W", "-f", format, ...names]).catch(() => "");
  const versions = [...listed.matchAll(/^(\S+) (\S+)$/gm)].map(([, name, version]) => [
    name,
    version,
  ]);
  return Object.fromEntries(versions) as Record<string, string>;
}
