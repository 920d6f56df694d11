/**
 * The tables of counters. In SQLite they have a file of their own, `limits.db`, so that they never
 * wait for the fsync that an animal is worth, and so that restoring a backup does not hand out
 * spent quota again.
 */
import { count, defaulting, type Table, table, text } from "./declare.ts";

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
