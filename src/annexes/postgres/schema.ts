/**
 * The tables, in a schema `rehome` of their own, so that they neither meet another program's tables nor depend on a
 * search path. The schema itself is made by migrate.ts, because the list of applied migrations is in it too.
 */
import { isNotNull, sql } from "drizzle-orm";
import {
  bigint,
  check,
  customType,
  index,
  pgSchema,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { petStatuses } from "../../domain/pet.ts";
import { planNames } from "../../domain/plan.ts";

/** An integer over the full int64 range. */
const int64 = (name: string) => bigint(name, { mode: "bigint" });
/** An integer that stays within the exact range of a number: counters, labels, times in milliseconds. */
const count = (name: string) => bigint(name, { mode: "number" });

/** SHA-256 digests. */
const digest = customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => "bytea",
});

/**
 * A value kept as JSON, its members in their order. Bun's client turns the value into JSON by itself; Drizzle's own
 * `json()` would do it first, and a string with JSON in it would be stored.
 */
const json = <T>() => customType<{ data: T; driverData: T }>({ dataType: () => "json" });

const oneOf = (values: readonly string[]) =>
  sql.raw(values.map((value) => `'${value}'`).join(", "));

export const schemaName = "rehome";
export const rehome = pgSchema(schemaName);

export const categories = rehome.table("categories", {
  id: int64("id").primaryKey(),
  name: text("name").notNull(),
  /** What names are compared by, see `categoryKey`. */
  nameKey: text("name_key").notNull().unique(),
});

export const pets = rehome.table(
  "pets",
  {
    /** From a sequence, which never gives a number twice. A failed insert leaves a gap. */
    id: int64("id").primaryKey().generatedAlwaysAsIdentity({ name: "pets_id_seq", cache: 1 }),
    name: text("name").notNull(),
    categoryId: int64("category_id").notNull(),
    status: text("status", { enum: petStatuses }),
    /** The id that the animal has where it was imported from. */
    externalId: text("external_id"),
  },
  (table) => [
    check("pets_status", sql`${table.status} in (${oneOf(petStatuses)})`),
    // Without the name, which may be longer than an index entry can be.
    index("pets_by_status").on(table.status, table.id).where(isNotNull(table.status)),
    uniqueIndex("pets_by_external_id").on(table.externalId).where(isNotNull(table.externalId)),
  ],
);

/**
 * One row, changed together with every animal: how often that happened, and how many animals there are. Its lock puts
 * the changes of all processes in one order, so that ids become visible in ascending order and a walk along the pages
 * skips none. The count costs nothing here, and minutes where the table has to be read for it.
 */
export const catalogue = rehome.table(
  "catalogue",
  {
    id: count("id").primaryKey(),
    version: count("version").notNull(),
    animals: count("animals").notNull(),
  },
  (table) => [check("catalogue_one_row", sql`${table.id} = 1`)],
);

/** One row a key, whatever its secrets: its id is the lineage that counters, bans and plan belong to. */
export const apiKeys = rehome.table(
  "api_keys",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    plan: text("plan", { enum: planNames }).notNull(),
    /** Enterprise's own numbers; null on every other plan. */
    perMinute: count("per_minute"),
    perDay: count("per_day"),
    createdAtMs: count("created_at_ms").notNull(),
    expiresAtMs: count("expires_at_ms"),
    revokedAtMs: count("revoked_at_ms"),
    bannedUntilMs: count("banned_until_ms").notNull().default(0),
    banStep: count("ban_step").notNull().default(0),
    banReason: text("ban_reason").notNull().default(""),
    noisyMinutes: json<number[]>()("noisy_minutes").notNull().default([]),
    /** The epoch that this row's last change began. */
    changedIn: count("changed_in").notNull(),
  },
  (table) => [
    check("api_keys_plan", sql`${table.plan} in (${oneOf(planNames)})`),
    check(
      "api_keys_limits",
      sql`(${table.plan} = 'enterprise') = (${table.perMinute} is not null) and (${table.perMinute} is null) = (${table.perDay} is null)`,
    ),
    index("api_keys_by_change").on(table.changedIn),
  ],
);

export const keySecrets = rehome.table(
  "key_secrets",
  {
    hash: digest("hash").primaryKey(),
    keyId: text("key_id")
      .notNull()
      .references(() => apiKeys.id),
    mask: text("mask").notNull(),
    createdAtMs: count("created_at_ms").notNull(),
    expiresAtMs: count("expires_at_ms"),
  },
  (table) => [index("key_secrets_by_key").on(table.keyId)],
);

export const keyEvents = rehome.table(
  "key_events",
  {
    id: int64("id").primaryKey().generatedAlwaysAsIdentity({ name: "key_events_id_seq", cache: 1 }),
    keyId: text("key_id")
      .notNull()
      .references(() => apiKeys.id),
    atMs: count("at_ms").notNull(),
    actor: text("actor").notNull(),
    action: text("action").notNull(),
    before: json<Record<string, unknown>>()("before"),
    after: json<Record<string, unknown>>()("after").notNull(),
  },
  (table) => [index("key_events_by_key").on(table.keyId, table.id)],
);

/** One row: the number of the last change of any key. A server reads it to learn that its memory is out of date. */
export const keyEpoch = rehome.table(
  "key_epoch",
  { id: count("id").primaryKey(), epoch: count("epoch").notNull() },
  (table) => [check("key_epoch_one_row", sql`${table.id} = 1`)],
);

/** The fixed-window limiter: one row a key, both windows. */
export const rateWindows = rehome.table("rate_windows", {
  keyId: text("key_id").primaryKey(),
  minuteLabel: count("minute_label").notNull(),
  minuteUsed: count("minute_used").notNull(),
  dayLabel: count("day_label").notNull(),
  dayUsed: count("day_used").notNull(),
});

/** What a key did on each UTC day: finished days' requests, and every day's refusals and bans. */
export const usageDays = rehome.table(
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
