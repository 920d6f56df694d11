/** The tables of `rehome.db`: what must never be lost. Limits are kept apart, see limits-schema.ts. */
import { isNotNull, sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { petStatuses } from "../../domain/pet.ts";
import { planNames } from "../../domain/plan.ts";
import { count, digest, int64, json } from "./columns.ts";

const oneOf = (values: readonly string[]) =>
  sql.raw(values.map((value) => `'${value}'`).join(", "));

export const categories = sqliteTable("categories", {
  id: int64("id").primaryKey(),
  name: text("name").notNull(),
  /** What names are compared by, see `categoryKey`: SQLite's own NOCASE knows ASCII only. */
  nameKey: text("name_key").notNull().unique(),
});

export const pets = sqliteTable(
  "pets",
  {
    /** AUTOINCREMENT, so that the id of a removed animal is never given again. */
    id: integer("id").primaryKey({ autoIncrement: true }).$type<bigint>(),
    name: text("name").notNull(),
    categoryId: int64("category_id").notNull(),
    status: text("status", { enum: petStatuses }),
    /** The id that the animal has where it was imported from. */
    externalId: text("external_id"),
  },
  (table) => [
    check("pets_status", sql`${table.status} in (${oneOf(petStatuses)})`),
    check("pets_name", sql`instr(${table.name}, char(0)) = 0`),
    // Holds every column of an answer, so that a filtered page is read from the index alone.
    index("pets_by_status")
      .on(table.status, table.id, table.name, table.categoryId)
      .where(isNotNull(table.status)),
    uniqueIndex("pets_by_external_id").on(table.externalId).where(isNotNull(table.externalId)),
  ],
);

/** One row a key, whatever its secrets: its id is the lineage that counters, bans and plan belong to. */
export const apiKeys = sqliteTable(
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

export const keySecrets = sqliteTable(
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

export const keyEvents = sqliteTable(
  "key_events",
  {
    id: integer("id").primaryKey({ autoIncrement: true }).$type<bigint>(),
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
export const keyEpoch = sqliteTable(
  "key_epoch",
  { id: count("id").primaryKey(), epoch: count("epoch").notNull() },
  (table) => [check("key_epoch_one_row", sql`${table.id} = 1`)],
);
