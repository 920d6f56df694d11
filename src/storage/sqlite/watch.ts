/** What others do to the files that this process has open: commit to them, or take them away. */
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { AppError } from "../../domain/errors.ts";
import type { StoreVersions } from "../contract.ts";
import { editCount } from "../edits.ts";
import { sql, type Statement } from "../statement.ts";
import { prepared } from "./engine.ts";

/** What the catalogue says of its changes. */
interface Numbers {
  readonly epoch: bigint;
  /** The last id that an animal was given. */
  readonly lastId: bigint;
  readonly edits: bigint;
}

const numbers: Statement<Numbers> = sql`
  SELECT epoch, coalesce(${editCount}, 0) AS edits,
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'pets'), 0) AS lastId
  FROM key_epoch`;

export interface SharingOptions {
  /** True for a server: all reads of a moment share one read transaction. */
  readonly snapshot: boolean;
  /** True when other processes answer at the same address. */
  readonly hasPeers?: boolean | undefined;
  /** The time in milliseconds since any moment. */
  readonly elapsedMs?: () => number;
}

/**
 * How old the numbers and the snapshot may be when a request uses those of another one. A turn of
 * the event loop may last longer: it accepts new connections, and the system may interrupt it. In
 * this time no caller gets an answer of another process, or ends a command, and sends a request.
 */
const sharedForMs = { withPeers: 0.1, alone: 1 };

/**
 * The versions for one pragma per event-loop turn or `sharedForMs`: they are read when data_version
 * changed, as by every commit of another connection. With `snapshot`, further reads share one read
 * transaction, in which a statement costs a third, because it takes no lock.
 */
export function versionReader(db: Database, options: SharingOptions) {
  const { snapshot, hasPeers = false, elapsedMs = () => performance.now() } = options;
  const ageMaxMs = hasPeers ? sharedForMs.withPeers : sharedForMs.alone;
  const dataVersion = db.query<{ data_version: bigint }, []>("PRAGMA data_version");
  const readNumbers = prepared(db, numbers);
  const begin = db.query("BEGIN");
  const commit = db.query("COMMIT");
  let seen: bigint | undefined;
  let isFresh = false;
  let isInSnapshot = false;
  let isEndPlanned = false;
  let sinceMs = 0;
  let known: Numbers | undefined;
  let versions: StoreVersions = { keys: 0, pets: 0, edits: 0 };
  const endTurn = () => {
    isFresh = false;
    // It may have ended before the turn did, by a change or a close.
    if (!isInSnapshot) return;
    isInSnapshot = false;
    // SQLite ends a transaction by itself when the disk fails in it.
    if (db.inTransaction) commit.run();
  };
  const planEnd = () => {
    if (isEndPlanned) return;
    isEndPlanned = true;
    setImmediate(() => {
      isEndPlanned = false;
      endTurn();
    });
  };
  return {
    read(): StoreVersions {
      if (isFresh) return versions;
      if (snapshot && !isInSnapshot) {
        begin.run();
        isInSnapshot = true;
      }
      planEnd();
      sinceMs = elapsedMs();
      const now = dataVersion.get()?.data_version;
      if (now !== seen) {
        const found = readNumbers() ?? { epoch: 0n, lastId: 0n, edits: 0n };
        versions = versionsAfter(versions, known, found);
        known = found;
        seen = now;
      }
      // Only now: a read that failed must not make the rest of the turn believe the old numbers.
      isFresh = true;
      return versions;
    },
    /** Begins a request: it sees every change that was answered before it was sent. */
    beginRequest(): void {
      if (isFresh && elapsedMs() - sinceMs > ageMaxMs) endTurn();
    },
    /** Makes the next read check again: SQLite does not report this connection's own changes. */
    invalidate(): void {
      seen = undefined;
      endTurn();
    },
    /** Ends the snapshot, so that the next read sees what others changed in this turn. */
    endTurn,
  };
}

/** A change that neither counted nor added anything is taken for an edit, such as one by hand. */
function versionsAfter(
  { pets, edits }: StoreVersions,
  before: Numbers | undefined,
  now: Numbers,
): StoreVersions {
  const hasOnlyAdded = now.edits === before?.edits && now.lastId > before.lastId;
  return {
    keys: Number(now.epoch),
    pets: pets + 1,
    edits: hasOnlyAdded ? edits : edits + 1,
  };
}

/** How often a server looks whether its files are still there. */
const watchIntervalMs = 250;

/**
 * A database, its log and the memory that its connections share: without one of them the others
 * keep nothing.
 */
const endings = ["", "-wal", "-shm"];

/**
 * Checks that the open files of a server are still the ones in its data folder. SQLite keeps
 * writing to a file that was moved, removed or replaced. Files are compared by device and inode.
 */
export class FileWatch {
  readonly #identities: ReadonlyMap<string, string>;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #onLost: (error: AppError) => void;
  #lost: AppError | undefined;

  /** `onLost` is told once each time that a file is found missing. */
  constructor(databases: readonly string[], onLost: (error: AppError) => void) {
    const paths = databases.flatMap((path) => endings.map((ending) => path + ending));
    const found = paths.map((path) => [path, identityOf(path)] as const);
    this.#identities = new Map(
      found.filter((each): each is [string, string] => each[1] !== undefined),
    );
    this.#onLost = onLost;
    this.#timer = setInterval(() => this.look(), watchIntervalMs);
    this.#timer.unref();
  }

  /**
   * What was found when the files were last looked at: undefined while all of them are in their
   * places.
   */
  get lost(): AppError | undefined {
    return this.#lost;
  }

  /** Looks at the files now. */
  look(): AppError | undefined {
    const before = this.#lost;
    this.#lost = this.#find();
    if (this.#lost !== undefined && before === undefined) this.#onLost(this.#lost);
    return this.#lost;
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
        retryAfterSeconds: 1,
      });
    }
    return undefined;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** Device and inode (stat(2)), or undefined if the file cannot be found. */
function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}
