/**
 * The tables in PostgreSQL: the same as in schema.sqlite.ts with the same names, and `catalogue`.
 * They are in a schema of their own, which migrate.ts makes, and so meet no other program's tables.
 */
import { isNotNull, isNull, sql } from "drizzle-orm";
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
import { jsonText, parseJson } from "../domain/exact-json.ts";
import { petStatuses } from "../domain/pet.ts";
import { planNames } from "../domain/plan.ts";
import {
  jobKinds,
  listPresences,
  oneOf,
  pauseReasons,
  personRoles,
  type Snapshot,
} from "./schema-values.ts";

export const schemaName = "rehome";
export const rehome = pgSchema(schemaName);

const int64 = (name: string) => bigint(name, { mode: "bigint" });
const count = (name: string) => bigint(name, { mode: "number" });
const bytes = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });
/**
 * JSON with exact int64, its members in their order. Bun's client rounds them in the column itself,
 * so select it with `columnsOf` (database.ts).
 */
const json = <T>() =>
  customType<{ data: T }>({
    dataType: () => "json",
    toDriver: (value) => sql`CAST(CAST(${jsonText(value)} AS text) AS json)`,
    fromDriver(text) {
      if (typeof text !== "string") throw new Error("select JSON with columnsOf");
      return parseJson(text) as T;
    },
  });
/** An id from a sequence, which gives none twice. A failed insert leaves a gap. */
const givenId = (table: string) =>
  int64("id")
    .primaryKey()
    .generatedAlwaysAsIdentity({ name: `${table}_id_seq`, cache: 1 });

export const categories = rehome.table("categories", {
  id: int64("id").primaryKey(),
  name: text("name").notNull(),
  nameKey: text("name_key").notNull().unique(),
});

const petColumns = {
  name: text("name").notNull(),
  categoryId: int64("category_id").notNull(),
  status: text("status", { enum: petStatuses }),
  externalId: text("external_id"),
  source: text("source").notNull().default(""),
  createdAtMs: count("created_at_ms"),
  createdBy: text("created_by"),
  createdIn: int64("created_in"),
};

export const pets = rehome.table("pets", { id: givenId("pets"), ...petColumns }, (table) => [
  check("pets_status", sql`${table.status} in (${oneOf(petStatuses)})`),
  // Without the name, which may be longer than an index entry can be.
  index("pets_by_status").on(table.status, table.id).where(isNotNull(table.status)),
  uniqueIndex("pets_by_source")
    .on(table.source, table.externalId)
    .where(isNotNull(table.externalId)),
]);

export const removedPets = rehome.table(
  "removed_pets",
  {
    id: int64("id").primaryKey(),
    ...petColumns,
    removedAtMs: count("removed_at_ms").notNull(),
    removedIn: int64("removed_in").notNull(),
  },
  (table) => [
    check("removed_pets_status", sql`${table.status} in (${oneOf(petStatuses)})`),
    index("removed_pets_by_source")
      .on(table.source, table.externalId)
      .where(isNotNull(table.externalId)),
  ],
);

export const changes = rehome.table("changes", {
  id: givenId("changes"),
  atMs: count("at_ms").notNull(),
  actor: text("actor").notNull(),
  action: text("action").notNull(),
  summary: json<Snapshot>()("summary").notNull(),
  categories: json<readonly Snapshot[]>()("categories"),
  undoes: int64("undoes"),
  undoneIn: int64("undone_in"),
});

export const petEvents = rehome.table(
  "pet_events",
  {
    petId: int64("pet_id").notNull(),
    changeId: int64("change_id").notNull(),
    before: json<Snapshot>()("before"),
    after: json<Snapshot>()("after"),
  },
  (table) => [
    primaryKey({ columns: [table.petId, table.changeId] }),
    index("pet_events_by_change").on(table.changeId),
  ],
);

export const listEntries = rehome.table(
  "list_entries",
  {
    source: text("source").notNull(),
    entry: text("entry").notNull(),
    changeId: int64("change_id").notNull(),
    petId: int64("pet_id"),
    presence: text("presence", { enum: listPresences }).notNull(),
    name: text("name"),
    category: text("category"),
    status: text("status", { enum: petStatuses }),
  },
  (table) => [
    primaryKey({ columns: [table.source, table.entry, table.changeId] }),
    check("list_entries_presence", sql`${table.presence} in (${oneOf(listPresences)})`),
  ],
);

export const categoryWords = rehome.table(
  "category_words",
  {
    nameKey: text("name_key").notNull(),
    changeId: int64("change_id").notNull(),
    categoryId: int64("category_id").notNull(),
  },
  (table) => [primaryKey({ columns: [table.nameKey, table.changeId] })],
);

