/**
 * The tables of a store, once for both databases: a kit has what each calls its types. They are
 * typed as PostgreSQL's. In SQLite `rateWindows` and `usageDays` are in limits.db. Its tables are
 * STRICT and some WITHOUT ROWID, which Drizzle cannot say: scripts/db-generate.ts adds that.
 */
import { isNotNull, isNull, sql, type SQL } from "drizzle-orm";
import { petStatuses } from "../domain/pet.ts";
import { planNames } from "../domain/plan.ts";
import type { postgresKit } from "./schema.postgres.ts";

/** Staff see animals, import and categories; operators see all. */
export const personRoles = ["staff", "operator"] as const;

/** What the service knows to do. A row of the schedule has one of these, never a command. */
const jobKinds = ["pull", "backup"] as const;
export type JobKind = (typeof jobKinds)[number];

/** Who paused a job: a person; a person's undo of what it did; or a restore of the store. */
export const pauseReasons = ["person", "undo", "restore"] as const;

/** Whether a list has an animal: it may say that it is gone, or leave it out. */
export const listPresences = ["there", "gone", "left out"] as const;

type Snapshot = Record<string, unknown>;

function oneOf(values: readonly string[]): SQL {
  return sql.raw(values.map((value) => `'${value}'`).join(", "));
}

const columnsOfPets = ({ count, int64, text }: Kit) => ({
  name: text("name").notNull(),
  categoryId: int64("category_id").notNull(),
  status: text("status", { enum: petStatuses }),
  /** The id that the animal has where it was imported from. */
  externalId: text("external_id"),
  /** Whose id that is: a format, or what `--source` named. Empty for imports of version 1.0.0. */
  source: text("source").notNull().default(""),
  createdAtMs: count("created_at_ms"),
  createdBy: text("created_by"),
  /** The change that added the animal: an import, or what an operator typed. */
  createdIn: int64("created_in"),
});

const animalTables = (kit: Kit) => ({
  pets: kit.table("pets", { id: kit.givenId("pets"), ...columnsOfPets(kit) }, (row) => [
    kit.check("pets_status", sql`${row.status} in (${oneOf(petStatuses)})`),
    ...(kit.isSqlite ? [kit.check("pets_name", sql`instr(${row.name}, char(0)) = 0`)] : []),
    // In SQLite with every column of a response, so that a filtered page is read from the index
    // alone; a name may be longer than PostgreSQL's index entries can be.
    kit
      .index("pets_by_status")
      .on(row.status, row.id, ...(kit.isSqlite ? [row.name, row.categoryId] : []))
      .where(isNotNull(row.status)),
    kit
      .uniqueIndex("pets_by_source")
      .on(row.source, row.externalId)
      .where(isNotNull(row.externalId)),
  ]),

  removedPets: kit.table(
    "removed_pets",
    {
      id: kit.int64("id").primaryKey(),
      ...columnsOfPets(kit),
      removedAtMs: kit.count("removed_at_ms").notNull(),
      removedIn: kit.int64("removed_in").notNull(),
    },
    (row) => [
      kit.check("removed_pets_status", sql`${row.status} in (${oneOf(petStatuses)})`),
      kit
        .index("removed_pets_by_source")
        .on(row.source, row.externalId)
        .where(isNotNull(row.externalId)),
    ],
  ),
});

const historyTables = ({ count, givenId, index, int64, json, primaryKey, table, text }: Kit) => ({
  changes: table("changes", {
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
    undoes: int64("undoes"),
    undoneIn: int64("undone_in"),
  }),

  petEvents: table(
    "pet_events",
    {
      petId: int64("pet_id").notNull(),
      changeId: int64("change_id").notNull(),
      /** Its fields before; null if it was not there. */
      before: json<Snapshot>()("before"),
      /** Its fields afterwards; null if it was taken away. `former`: see `returned`, changes.ts. */
      after: json<Snapshot>()("after"),
    },
    (row) => [
      primaryKey({ columns: [row.petId, row.changeId] }),
      index("pet_events_by_change").on(row.changeId),
    ],
  ),
});

const listTables = ({ check, int64, primaryKey, table, text }: Kit) => ({
  categories: table("categories", {
    id: int64("id").primaryKey(),
    name: text("name").notNull(),
    /** The form of a name for comparison, see `categoryKey`: NOCASE covers ASCII only. */
    nameKey: text("name_key").notNull().unique(),
  }),

  listEntries: table(
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
    (row) => [
      primaryKey({ columns: [row.source, row.entry, row.changeId] }),
      check("list_entries_presence", sql`${row.presence} in (${oneOf(listPresences)})`),
    ],
  ),

  categoryWords: table(
    "category_words",
    {
      nameKey: text("name_key").notNull(),
      changeId: int64("change_id").notNull(),
      categoryId: int64("category_id").notNull(),
    },
    (row) => [primaryKey({ columns: [row.nameKey, row.changeId] })],
  ),
});

const sourceTables = ({ count, json, table, text }: Kit) => ({
  sources: table("sources", {
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
    /** Of older versions, which asked whether the list had changed. */
    etag: text("etag"),
    lastModified: text("last_modified"),
    /** What tells whether the list changed since it was last taken whole. */
    hash: text("hash"),
    /** The counts and problems of the last list, as a person is shown them. */
    report: json<unknown>()("report"),
    /** Animals whose withdrawal waits for a person: their ids. */
    held: json<readonly string[]>()("held"),
  }),
});

