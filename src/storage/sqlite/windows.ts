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

/** Reservations in `limits.db`. With a busy_timeout of 0 they never block the serving thread. */
export function windowStore(
  connection: Connection,
  { clock, timeoutMs, onBusy }: WindowStoreOptions,
): WindowStore {
  const statements = windowStatements(connection);
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
  return {
    async reserve(requests, usage) {
      try {
        return await whenFree(() => reserveNow(requests, usage), timeoutMs, onBusy);
      } catch (error) {
        if (isBusy(error)) throw notInTime(error);
        if (!isFull(error)) throw asAppError(error);
        return translating(() => {
          // A checkpoint lets the log reuse its space, so that no file has to grow.
          connection.run("PRAGMA wal_checkpoint(PASSIVE)");
          return reserveNow(requests, usage);
        });
      }
    },
    version: statements.version,
    skewMs: () => 0,
  };
}

function notInTime(cause: unknown): AppError {
  return new AppError("unavailable", "The request could not be counted in time.", { cause });
}

interface WindowRow {
  readonly minute_label: bigint;
  readonly minute_used: bigint;
  readonly day_label: bigint;
  readonly day_used: bigint;
}

function countsIn(row: WindowRow): WindowCounts {
  return {
    minuteLabel: Number(row.minute_label),
    minuteUsed: Number(row.minute_used),
    dayLabel: Number(row.day_label),
    dayUsed: Number(row.day_used),
  };
}

function windowStatements(db: Connection) {
  const dataVersion = db.query<{ data_version: bigint }, []>("PRAGMA data_version");
  type Counts = [minuteLabel: number, minuteUsed: number, dayLabel: number, dayUsed: number];
  type Usage = [day: number, requests: number, refusals: number];
  return {
    /** SQLite changes it with every commit of another connection, and with none of this one. */
    version: () => Number(dataVersion.get()?.data_version),
    byKey: db.prepare<WindowRow, [keyId: string]>(`
      SELECT minute_label, minute_used, day_label, day_used FROM rate_windows WHERE key_id = ?`),
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
