/**
 * The tables in SQLite: those of `rehome.db`, and last those of `limits.db`. schema.postgres.ts has
 * the same with the same names, and test/storage/schema.test.ts compares them. Both are STRICT, and
 * some are WITHOUT ROWID, which Drizzle cannot say: scripts/db-generate.ts adds it to a migration.
 */
import { isNotNull, isNull, sql } from "drizzle-orm";
import {
  blob,
  check,
  customType,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
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

/** An integer over all 64 bits: the connections have `safeIntegers`. */
const int64 = customType<{ data: bigint; driverData: bigint }>({ dataType: () => "integer" });
/** An integer that a number holds exactly: a count, a label, milliseconds. */
const count = customType<{ data: number; driverData: bigint | number }>({
  dataType: () => "integer",
  fromDriver: Number,
});
const bytes = (name: string) => blob(name).$type<Uint8Array>();
/** JSON with exact int64; Drizzle's own type rounds them. */
const json = <T>() =>
  customType<{ data: T; driverData: string }>({
    dataType: () => "text",
    toDriver: (value) => jsonText(value),
    fromDriver: (text) => parseJson(text) as T,
  });
/** An id that SQLite gives. AUTOINCREMENT gives none twice. */
const givenId = () => integer("id").primaryKey({ autoIncrement: true }).$type<bigint>();

export const categories = sqliteTable("categories", {
  id: int64("id").primaryKey(),
  name: text("name").notNull(),
  /** The form of a name for comparison, see `categoryKey`: NOCASE covers ASCII only. */
  nameKey: text("name_key").notNull().unique(),
});

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
  createdBy: text("created_by"),
  /** The change that added the animal: an import, or what an operator typed. */
  createdIn: int64("created_in"),
};

/** The animals. The row is also the event of its creation, so a create writes nothing else. */
export const pets = sqliteTable("pets", { id: givenId(), ...petColumns }, (table) => [
  check("pets_status", sql`${table.status} in (${oneOf(petStatuses)})`),
  check("pets_name", sql`instr(${table.name}, char(0)) = 0`),
  // Holds every column of a response, so that a filtered page is read from the index alone.
  index("pets_by_status")
    .on(table.status, table.id, table.name, table.categoryId)
    .where(isNotNull(table.status)),
  uniqueIndex("pets_by_source")
    .on(table.source, table.externalId)
    .where(isNotNull(table.externalId)),
]);

/** Removed and withdrawn animals, in their own table so that they do not slow down reads. */
export const removedPets = sqliteTable(
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
export const changes = sqliteTable("changes", {
  id: givenId(),
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
export const petEvents = sqliteTable(
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

/**
 * What a list said last of each of its animals, a row for each change by which it said something
 * else. The newest row of an entry holds; an undo of its change takes it away again.
 */
export const listEntries = sqliteTable(
  "list_entries",
  {
    source: text("source").notNull(),
    /** The id in the source; without ids the name and category that the list used. */
    entry: text("entry").notNull(),
    changeId: int64("change_id").notNull(),
    /** The animal of an entry without an id: people may have renamed it. */
    petId: int64("pet_id"),
    presence: text("presence", { enum: listPresences }).notNull(),
    name: text("name"),
    /** The word, which may mean another category by now. */
    category: text("category"),
    status: text("status", { enum: petStatuses }),
  },
  (table) => [
    primaryKey({ columns: [table.source, table.entry, table.changeId] }),
    check("list_entries_presence", sql`${table.presence} in (${oneOf(listPresences)})`),
  ],
);

/**
 * What the name of a category means in a list, since people merged or renamed that category. The
 * newest row of a name holds. A category that has the name itself comes first.
 */
export const categoryWords = sqliteTable(
  "category_words",
  {
    nameKey: text("name_key").notNull(),
    changeId: int64("change_id").notNull(),
    categoryId: int64("category_id").notNull(),
  },
  (table) => [primaryKey({ columns: [table.nameKey, table.changeId] })],
);

/** One row a key, whatever its secrets. Counters, bans and plan belong to its id, the lineage. */
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

export const keySecrets = sqliteTable(
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

export const keyEvents = sqliteTable(
  "key_events",
  {
    id: givenId(),
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
export const keyEpoch = sqliteTable(
  "key_epoch",
  { id: count("id").primaryKey(), epoch: count("epoch").notNull() },
  (table) => [check("key_epoch_one_row", sql`${table.id} = 1`)],
);

/** Creates that named an Idempotency-Key, stored for a day. */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
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

export const people = sqliteTable(
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
    // Histories go by names.
    uniqueIndex("people_by_name").on(table.name).where(isNull(table.removedAtMs)),
  ],
);

export const invitations = sqliteTable(
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

export const sessions = sqliteTable(
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
 * What the service does by itself, and when (features/schedule/job-times.ts). A row holds no command.
 */
export const schedule = sqliteTable(
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

export const sources = sqliteTable("sources", {
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
  report: json<unknown>()("report"),
  /** Animals whose withdrawal waits for a person: their ids. */
  held: json<readonly string[]>()("held"),
});

/** Facts about the store itself, such as the address that it moved to. They are never moved. */
export const storeState = sqliteTable("store_state", {
  name: text("name").primaryKey(),
  value: text("value").notNull(),
});

/** The fixed-window limiter, in limits.db: one row a key, both windows. */
export const rateWindows = sqliteTable("rate_windows", {
  keyId: text("key_id").primaryKey(),
  minuteLabel: count("minute_label").notNull(),
  minuteUsed: count("minute_used").notNull(),
  dayLabel: count("day_label").notNull(),
  dayUsed: count("day_used").notNull(),
  /** The client address of the last reservation. It is written with the counts. */
  lastAddress: text("last_address"),
});

/**
 * What a key did on each UTC day, in limits.db: finished days' requests, and every day's refusals
 * and bans.
 */
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
