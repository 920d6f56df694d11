/**
 * The tables of counters. In SQLite they are in a separate file, `limits.db`. So they never wait
 * for the fsync of an animal, and a restored backup gives no used requests back.
 */
import { windowMs, type WindowCounts } from "../domain/windows.ts";
import type { UsageDay } from "./contract.ts";
import { count, defaulting, nullable, type Table, table, text } from "./declare.ts";
import { record, type RecordOf, records } from "./records.ts";
import { run, sql, type Steps } from "./statement.ts";

/** The fixed-window limiter: one row a key, both windows. */
export const rateWindows = table({
  name: "rate_windows",
  title: "counters",
  key: ["keyId"],
  clustered: true,
  columns: {
    keyId: text(),
    minuteLabel: count(),
    minuteUsed: count(),
    dayLabel: count(),
    dayUsed: count(),
    /** The client address of the last take. It is written with the counts. */
    lastAddress: nullable(text()),
  },
});

/** What a key did on each UTC day: finished days' requests, and every day's refusals and bans. */
export const usageDays = table({
  name: "usage_days",
  title: "days of usage",
  key: ["keyId", "day"],
  clustered: true,
  columns: {
    keyId: text(),
    day: count(),
    requests: defaulting(count(), 0),
    refusals: defaulting(count(), 0),
    bans: defaulting(count(), 0),
  },
});

export const limitsTables: readonly Table[] = [rateWindows, usageDays];

type WindowRecord = RecordOf<typeof rateWindows>;

function countsIn({ minuteLabel, minuteUsed, dayLabel, dayUsed }: WindowRecord): WindowCounts {
  return { minuteLabel, minuteUsed, dayLabel, dayUsed };
}

/** The windows of a key; undefined if it was never used. */
export function* countsOf(keyId: string): Steps<WindowCounts | undefined> {
  const found = yield* record(rateWindows, sql`WHERE key_id = ${keyId}`);
  return found && countsIn(found);
}

/** The windows of all keys that were ever used, by the ids of the keys. */
export function* countsOfAll(): Steps<ReadonlyMap<string, WindowCounts>> {
  const windows = yield* records(rateWindows, sql``);
  return new Map(windows.map((found) => [found.keyId, countsIn(found)]));
}

/** The client address of a key's last take, if it is known. */
export function* lastAddressOf(keyId: string): Steps<string | undefined> {
  return (yield* record(rateWindows, sql`WHERE key_id = ${keyId}`))?.lastAddress ?? undefined;
}

/** Days from `firstDay` on, of one key or of all, oldest first. Running days are in the windows. */
export function* usageSince(firstDay: number, keyId: string | undefined): Steps<UsageDay[]> {
  const ofKey = keyId === undefined ? sql`` : sql` AND key_id = ${keyId}`;
  const kept = yield* records(usageDays, sql`WHERE day >= ${firstDay}${ofKey}`);
  const running = yield* records(rateWindows, sql`WHERE day_label >= ${firstDay}${ofKey}`);
  const days = new Map(kept.map((row) => [`${row.keyId} ${row.day}`, row]));
  for (const { keyId: id, dayLabel: day, dayUsed } of running) {
    const sofar = days.get(`${id} ${day}`) ?? { keyId: id, day, requests: 0, refusals: 0, bans: 0 };
    days.set(`${id} ${day}`, { ...sofar, requests: sofar.requests + dayUsed });
  }
  return [...days.values()].toSorted((a, b) => a.day - b.day || (a.keyId < b.keyId ? -1 : 1));
}

/** Counts a ban at `nowMs` among the key's days. */
export function* countBan(keyId: string, nowMs: number): Steps<void> {
  const day = Math.floor(nowMs / windowMs.day);
  yield* run(
    sql`INSERT INTO ${usageDays} (key_id, day, bans) VALUES (${keyId}, ${day}, 1)
      ON CONFLICT (key_id, day) DO UPDATE SET bans = usage_days.bans + excluded.bans`,
  );
}
