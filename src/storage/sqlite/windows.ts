import type { Database } from "bun:sqlite";
import type { Clock } from "../../domain/clock.ts";
import { unusedCounts, settleReservation, type WindowCounts } from "../../domain/windows.ts";
import type { ReserveRequest, Reserved, UsageDelta, WindowStore } from "../contract.ts";
import { AppError } from "../../domain/errors.ts";
import { asAppError, isBusy, isFull, translating } from "./database.ts";
import { countsOf, countsOfAll, lastAddressOf, usageSince } from "../counters.ts";
import { perform } from "./engine.ts";
import { usageTexts, windowTexts } from "./statements.macro.ts" with { type: "macro" };

/** Pause before the lock is asked for again: short, and out of step with other processes. */
const retryPauseMs = { min: 0.2, max: 3 } as const;

export interface WindowStoreOptions {
  readonly clock: Clock;
  /** From 0 up to 1; spreads the retries. */
  readonly random: () => number;
  /** How long to wait for another process's lock. The event loop goes on meanwhile. */
  readonly timeoutMs: number;
  /** Called for each time that the lock was not free. */
  readonly onBusy?: () => void;
}

/** The counters in `limits.db`. With a busy_timeout of 0 they never block the serving thread. */
export function windowStore(db: Database, options: WindowStoreOptions): WindowStore {
  const { clock, random, timeoutMs } = options;
  const statements = windowStatements(db);
  const reserveNow = db.transaction(
    (requests: readonly ReserveRequest[], usage: readonly UsageDelta[]): Reserved[] => {
      // Read with the lock held: after a wait past the window's end, the old one is not charged.
      const nowMs = clock();
      for (const { keyId, day, refusals } of usage) {
        statements.addUsage.run(keyId, day, 0, refusals);
      }
      return requests.map((request) => reserveOne(statements, request, nowMs));
    },
  ).immediate;

  async function later(reserve: () => Reserved[]): Promise<Reserved[]> {
    const deadlineMs = performance.now() + timeoutMs;
    for (;;) {
      options.onBusy?.();
      await Bun.sleep(retryPauseMs.min + random() * (retryPauseMs.max - retryPauseMs.min));
      try {
        return reserve();
      } catch (error) {
        if (!isBusy(error)) throw asAppError(error);
        if (performance.now() > deadlineMs) throw notInTime(error);
      }
    }
  }

  return {
    reserve(requests, usage) {
      try {
        return reserveNow(requests, usage);
      } catch (error) {
        if (isBusy(error)) return later(() => reserveNow(requests, usage));
        if (isFull(error)) return inPlace(db, () => reserveNow(requests, usage));
        throw asAppError(error);
      }
    },
    counts: (keyId) => translating(() => perform(db, countsOf(keyId))),
    countsOfAll: () => translating(() => perform(db, countsOfAll())),
    lastAddress: (keyId) => translating(() => perform(db, lastAddressOf(keyId))),
    version: statements.version,
    skewMs: () => 0,
    usage: (firstDay, keyId) => translating(() => perform(db, usageSince(firstDay, keyId))),
  };
}

function notInTime(cause: unknown): AppError {
  return new AppError("unavailable", "The request could not be counted in time.", { cause });
}

/** On a full disk, a checkpoint lets the log reuse its space, so no file has to grow. */
function inPlace<T>(db: Database, work: () => T): T {
  return translating(() => {
    db.run("PRAGMA wal_checkpoint(PASSIVE)");
    return work();
  });
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

const texts = { ...windowTexts(), ...usageTexts() };

type PutBindings = [
  keyId: string,
  minuteLabel: number,
  minuteUsed: number,
  dayLabel: number,
  dayUsed: number,
  lastAddress: string | null,
];
type UsageBindings = [keyId: string, day: number, requests: number, refusals: number];

function windowStatements(db: Database) {
  const dataVersion = db.query<{ data_version: bigint }, []>("PRAGMA data_version");
  return {
    /** SQLite changes it with every commit of another connection, and with none of this one. */
    version: () => Number(dataVersion.get()?.data_version),
    byKey: db.prepare<WindowRow, [keyId: string]>(texts.byKey),
    put: db.prepare<never, PutBindings>(texts.put),
    addUsage: db.prepare<never, UsageBindings>(texts.addUsage),
    forgetUsage: db.prepare<never, [keyId: string, day: number]>(texts.forgetUsage),
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
  const kept = row === null ? unusedCounts : countsIn(row);
  const { result, mustPut, finished } = settleReservation(kept, request, nowMs);
  if (mustPut) {
    const { minuteLabel, minuteUsed, dayLabel, dayUsed } = result.counts;
    const { address = null } = request;
    statements.put.run(keyId, minuteLabel, minuteUsed, dayLabel, dayUsed, address);
  }
  if (finished !== undefined) {
    const { day, requests, forgetBefore } = finished;
    statements.addUsage.run(keyId, day, requests, 0);
    statements.forgetUsage.run(keyId, forgetBefore);
  }
  return result;
}
