/** What others do to the files that this process has open: commit to them, or take them away. */
import type { Database as Connection, Statement } from "bun:sqlite";
import { sql } from "drizzle-orm";
import { statSync } from "node:fs";
import { AppError } from "../../domain/errors.ts";
import type { StoreVersions } from "../contract.ts";
import { buildersOn, sqliteTables } from "../schema.sqlite.ts";
import { editsMeta } from "../database.ts";

interface Numbers {
  readonly epoch: bigint;
  readonly lastId: bigint;
  readonly edits: bigint;
}

const noNumbers: Numbers = { epoch: 0n, lastId: 0n, edits: 0n };

const { keyEpoch } = sqliteTables;
const selectNumbers = buildersOn
  .mock()
  .select({
    epoch: keyEpoch.epoch,
    edits: sql`coalesce((SELECT CAST(value AS bigint) FROM store_state
      WHERE name = ${sql.raw(`'${editsMeta}'`)}), 0)`.as("edits"),
    lastId: sql`coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'pets'), 0)`.as("lastId"),
  })
  .from(keyEpoch)
  .toSQL().sql;

/** How old the versions may be that a request goes by. */
const ageMaxMs = 0.1;

/** The versions, for one pragma each 0.1 ms: a commit of another connection changes its number. */
export class VersionReader {
  readonly #dataVersion: Statement<{ data_version: bigint }, []>;
  readonly #readNumbers: () => void;
  #seen: bigint | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #numbers: Numbers | undefined;
  #versions: StoreVersions = { keys: 0, pets: 0, edits: 0 };

  constructor(
    db: Connection,
    private readonly elapsedMs = () => performance.now(),
  ) {
    this.#dataVersion = db.query("PRAGMA data_version");
    const numbers = db.query<Numbers, []>(selectNumbers);
    // In one snapshot: an addition in between would be taken for an edit at the next read.
    this.#readNumbers = db.transaction(() => {
      const now = this.#dataVersion.get()?.data_version;
      const found = numbers.get() ?? noNumbers;
      this.#versions = versionsAfter(this.#versions, this.#numbers, found);
      this.#numbers = found;
      this.#seen = now;
    });
  }

  read(): StoreVersions {
    const nowMs = this.elapsedMs();
    if (nowMs - this.#readAtMs <= ageMaxMs) return this.#versions;
    if (this.#dataVersion.get()?.data_version !== this.#seen) this.#readNumbers();
    // Only now: what failed is read again.
    this.#readAtMs = nowMs;
    return this.#versions;
  }

  /** After a change of this process: the next read sees it. */
  expire(): void {
    this.#readAtMs = Number.NEGATIVE_INFINITY;
  }
}

/** A change that neither counted nor added anything is taken for an edit, such as one by hand. */
function versionsAfter(
  { pets, edits }: StoreVersions,
  before: Numbers | undefined,
  now: Numbers,
): StoreVersions {
  const hasOnlyAdded = now.edits === before?.edits && now.lastId > before.lastId;
  return { keys: Number(now.epoch), pets: pets + 1, edits: hasOnlyAdded ? edits : edits + 1 };
}

const watchIntervalMs = 1_000;

/** A database, its log and the shared memory: without one of them the others keep nothing. */
const endings = ["", "-wal", "-shm"];

/**
 * Checks that the open files of a server are still the ones in its data folder. SQLite keeps
 * writing to a file that was moved, removed or replaced. Files are compared by device and inode.
 */
export class FileWatch {
  readonly #identities = new Map<string, string>();
  readonly #timer: ReturnType<typeof setInterval>;
  /** What the last look at the files found: undefined while all are in their places. */
  lost: AppError | undefined;

  /** `onLost` is called once each time that a file is found missing. */
  constructor(
    databases: readonly string[],
    private readonly onLost: (error: AppError) => void,
  ) {
    for (const path of databases.flatMap((each) => endings.map((ending) => each + ending))) {
      const identity = identityOf(path);
      if (identity !== undefined) this.#identities.set(path, identity);
    }
    this.#timer = setInterval(() => this.look(), watchIntervalMs);
  }

  look(): AppError | undefined {
    const before = this.lost;
    this.lost = this.#find();
    if (this.lost !== undefined && before === undefined) this.onLost(this.lost);
    return this.lost;
  }

  #find(): AppError | undefined {
    for (const [path, identity] of this.#identities) {
      const now = identityOf(path);
      if (now === identity) continue;
      const what = now === undefined ? "was moved or removed" : "was replaced by another file";
      const why = `${path} ${what} while the service has it open`;
      return new AppError("unavailable", "The store's files are not in their place.", {
        cause: new Error(why),
        why,
        hint: "Put it back, or stop the service, restore the file and start again.",
      });
    }
    return undefined;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}
