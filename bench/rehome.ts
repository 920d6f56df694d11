// The service itself: built, given a data folder with animals and keys through its own command
// line, and served with everything on (both windows, headers, bans, its log to a file).
import { Database } from "bun:sqlite";
import { randomBytes, randomUUID } from "node:crypto";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { generateKey } from "../src/domain/api-key.ts";
import { writeAnimals } from "./animals.ts";
import type { Context, Target } from "./measure.ts";
import { DidNotRun, freePort, run, startServer } from "./process.ts";

export const root = join(import.meta.dir, "..");
export const executable = join(root, "dist", "rehome");

/** What one key may make here: the limiter works for every request and refuses none. */
export const unboundedPerMinute = 100_000_000;
export const unboundedPerDay = 1_000_000_000;

export interface IssuedKey {
  readonly id: string;
  readonly key: string;
}

/** Builds dist/rehome. Throws DidNotRun when that fails. */
export async function buildService(): Promise<void> {
  await run([process.execPath, "run", "build"], root);
  if (!existsSync(executable)) throw new DidNotRun("the build left no dist/rehome");
}

/** Makes one key through the command line. */
export async function createKey(
  data: string,
  plan: "free" | "business" | "enterprise",
): Promise<IssuedKey> {
  const limits =
    plan === "enterprise"
      ? ["--per-minute", String(unboundedPerMinute), "--per-day", String(unboundedPerDay)]
      : [];
  const command = ["keys", "create", "--plan", plan, ...limits, "--name", randomUUID()];
  const out = await run([executable, ...command, "--data", data, "--json"]);
  const { id, key } = JSON.parse(out) as Partial<IssuedKey>;
  if (typeof key !== "string" || typeof id !== "string") {
    throw new DidNotRun("keys create --json printed no id and key");
  }
  return { id, key };
}

/** A key that is well formed and that no store knows. */
export const unknownKey = (): string => generateKey("production", randomBytes);

/**
 * Makes `count` more keys that are as the given one but for secret and id (numbered from `from`).
 * They are written to the stopped store at once, because a process for each of 100,000 keys would
 * take hours.
 */
export function cloneKey(data: string, like: IssuedKey, count: number, from = 0): string[] {
  const db = new Database(join(data, "rehome.db"), { readwrite: true, create: false });
  const rowOf = (sql: string): Row => {
    const row = db.query<Row, [string]>(sql).get(like.id);
    if (row === null) throw new DidNotRun(`the store has no key ${like.id}`);
    return row;
  };
  const keyRow = rowOf("SELECT * FROM api_keys WHERE id = ?");
  const secretRow = rowOf("SELECT * FROM key_secrets WHERE key_id = ?");
  const insertKey = inserting(db, "api_keys", keyRow);
  const insertSecret = inserting(db, "key_secrets", secretRow);
  const keys = Array.from({ length: count }, unknownKey);
  db.transaction(() => {
    for (const [i, key] of keys.entries()) {
      const id = `${like.id}x${from + i}`;
      const hash = new Bun.CryptoHasher("sha256").update(key).digest();
      insertKey({ ...keyRow, id });
      insertSecret({ ...secretRow, key_id: id, hash });
    }
  }).immediate();
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  return keys;
}

type Row = Record<string, string | number | bigint | Uint8Array | null>;

function inserting(db: Database, table: string, like: Row): (row: Row) => void {
  const columns = Object.keys(like);
  const marks = columns.map(() => "?").join(", ");
  const insert = db.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`);
  return (row) => {
    insert.run(...columns.map((column) => row[column] ?? null));
  };
}

/** The animals that one import takes at most. */
const importMax = 100_000;

/** Fills a data folder with the first `count` animals, by way of files in `folder`. */
export async function fill(data: string, count: number, folder: string): Promise<void> {
  const file = join(folder, `animals-${count}.ndjson`);
  for (let first = 1; first <= count; first += importMax) {
    await writeAnimals(file, Math.min(importMax, count - first + 1), first);
    await run([executable, "pets", "import", file, "--data", data]);
  }
}

interface Serve {
  readonly name: string;
  /** The filled data folder. */
  readonly data: () => Promise<string>;
  /** Whether the target gets a copy of its own, because it writes animals. */
  readonly copy?: boolean;
}

/** The compiled service as a target. */
export function rehomeTarget({ name, data, copy }: Serve): Target {
  const start = async ({ folder }: Context) => {
    const filled = await data();
    const own = join(folder, "data");
    if (copy) cpSync(filled, own, { recursive: true });
    const port = await freePort();
    return await startServer({
      command: serveCommand(port, copy ? own : filled),
      port,
      stderrFile: join(folder, "stderr.txt"),
    });
  };
  return { name, start };
}

/** The command line the service is measured with. */
export function serveCommand(port: number, data: string): string[] {
  const options = ["--port", String(port), "--data", data];
  return [executable, "serve", ...options, "--anonymous-per-minute", "1000000000"];
}