const keyTable = ({ check, count, index, json, table, text }: Kit) => ({
  apiKeys: table(
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
      /** The epoch that this row's last change began. */
      changedIn: count("changed_in").notNull(),
      /** 1 for a key that may not add animals. */
      readOnly: count("read_only").notNull().default(0),
    },
    (row) => [
      check("api_keys_plan", sql`${row.plan} in (${oneOf(planNames)})`),
      check(
        "api_keys_limits",
        sql`(${row.plan} = 'enterprise') = (${row.perMinute} is not null) and (${row.perMinute} is null) = (${row.perDay} is null)`,
      ),
      index("api_keys_by_change").on(row.changedIn),
    ],
  ),
});

const secretTables = (
  { bytes, count, givenId, index, json, table, text }: Kit,
  apiKeys: ReturnType<typeof keyTable>["apiKeys"],
) => ({
  keySecrets: table(
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
    (row) => [index("key_secrets_by_key").on(row.keyId)],
  ),

  keyEvents: table(
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
    (row) => [index("key_events_by_key").on(row.keyId, row.id)],
  ),
});

const createTables = ({ bytes, check, count, index, int64, primaryKey, table, text }: Kit) => ({
  keyEpoch: table(
    "key_epoch",
    { id: count("id").primaryKey(), epoch: count("epoch").notNull() },
    (row) => [check("key_epoch_one_row", sql`${row.id} = 1`)],
  ),

  idempotencyKeys: table(
    "idempotency_keys",
    {
      keyId: text("key_id").notNull(),
      value: text("value").notNull(),
      /** SHA-256 of the body. */
      bodyHash: bytes("body_hash").notNull(),
      petId: int64("pet_id").notNull(),
      atMs: count("at_ms").notNull(),
    },
    (row) => [
      primaryKey({ columns: [row.keyId, row.value] }),
      index("idempotency_keys_by_time").on(row.atMs),
    ],
  ),
});

const peopleTable = ({ check, count, table, text, uniqueIndex }: Kit) => ({
  people: table(
    "people",
    {
      id: text("id").primaryKey(),
      name: text("name").notNull(),
      role: text("role", { enum: personRoles }).notNull(),
      createdAtMs: count("created_at_ms").notNull(),
      createdBy: text("created_by").notNull(),
      removedAtMs: count("removed_at_ms"),
    },
    (row) => [
      check("people_role", sql`${row.role} in (${oneOf(personRoles)})`),
      // Histories go by names.
      uniqueIndex("people_by_name").on(row.name).where(isNull(row.removedAtMs)),
    ],
  ),
});

const visitTables = (
  { bytes, count, index, table, text }: Kit,
  people: ReturnType<typeof peopleTable>["people"],
) => ({
  invitations: table(
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
    (row) => [index("invitations_by_person").on(row.personId)],
  ),

  sessions: table(
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
    (row) => [index("sessions_by_person").on(row.personId)],
  ),
});

const stateTables = ({ check, count, table, text }: Kit) => ({
  schedule: table(
    "schedule",
    {
      name: text("name").primaryKey(),
      kind: text("kind", { enum: jobKinds }).notNull(),
      /** What it is done to: the name of a source; empty for a backup. */
      target: text("target").notNull(),
      everyMs: count("every_ms").notNull(),
      nextAtMs: count("next_at_ms").notNull(),
      triedAtMs: count("tried_at_ms"),
      succeededAtMs: count("succeeded_at_ms"),
      failures: count("failures").notNull().default(0),
      problem: text("problem"),
      paused: text("paused", { enum: pauseReasons }),
    },
    (row) => [check("schedule_kind", sql`${row.kind} in (${oneOf(jobKinds)})`)],
  ),

  storeState: table("store_state", {
    name: text("name").primaryKey(),
    value: text("value").notNull(),
  }),
});

const counterTables = ({ count, primaryKey, table, text }: Kit) => ({
  rateWindows: table("rate_windows", {
    keyId: text("key_id").primaryKey(),
    minuteLabel: count("minute_label").notNull(),
    minuteUsed: count("minute_used").notNull(),
    dayLabel: count("day_label").notNull(),
    dayUsed: count("day_used").notNull(),
    /** The client address of the last reservation. It is written with the counts. */
    lastAddress: text("last_address"),
  }),

  usageDays: table(
    "usage_days",
    {
      keyId: text("key_id").notNull(),
      day: count("day").notNull(),
      requests: count("requests").notNull().default(0),
      refusals: count("refusals").notNull().default(0),
      bans: count("bans").notNull().default(0),
    },
    (row) => [primaryKey({ columns: [row.keyId, row.day] })],
  ),
});

export type Kit = typeof postgresKit;
export type Tables = ReturnType<typeof tablesOf>;

export function tablesOf(kit: Kit) {
  const keys = keyTable(kit);
  const persons = peopleTable(kit);
  return {
    ...animalTables(kit),
    ...historyTables(kit),
    ...listTables(kit),
    ...sourceTables(kit),
    ...keys,
    ...secretTables(kit, keys.apiKeys),
    ...createTables(kit),
    ...persons,
    ...visitTables(kit, persons.people),
    ...stateTables(kit),
    ...counterTables(kit),
  };
}
