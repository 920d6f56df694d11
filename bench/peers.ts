// The peer: Hono, installed from its own lock file, on a database of the same animals and keys.
import { Database } from "bun:sqlite";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { animal } from "./animals.ts";
import type { Context, Target } from "./measure.ts";
import { freePort, run, startServer } from "./process.ts";
import { unboundedPerDay } from "./rehome.ts";
import { lazy } from "./stores.ts";

const peersFolder = join(import.meta.dir, "peers");
const lockFile = join(peersFolder, "package-lock.json");
const installedFile = join(peersFolder, "node_modules", ".bench-lock-hash");

export const peerName = "Hono";
/** What rehome does for the same request and the peer does not. */
export const omitted =
  "Counters are in memory only: a restart loses them, and processes do not share them. No bans, metrics, `Deprecation` or `Sunset`. A 401 has no limit headers. Integers are exact up to 2^53 only. The headers begin with `RateLimit`, and `Reset` is seconds left.";

export interface PeerKey {
  readonly key: string;
  readonly perMinute: number;
}

const hash = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");

/** The exact versions in bench/peers/package.json. */
export async function peerVersions(): Promise<Readonly<Record<string, string>>> {
  const file: { dependencies: Record<string, string> } = await Bun.file(
    join(peersFolder, "package.json"),
  ).json();
  return file.dependencies;
}

/** Installs what the peer's lock file names, unless that is what is installed. Throws DidNotRun. */
const installed = lazy(async (): Promise<void> => {
  const wanted = hash(await Bun.file(lockFile).text());
  if (existsSync(installedFile) && (await Bun.file(installedFile).text()) === wanted) return;
  await run(["npm", "ci", "--no-audit", "--no-fund"], peersFolder);
  await Bun.write(installedFile, wanted);
});

/** Fills a database for the peer: `animals` animals and the keys. */
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

/** The peer as a target, on a copy of the database. Its creates are as durable as the service's. */
export function peerTarget(store: () => Promise<string>): Target {
  const start = async ({ folder }: Context) => {
    await installed();
    const database = join(folder, "peer.db");
    copyFileSync(await store(), database);
    const env = {
      DATABASE: database,
      SYNCHRONOUS: "FULL",
      ACCESS_LOG: join(folder, "access.log"),
      PER_DAY: String(unboundedPerDay),
    };
    const command = [process.execPath, "hono.js"];
    const stderrFile = join(folder, "stderr.txt");
    const port = await freePort();
    return await startServer({ command, port, env, cwd: peersFolder, stderrFile });
  };
  return { name: peerName, start };
}
