/**
 * The tables of the core and their columns, declared once for both databases. Drizzle's tables of
 * each database, its migrations and what `store copy` moves are derived from here.
 */
import {
  type PetField,
  petFieldNames,
  type PetFieldName,
  petFields,
  type PetValue,
} from "../domain/pet.ts";
import { planNames } from "../domain/plan.ts";
import {
  bytes,
  type Column,
  count,
  defaulting,
  given,
  int64,
  json,
  keyOf,
  nullable,
  oneOf,
  type Table,
  table,
  text,
} from "./declare.ts";

/** What is known about a change of a key or an animal as it was before or after. */
type Snapshot = Record<string, unknown>;

/** The columns that keep the fields of an animal, see domain/pet.ts. */
const fieldColumns = Object.fromEntries(
  petFieldNames.map((name) => {
    const { kind, values, isOptional }: PetField = petFields[name];
    const ofKind: Column<unknown, true, false> = kind === "int64" ? int64() : text();
    const column = values === undefined ? ofKind : oneOf(values);
    return [name, isOptional ? nullable(column) : column];
  }),
) as {
  readonly [N in PetFieldName]: Column<
    PetValue<N>,
    (typeof petFields)[N] extends { isOptional: true } ? false : true,
    false
  >;
};

export const petColumns = {
  id: given(),
  ...fieldColumns,
  /** The id that the animal has where it was imported from. */
  externalId: nullable(text()),
  /** Whose id that is: a format, or what `--source` named. Empty for imports of version 1.0.0. */
  source: defaulting(text(), ""),
  /** Unknown for animals that version 1.0.0 added. */
  createdAtMs: nullable(count()),
  /** The key that added the animal through the interface. */
  createdBy: nullable(text()),
  /** The change that added the animal: an import, or what an operator typed. */
  createdIn: nullable(int64()),
};

/**
 * The animals. The row is also the event of its creation, so a create writes nothing else. The key
 * is AUTOINCREMENT in SQLite and a sequence in PostgreSQL, so no id is reused.
 */
export const pets = table({
  name: "pets",
  title: "animals",
  columns: petColumns,
  indexes: [
    {
      name: "pets_by_source",
      on: ["source", "externalId"],
      unique: true,
      whereNotNull: "externalId",
    },
  ],
});

/** One row a key, whatever its secrets. Counters, bans and plan belong to its id, the lineage. */
export const apiKeys = table({
  name: "api_keys",
  title: "keys",
  columns: {
    id: text(),
    name: text(),
    plan: oneOf(planNames),
    /** Enterprise's own numbers; null on every other plan. */
    perMinute: nullable(count()),
    perDay: nullable(count()),
    createdAtMs: count(),
    expiresAtMs: nullable(count()),
    revokedAtMs: nullable(count()),
    bannedUntilMs: defaulting(count(), 0),
    banStep: defaulting(count(), 0),
    banReason: defaulting(text(), ""),
    noisyMinutes: defaulting(json<number[]>(), []),
    /** The epoch that this row's last change began. */
    changedIn: count(),
    /** 1 for a key that may not add animals. */
    readOnly: defaulting(count(), 0),
  },
  indexes: [{ name: "api_keys_by_change", on: ["changedIn"] }],
  checks: {
    api_keys_limits:
      "({plan} = 'enterprise') = ({perMinute} is not null) and ({perMinute} is null) = ({perDay} is null)",
  },
});

export const keySecrets = table({
  name: "key_secrets",
  title: "secrets' hashes",
  key: ["hash"],
  columns: {
    /** SHA-256. */
    hash: bytes(),
    keyId: keyOf(apiKeys, text()),
    mask: text(),
    createdAtMs: count(),
    expiresAtMs: nullable(count()),
  },
  indexes: [{ name: "key_secrets_by_key", on: ["keyId"] }],
});

export const keyEvents = table({
  name: "key_events",
  title: "keys' events",
  columns: {
    id: given(),
    keyId: keyOf(apiKeys, text()),
    atMs: count(),
    actor: text(),
    action: text(),
    before: nullable(json<Snapshot>()),
    after: json<Snapshot>(),
  },
  indexes: [{ name: "key_events_by_key", on: ["keyId", "id"] }],
});

/** One row: the number of the last change of any key, which invalidates a server's memory. */
export const keyEpoch = table({
  name: "key_epoch",
  singleRow: true,
  columns: { id: count(), epoch: count() },
});

/** Creates that named an Idempotency-Key, kept for a day. */
export const idempotencyKeys = table({
  name: "idempotency_keys",
  title: "idempotency keys",
  key: ["keyId", "value"],
  clustered: true,
  columns: {
    /** The lineage of the key that sent it. */
    keyId: text(),
    value: text(),
    /** SHA-256 of the body. */
    bodyHash: bytes(),
    petId: int64(),
    atMs: count(),
  },
  indexes: [{ name: "idempotency_keys_by_time", on: ["atMs"] }],
});

/** Facts about the store itself, such as the address that it moved to. They are never moved. */
export const storeState = table({
  name: "store_state",
  key: ["name"],
  columns: { name: text(), value: text() },
});

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
