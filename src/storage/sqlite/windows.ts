import type { Database as Connection } from "bun:sqlite";
import type { Clock } from "../../domain/clock.ts";
import { AppError } from "../../domain/errors.ts";
import {
  settleReservation,
  unusedCounts,
  usageStoredDays,
  type WindowCounts,
} from "../../domain/windows.ts";
import type { Reserved, ReserveRequest, UsageDelta, WindowStore } from "../contract.ts";
import { asAppError, isBusy, isFull, translating } from "./connection.ts";
import { whenFree } from "./lanes.ts";

export interface WindowStoreOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly onBusy?: () => void;
}

const checkpointAfter = 4_096;

/** Reservations in `limits.db`. With a busy_timeout of 0 they never block the serving thread. */
export function windowStore(
  connection: Connection,
  options: WindowStoreOptions,
  checkpoint: () => void,
) {
  const statements = windowStatements(connection);
  const reserve = reservingOn(connection, statements, options);
  let sinceCheckpoint = 0;
  const store = {
    /** True while the last reservation failed: only then is a probe worth a write. */
    hasFailed: false,
    async reserve(...[requests, usage]: Parameters<typeof reserve>) {
      sinceCheckpoint += requests.length;
      if (sinceCheckpoint >= checkpointAfter) {
        sinceCheckpoint = 0;
        checkpoint();
      }
      store.hasFailed = true;
      const results = await reserve(requests, usage);
      store.hasFailed = false;
      return results;
    },
    version: statements.version,
    skewMs: () => 0,
  };
  return store;
}

function reservingOn(
  connection: Connection,
  statements: ReturnType<typeof windowStatements>,
  { clock, timeoutMs, onBusy }: WindowStoreOptions,
): WindowStore["reserve"] {
  const reserveNow = connection.transaction(
    (requests: readonly ReserveRequest[], usage: readonly UsageDelta[]): Reserved[] => {
      // Read with the lock held: after a wait past the window's end, the old one is not charged.
      const nowMs = clock();
      for (const { keyId, day, refusals } of usage) {
        statements.addUsage.run(keyId, day, 0, refusals);
      }
      return requests.map((request) => reserveOne(statements, request, nowMs));
    },
  ).immediate;
  return async (requests, usage) => {
    try {
      return await whenFree(() => reserveNow(requests, usage), timeoutMs, onBusy);
    } catch (cause) {
      if (isBusy(cause)) {
        const message = "The request could not be counted in time.";
        throw new AppError("unavailable", message, { cause });
      }
      if (!isFull(cause)) throw asAppError(cause);
      return translating(() => {
        // A checkpoint lets the log reuse its space, so that no file has to grow.
        connection.run("PRAGMA wal_checkpoint(PASSIVE)");
        return reserveNow(requests, usage);
      });
    }
  };
}

type WindowRow = Record<keyof WindowCounts, bigint>;

const countsIn = (row: WindowRow): WindowCounts => ({
  minuteLabel: Number(row.minuteLabel),
  minuteUsed: Number(row.minuteUsed),
  dayLabel: Number(row.dayLabel),
  dayUsed: Number(row.dayUsed),
});

function windowStatements(db: Connection) {
  const dataVersion = db.query<{ data_version: bigint }, []>("PRAGMA data_version");
  type Counts = [minuteLabel: number, minuteUsed: number, dayLabel: number, dayUsed: number];
  type Usage = [day: number, requests: number, refusals: number];
  return {
    /** SQLite changes it with every commit of another connection, and with none of this one. */
    version: () => Number(dataVersion.get()?.data_version),
    byKey: db.prepare<WindowRow, [keyId: string]>(`
      SELECT minute_label AS minuteLabel, minute_used AS minuteUsed, day_label AS dayLabel,
        day_used AS dayUsed FROM rate_windows WHERE key_id = ?`),
    put: db.prepare<never, [keyId: string, ...Counts]>(`
      INSERT INTO rate_windows (key_id, minute_label, minute_used, day_label, day_used)
      VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (key_id) DO UPDATE SET minute_label = excluded.minute_label,
        minute_used = excluded.minute_used, day_label = excluded.day_label,
        day_used = excluded.day_used`),
    addUsage: db.prepare<never, [keyId: string, ...Usage]>(`
      INSERT INTO usage_days AS stored (key_id, day, requests, refusals) VALUES (?, ?, ?, ?)
      ON CONFLICT (key_id, day) DO UPDATE SET requests = stored.requests + excluded.requests,
        refusals = stored.refusals + excluded.refusals`),
    forgetUsage: db.prepare<never, [keyId: string]>(`
      DELETE FROM usage_days AS stored WHERE key_id = ? AND day < (
        SELECT min(day) FROM (SELECT newest.day FROM usage_days AS newest
          WHERE newest.key_id = stored.key_id ORDER BY newest.day DESC LIMIT ${usageStoredDays}))`),
  };
}

/** One key's reservation. When a day begins, the last one's count becomes usage. */
function reserveOne(
  statements: ReturnType<typeof windowStatements>,
  request: ReserveRequest,
  nowMs: number,
): Reserved {
  const { keyId } = request;
  const row = statements.byKey.get(keyId);
  const stored = row === null ? unusedCounts : countsIn(row);
  const { result, mustPut, finished } = settleReservation(stored, request, nowMs);
  if (mustPut) {
    const { minuteLabel, minuteUsed, dayLabel, dayUsed } = result.counts;
    statements.put.run(keyId, minuteLabel, minuteUsed, dayLabel, dayUsed);
  }
  if (finished !== undefined) {
    statements.addUsage.run(keyId, finished.day, finished.requests, 0);
    statements.forgetUsage.run(keyId);
  }
  return result;
}
