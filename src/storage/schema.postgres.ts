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
import { jobKinds, pauseReasons } from "../domain/schedule.ts";
import { oneOf, personRoles, type Snapshot } from "./schema-values.ts";

export const schemaName = "rehome";
export const rehome = pgSchema(schemaName);

/** An integer over all 64 bits. */
const int64 = (name: string) => bigint(name, { mode: "bigint" });
/** An integer that a number holds exactly: a count, a label, milliseconds. */
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
  /** The form of a name for comparison, see `categoryKey`. */
  nameKey: text("name_key").notNull().unique(),
});

/** What is stored of an animal, in the catalogue and after its removal. */
const petColumns = {
  name: text("name").notNull(),
  categoryId: int64("category_id").notNull(),
  status: text("status", { enum: petStatuses }),
  /** The id that the animal has where it was imported from. */
  externalId: text("external_id"),
  /** Whose id that is: a format, or what `--source` named. Empty for imports of version 1.0.0. */
  source: text("source").notNull().default(""),
  /** Unknown for animals that version 1.0.0 added. */
  createdAtMs: count("created_at_ms"),
  /** The key that added the animal through the interface. */
  createdBy: text("created_by"),
  /** The change that added the animal: an import, or what an operator typed. */
  createdIn: int64("created_in"),
};

/** The animals. The row is also the event of its creation, so a create writes nothing else. */
export const pets = rehome.table("pets", { id: givenId("pets"), ...petColumns }, (table) => [
  check("pets_status", sql`${table.status} in (${oneOf(petStatuses)})`),
  // Without the name, which may be longer than an index entry can be.
  index("pets_by_status").on(table.status, table.id).where(isNotNull(table.status)),
  uniqueIndex("pets_by_source")
    .on(table.source, table.externalId)
    .where(isNotNull(table.externalId)),
]);

/** Removed and withdrawn animals, in their own table so that they do not slow down reads. */
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

/** One operation of an operator, or one import, of any number of animals. Stored 90 days. */
export const changes = rehome.table("changes", {
  id: givenId("changes"),
  atMs: count("at_ms").notNull(),
  /** Who did it: a person, or an account of the machine. */
  actor: text("actor").notNull(),
  /** What it was: add, update, remove, restore, import, undo, ... */
  action: text("action").notNull(),
  /** What a person is shown of it, such as counts by name. */
  summary: json<Snapshot>()("summary").notNull(),
  /** Categories that it made, renamed or took away, as `[{ id, before, after }]` with names. */
  categories: json<readonly Snapshot[]>()("categories"),
  /** The change that it took back. */
  undoes: int64("undoes"),
  /** The change by which it was taken back. */
  undoneIn: int64("undone_in"),
});

/** What a change did to one animal that existed, or that it brought back. Stored 90 days. */
export const petEvents = rehome.table(
  "pet_events",
  {
    petId: int64("pet_id").notNull(),
    changeId: int64("change_id").notNull(),
    /** Its fields before; null if it was not there. */
    before: json<Snapshot>()("before"),
    /** Its fields afterwards; null if it was taken away. `former`: see `returned`, changes.ts. */
    after: json<Snapshot>()("after"),
  },
  (table) => [
    primaryKey({ columns: [table.petId, table.changeId] }),
    index("pet_events_by_change").on(table.changeId),
  ],
);

/** One row a key, whatever its secrets. Counters, bans and plan belong to its id, the lineage. */
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
    /** 1 for a key that may not add animals. */
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
    /** SHA-256. */
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

/** One row: the number of the last change of any key, which invalidates a server's memory. */
export const keyEpoch = rehome.table(
  "key_epoch",
  { id: count("id").primaryKey(), epoch: count("epoch").notNull() },
  (table) => [check("key_epoch_one_row", sql`${table.id} = 1`)],
);

