/**
 * The hottest statements, written by Drizzle at build time. A Bun macro inlines the texts, so a
 * start neither loads Drizzle nor makes its tables. SQLite runs them as they are: Drizzle's mapping
 * of a row would cost more than the row.
 */
import { and, asc, eq, gt, lt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { answerFields } from "../pet-row.ts";
import { pets, rateWindows, usageDays } from "./schema.ts";

const written = drizzle.mock();
const given = (name: string) => sql.placeholder(name);

/** By the names of the fields, so that a row is an animal except for nulls. */
const petColumns = Object.fromEntries(
  answerFields.map((name) => [name, sql`${pets[name]}`.as(name)]),
);

/** The statements of pets.ts. */
export function petTexts() {
  const rows = written
    .select(petColumns)
    .from(pets)
    .orderBy(asc(pets.id))
    .limit(given("limit"))
    .$dynamic();
  const isAfter = gt(pets.id, given("after"));
  const byId = written
    .select(petColumns)
    .from(pets)
    .where(eq(pets.id, given("id")));
  return {
    page: rows.where(isAfter).toSQL().sql,
    pageOfStatus: rows.where(and(eq(pets.status, given("status")), isAfter)).toSQL().sql,
    byId: byId.toSQL().sql,
  };
}

/** The statements of windows.ts on the windows. */
export function windowTexts() {
  const byKey = written
    .select()
    .from(rateWindows)
    .where(eq(rateWindows.keyId, given("keyId")));
  // Keeps a key's windows, and the address that came with them, in place of the earlier ones.
  const put = written
    .insert(rateWindows)
    .values({
      keyId: given("keyId"),
      minuteLabel: given("minuteLabel"),
      minuteUsed: given("minuteUsed"),
      dayLabel: given("dayLabel"),
      dayUsed: given("dayUsed"),
      lastAddress: given("lastAddress"),
    })
    .onConflictDoUpdate({
      target: rateWindows.keyId,
      set: {
        minuteLabel: sql`excluded.minute_label`,
        minuteUsed: sql`excluded.minute_used`,
        dayLabel: sql`excluded.day_label`,
        dayUsed: sql`excluded.day_used`,
        lastAddress: sql`coalesce(excluded.last_address, ${rateWindows.lastAddress})`,
      },
    });
  return { byKey: byKey.toSQL().sql, put: put.toSQL().sql };
}

/** The statements of windows.ts on the days of usage. */
export function usageTexts() {
  const addUsage = written
    .insert(usageDays)
    .values({
      keyId: given("keyId"),
      day: given("day"),
      requests: given("requests"),
      refusals: given("refusals"),
      bans: sql`0`,
    })
    .onConflictDoUpdate({
      target: [usageDays.keyId, usageDays.day],
      set: {
        requests: sql`${usageDays.requests} + excluded.requests`,
        refusals: sql`${usageDays.refusals} + excluded.refusals`,
      },
    });
  const forgetUsage = written
    .delete(usageDays)
    .where(and(eq(usageDays.keyId, given("keyId")), lt(usageDays.day, given("day"))));
  return { addUsage: addUsage.toSQL().sql, forgetUsage: forgetUsage.toSQL().sql };
}