export const apiKeys = rehome.table(
  "api_keys",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    plan: text("plan", { enum: planNames }).notNull(),
    perMinute: count("per_minute"),
    perDay: count("per_day"),
    createdAtMs: count("created_at_ms").notNull(),
    expiresAtMs: count("expires_at_ms"),
    revokedAtMs: count("revoked_at_ms"),
    bannedUntilMs: count("banned_until_ms").notNull().default(0),
    banStep: count("ban_step").notNull().default(0),
    banReason: text("ban_reason").notNull().default(""),
    noisyMinutes: json<number[]>()("noisy_minutes").notNull().default([]),
    changedIn: count("changed_in").notNull(),
    readOnly: count("read_only").notNull().default(0),
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
    hash: bytes("hash").primaryKey(),
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
    id: givenId("key_events"),
    keyId: text("key_id")
      .notNull()
      .references(() => apiKeys.id),
    atMs: count("at_ms").notNull(),
    actor: text("actor").notNull(),
    action: text("action").notNull(),
    before: json<Snapshot>()("before"),
    after: json<Snapshot>()("after").notNull(),
  },
  (table) => [index("key_events_by_key").on(table.keyId, table.id)],
);

export const keyEpoch = rehome.table(
  "key_epoch",
  { id: count("id").primaryKey(), epoch: count("epoch").notNull() },
  (table) => [check("key_epoch_one_row", sql`${table.id} = 1`)],
);

export const idempotencyKeys = rehome.table(
  "idempotency_keys",
  {
    keyId: text("key_id").notNull(),
    value: text("value").notNull(),
    bodyHash: bytes("body_hash").notNull(),
    petId: int64("pet_id").notNull(),
    atMs: count("at_ms").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.keyId, table.value] }),
    index("idempotency_keys_by_time").on(table.atMs),
  ],
);

export const people = rehome.table(
  "people",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    role: text("role", { enum: personRoles }).notNull(),
    createdAtMs: count("created_at_ms").notNull(),
    createdBy: text("created_by").notNull(),
    removedAtMs: count("removed_at_ms"),
  },
  (table) => [
    check("people_role", sql`${table.role} in (${oneOf(personRoles)})`),
    uniqueIndex("people_by_name").on(table.name).where(isNull(table.removedAtMs)),
  ],
);

export const invitations = rehome.table(
  "invitations",
  {
    hash: bytes("hash").primaryKey(),
    personId: text("person_id")
      .notNull()
      .references(() => people.id),
    createdAtMs: count("created_at_ms").notNull(),
    expiresAtMs: count("expires_at_ms").notNull(),
    usedAtMs: count("used_at_ms"),
  },
  (table) => [index("invitations_by_person").on(table.personId)],
);

export const sessions = rehome.table(
  "sessions",
  {
    hash: bytes("hash").primaryKey(),
    personId: text("person_id")
      .notNull()
      .references(() => people.id),
    createdAtMs: count("created_at_ms").notNull(),
    expiresAtMs: count("expires_at_ms").notNull(),
    seenAtMs: count("seen_at_ms").notNull(),
  },
  (table) => [index("sessions_by_person").on(table.personId)],
);

export const schedule = rehome.table(
  "schedule",
  {
    name: text("name").primaryKey(),
    kind: text("kind", { enum: jobKinds }).notNull(),
    target: text("target").notNull(),
    everyMs: count("every_ms").notNull(),
    nextAtMs: count("next_at_ms").notNull(),
    triedAtMs: count("tried_at_ms"),
    succeededAtMs: count("succeeded_at_ms"),
    failures: count("failures").notNull().default(0),
    problem: text("problem"),
    paused: text("paused", { enum: pauseReasons }),
  },
  (table) => [check("schedule_kind", sql`${table.kind} in (${oneOf(jobKinds)})`)],
);

export const sources = rehome.table("sources", {
  name: text("name").primaryKey(),
  preset: text("preset"),
  account: text("account"),
  url: text("url"),
  secret: text("secret"),
  reading: json<unknown>()("reading").notNull(),
  complete: count("complete").notNull().default(1),
  createsCategories: count("creates_categories").notNull().default(0),
  createdAtMs: count("created_at_ms").notNull(),
  createdBy: text("created_by").notNull(),
  etag: text("etag"),
  lastModified: text("last_modified"),
  hash: text("hash"),
  report: json<unknown>()("report"),
  held: json<readonly string[]>()("held"),
});

/**
 * One row, changed with every animal: the number of changes and of animals. Its lock orders the
 * changes of all processes, so ids become visible in ascending order and pagination skips none.
 * Counting the table would take minutes.
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

export const storeState = rehome.table("store_state", {
  name: text("name").primaryKey(),
  value: text("value").notNull(),
});

export const rateWindows = rehome.table("rate_windows", {
  keyId: text("key_id").primaryKey(),
  minuteLabel: count("minute_label").notNull(),
  minuteUsed: count("minute_used").notNull(),
  dayLabel: count("day_label").notNull(),
  dayUsed: count("day_used").notNull(),
  lastAddress: text("last_address"),
});

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