/** Creates that named an Idempotency-Key, stored for a day. */
export const idempotencyKeys = rehome.table(
  "idempotency_keys",
  {
    /** The lineage of the key that sent it. */
    keyId: text("key_id").notNull(),
    value: text("value").notNull(),
    /** SHA-256 of the body. */
    bodyHash: bytes("body_hash").notNull(),
    petId: int64("pet_id").notNull(),
    atMs: count("at_ms").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.keyId, table.value] }),
    index("idempotency_keys_by_time").on(table.atMs),
  ],
);

/** The people who use the console. */
export const people = rehome.table(
  "people",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    role: text("role", { enum: personRoles }).notNull(),
    createdAtMs: count("created_at_ms").notNull(),
    /** Who invited the person. */
    createdBy: text("created_by").notNull(),
    removedAtMs: count("removed_at_ms"),
  },
  (table) => [
    check("people_role", sql`${table.role} in (${oneOf(personRoles)})`),
    // Histories go by names.
    uniqueIndex("people_by_name").on(table.name).where(isNull(table.removedAtMs)),
  ],
);

export const invitations = rehome.table(
  "invitations",
  {
    /** SHA-256 of what the link holds. */
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
    /** SHA-256 of what the cookie holds. */
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

/**
 * What the service does by itself, and when: see domain/schedule.ts. A row never holds a command.
 */
export const schedule = rehome.table(
  "schedule",
  {
    /** Such as `pull NAME`. */
    name: text("name").primaryKey(),
    kind: text("kind", { enum: jobKinds }).notNull(),
    /** What it is done to: the name of a source; empty for a backup. */
    target: text("target").notNull(),
    everyMs: count("every_ms").notNull(),
    nextAtMs: count("next_at_ms").notNull(),
    triedAtMs: count("tried_at_ms"),
    succeededAtMs: count("succeeded_at_ms"),
    failures: count("failures").notNull().default(0),
    /** What went wrong when it was last tried; null if nothing did. */
    problem: text("problem"),
    /** Why it is paused; null if it is not. */
    paused: text("paused", { enum: pauseReasons }),
  },
  (table) => [check("schedule_kind", sql`${table.kind} in (${oneOf(jobKinds)})`)],
);

/** Lists that are followed. */
export const sources = rehome.table("sources", {
  /** The source of its animals, as `import --source` names it. */
  name: text("name").primaryKey(),
  /** A program whose lists are known by name; null for any other address. */
  preset: text("preset"),
  account: text("account"),
  url: text("url"),
  /** The credential. Backups that are not encrypted do not have it. */
  secret: text("secret"),
  /** How the list is read, as a person confirmed it. */
  reading: json<unknown>()("reading").notNull(),
  /** 1 if animals that the list does not have any more are withdrawn. */
  complete: count("complete").notNull().default(1),
  /** 1 if new categories of the list are made. */
  createsCategories: count("creates_categories").notNull().default(0),
  createdAtMs: count("created_at_ms").notNull(),
  createdBy: text("created_by").notNull(),
  /** What tells whether the list changed since it was last taken whole. */
  etag: text("etag"),
  lastModified: text("last_modified"),
  hash: text("hash"),
  /** The counts and problems of the last list, as a person is shown them. */
  report: json<Snapshot>()("report"),
  /** Animals whose withdrawal waits for a person: their ids. */
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

/** Facts about the store itself, such as the address that it moved to. They are never moved. */
export const storeState = rehome.table("store_state", {
  name: text("name").primaryKey(),
  value: text("value").notNull(),
});

/** The fixed-window limiter: one row a key, both windows. */
export const rateWindows = rehome.table("rate_windows", {
  keyId: text("key_id").primaryKey(),
  minuteLabel: count("minute_label").notNull(),
  minuteUsed: count("minute_used").notNull(),
  dayLabel: count("day_label").notNull(),
  dayUsed: count("day_used").notNull(),
  /** The client address of the last reservation. It is written with the counts. */
  lastAddress: text("last_address"),
});

/**
 * What a key did on each UTC day: finished days' requests, and every day's refusals
 * and bans.
 */
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
