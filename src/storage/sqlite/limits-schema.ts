/**
 * The tables of `limits.db`: counters. They have a file of their own so that they never wait for the fsync that an
 * animal is worth, and so that restoring a backup does not hand out spent quota again.
 */
import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { count } from "./columns.ts";

/** The fixed-window limiter: one row a key, both windows. */
export const rateWindows = sqliteTable("rate_windows", {
  keyId: text("key_id").primaryKey(),
  minuteLabel: count("minute_label").notNull(),
  minuteUsed: count("minute_used").notNull(),
  dayLabel: count("day_label").notNull(),
  dayUsed: count("day_used").notNull(),
});

/** What a key did on each UTC day: finished days' requests, and every day's refusals and bans. */
export const usageDays = sqliteTable(
  "usage_days",
  {
    keyId: text("key_id").notNull(),
    day: count("day").notNull(),
    requests: count("requests").notNull().default(0),
    refusals: count("refusals").notNull().default(0),
    bans: count("bans").notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.day] })],
);
