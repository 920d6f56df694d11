import type { Database } from "bun:sqlite";
import type { StoreVersions } from "../contract.ts";

/**
 * Both versions for the price of one pragma an event-loop turn: SQLite's data_version changes with
 * every commit of another connection, and only then is the epoch row read.
 *
 * With `snapshot`, all reads of the turn that follow are one read transaction. They agree with each
 * other, and a statement within one costs a third of one that takes and drops SQLite's lock by
 * itself.
 */
export function versionReader(db: Database, snapshot: boolean) {
  const dataVersion = db.query<{ data_version: bigint }, []>("PRAGMA data_version");
  const epoch = db.query<{ epoch: bigint }, []>("SELECT epoch FROM key_epoch");
  const begin = db.query("BEGIN");
  const commit = db.query("COMMIT");
  let seen: bigint | undefined;
  let isFresh = false;
  let isInSnapshot = false;
  let versions: StoreVersions = { keys: 0, pets: 0 };
  const endTurn = () => {
    isFresh = false;
    // It may have ended before the turn did, by a change or a close.
    if (!isInSnapshot) return;
    isInSnapshot = false;
    // SQLite gives a transaction up by itself when the disk fails in it.
    if (db.inTransaction) commit.run();
  };
  return {
    read(): StoreVersions {
      if (isFresh) return versions;
      if (snapshot && !isInSnapshot) {
        begin.run();
        isInSnapshot = true;
      }
      setImmediate(endTurn);
      const now = dataVersion.get()?.data_version;
      if (now !== seen) {
        versions = { keys: Number(epoch.get()?.epoch ?? 0), pets: versions.pets + 1 };
        seen = now;
      }
      // Only now: a read that failed must not make the rest of the turn believe the old numbers.
      isFresh = true;
      return versions;
    },
    /** Makes the next read look again: something changed in this turn. */
    invalidate(): void {
      seen = undefined;
      endTurn();
    },
    /** Ends the snapshot, so that the connection can be closed. */
    close: endTurn,
  };
}
