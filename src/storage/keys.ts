/** Keys. The statements are the same for both databases. */
import {
  accessOf,
  keyPrefixes,
  type ApiKey,
  type Environment,
  type KeySecret,
} from "../domain/api-key.ts";
import { isBanned, recordNoisyMinute } from "../domain/ban.ts";
import { isoEnd, isoSeconds } from "../domain/clock.ts";
import { AppError } from "../domain/errors.ts";
import { limitsOf } from "../domain/plan.ts";
import type { Credential, Engine, KeyAction, KeyEvent, KeyHash } from "./contract.ts";
import { addRecords, assignments, record, records, type RecordOf } from "./records.ts";
import { forUpdate, nextEpoch, row, run, sql, type Statement, type Steps } from "./statement.ts";
import { apiKeys, keyEvents, keySecrets } from "./tables.ts";

export type KeyStore = ReturnType<typeof keyStore>;

/**
 * The keys of a store. `epochOf` gives the epoch from which on changes have to be read by a caller
 * that knows version `version`.
 */
export function keyStore(
  engine: Engine,
  epochOf: (version: number) => number = (version) => version,
) {
  return {
    byHash: (hash: KeyHash) => engine.read(() => credentialOf(hash)),
    byId: (id: string) => engine.read(() => keyById(id)),
    /** All keys in the order of their creation. */
    list: () => engine.read(() => keysOf(sql`ORDER BY created_at_ms, id`)),
    /** The keys that changed after `version` was current, which is one of `versions().keys`. */
    changedSince: (version: number) =>
      engine.read(() => keysOf(sql`WHERE changed_in > ${epochOf(version)}`)),
    count: () => engine.read(countKeys),
    /** Whether any key was given a secret of this environment, good or not. */
    hasSecretOf: (environment: Environment) => engine.read(() => hasSecretOf(environment)),
    secrets: (id: string) => engine.read(() => secretsOf(id)),
    /** The events of a key, oldest first. */
    events: (id: string) => engine.read(() => eventsOf(id)),
    /** Throws `invalid_request` when another key that is not revoked has the label. */
    insert: (key: ApiKey, hash: KeyHash, secret: KeySecret, by: KeyAction) =>
      engine.transact(() => insertKey(key, hash, secret, by)),
    /**
     * Lets `change` decide what a key becomes, and stores that, the event and the new epoch in one
     * transaction. Returns the new key, or undefined if there is none. Stores nothing if `change`
     * returns its argument. Throws `invalid_request` when another live key has the label.
     */
    change: (id: string, by: KeyAction, change: (key: ApiKey) => ApiKey) =>
      engine.transact(() => changeKey(id, by, change)),
    /** Adds a secret, and shortens the key's other ones to `oldExpireAtMs`, in one transaction. */
    rotate: (id: string, hash: KeyHash, secret: KeySecret, oldExpireAtMs: number, by: KeyAction) =>
      engine.transact(() => rotateKey(id, { hash, secret, oldExpireAtMs }, by)),
  };
}

function* keysOf(rest: Statement): Steps<ApiKey[]> {
  return (yield* records(apiKeys, rest)).map(keyOf);
}

function* countKeys(): Steps<number> {
  const counting = sql<{ keys: bigint }>`SELECT CAST(count(*) AS bigint) AS keys FROM ${apiKeys}`;
  return Number((yield* row(counting))?.keys ?? 0);
}

function* hasSecretOf(environment: Environment): Steps<boolean> {
  const beginning = `${keyPrefixes[environment]}%`;
  return (yield* record(keySecrets, sql`WHERE mask LIKE ${beginning} LIMIT 1`)) !== undefined;
}

/**
 * Anybody may send secrets that do not exist, so those cost a statement of few columns. A change
 * between the two statements raises the epoch, and the caller asks again.
 */
function* credentialOf(hash: KeyHash): Steps<Credential | undefined> {
  const secret = yield* row<{ key_id: string; expires_at_ms: bigint | null }>(
    sql`SELECT key_id, expires_at_ms FROM ${keySecrets} WHERE hash = ${hash}`,
  );
  if (secret === undefined) return undefined;
  const key = yield* keyById(secret.key_id);
  if (key === undefined) return undefined;
  const { expires_at_ms: expiresAtMs } = secret;
  return { key, secretExpiresAtMs: expiresAtMs === null ? undefined : Number(expiresAtMs) };
}

function* keyById(id: string, lock = sql``): Steps<ApiKey | undefined> {
  const found = yield* record(apiKeys, sql`WHERE id = ${id} ${lock}`);
  return found && keyOf(found);
}

function* secretsOf(id: string): Steps<KeySecret[]> {
  const found = yield* records(keySecrets, sql`WHERE key_id = ${id} ORDER BY created_at_ms`);
  return found.map(({ mask, createdAtMs, expiresAtMs }) => ({
    mask,
    createdAtMs,
    expiresAtMs: expiresAtMs ?? undefined,
  }));
}

function* eventsOf(id: string): Steps<KeyEvent[]> {
  const found = yield* records(keyEvents, sql`WHERE key_id = ${id} ORDER BY id`);
  return found.map(({ atMs, actor, action, before, after }) => ({
    atMs,
    actor,
    action,
    before: before ?? undefined,
    after,
  }));
}

function* insertKey(key: ApiKey, hash: KeyHash, secret: KeySecret, by: KeyAction): Steps<void> {
  const changedIn = yield* nextEpoch();
  yield* refuseTakenLabel(key);
  yield* addRecords(apiKeys, [{ ...rowOf(key), changedIn }]);
  yield* addSecret(key.id, hash, secret);
  yield* addEvent(key, by, undefined);
}

function* changeKey(
  id: string,
  by: KeyAction,
  change: (key: ApiKey) => ApiKey,
): Steps<ApiKey | undefined> {
  const before = yield* keyById(id, forUpdate);
  if (before === undefined) return undefined;
  const after = change(before);
  if (after !== before) yield* keep(before, after, by);
  return after;
}

interface Rotation {
  readonly hash: KeyHash;
  readonly secret: KeySecret;
  readonly oldExpireAtMs: number;
}

function* rotateKey(
  id: string,
  { hash, secret, oldExpireAtMs }: Rotation,
  by: KeyAction,
): Steps<ApiKey | undefined> {
  const key = yield* keyById(id, forUpdate);
  if (key === undefined) return undefined;
  yield* run(
    sql`UPDATE ${keySecrets} SET expires_at_ms = ${oldExpireAtMs}
      WHERE key_id = ${id} AND (expires_at_ms IS NULL OR expires_at_ms > ${oldExpireAtMs})`,
  );
  yield* addSecret(id, hash, secret);
  yield* keep(key, key, by);
  return key;
}

/** Keeps a noisy minute. Returns true when it led to a ban. */
export function* noteNoisyMinute(id: string, minuteLabel: number, nowMs: number): Steps<boolean> {
  const before = yield* keyById(id, forUpdate);
  if (before === undefined) return false;
  const ban = recordNoisyMinute(before.ban, minuteLabel, nowMs);
  if (ban === before.ban) return false;
  const isBan = isBanned(ban, nowMs);
  const action = isBan ? "automatic-ban" : "noisy-minute";
  yield* keep(before, { ...before, ban }, { action, actor: "server", nowMs });
  return isBan;
}

function* keep(before: ApiKey, after: ApiKey, by: KeyAction): Steps<void> {
  const changedIn = yield* nextEpoch();
  if (after.name !== before.name) yield* refuseTakenLabel(after);
  const values = assignments(apiKeys, { ...rowOf(after), changedIn });
  yield* run(sql`UPDATE ${apiKeys} SET ${values} WHERE id = ${after.id}`);
  yield* addEvent(after, by, keySnapshot(before));
}

/**
 * Throws `invalid_request` when another live key has this key's label. Raise the epoch first: the
 * lock on its row keeps two processes from using one label.
 */
function* refuseTakenLabel({ id, name, revokedAtMs }: ApiKey): Steps<void> {
  if (revokedAtMs !== undefined) return;
  const other = yield* record(
    apiKeys,
    sql`WHERE name = ${name} AND id <> ${id} AND revoked_at_ms IS NULL ORDER BY id LIMIT 1`,
  );
  if (other === undefined) return;
  throw new AppError("invalid_request", `The key ${other.id} has the label "${name}" already.`, {
    code: "keyNameTaken",
    hint: "Choose another label, or rename or revoke that key.",
  });
}

function* addSecret(keyId: string, hash: KeyHash, secret: KeySecret): Steps<void> {
  const { mask, createdAtMs, expiresAtMs } = secret;
  yield* addRecords(keySecrets, [{ hash, keyId, mask, createdAtMs, expiresAtMs }]);
}

function* addEvent(
  key: ApiKey,
  { action, actor, nowMs: atMs }: KeyAction,
  before: Record<string, unknown> | undefined,
): Steps<void> {
  yield* addRecords(keyEvents, [
    { keyId: key.id, atMs, actor, action, before, after: keySnapshot(key) },
  ]);
}

/** The key that a row stands for. */
function keyOf(row: RecordOf<typeof apiKeys>): ApiKey {
  const custom =
    row.perMinute === null || row.perDay === null
      ? undefined
      : { perMinute: row.perMinute, perDay: row.perDay };
  const limits = limitsOf(row.plan, custom);
  if (limits === undefined) throw new Error(`key ${row.id} has numbers that do not fit its plan`);
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    limits,
    readOnly: row.readOnly !== 0,
    createdAtMs: row.createdAtMs,
    expiresAtMs: row.expiresAtMs ?? undefined,
    revokedAtMs: row.revokedAtMs ?? undefined,
    ban: {
      noisyMinutes: row.noisyMinutes,
      step: row.banStep,
      bannedUntilMs: row.bannedUntilMs,
      reason: row.banReason,
    },
  };
}

/** The row of `key`. It does not copy published limits, which follow the plan. */
function rowOf(key: ApiKey) {
  const custom = key.plan === "enterprise" ? key.limits : undefined;
  return {
    id: key.id,
    name: key.name,
    plan: key.plan,
    perMinute: custom?.perMinute ?? null,
    perDay: custom?.perDay ?? null,
    readOnly: key.readOnly ? 1 : 0,
    createdAtMs: key.createdAtMs,
    expiresAtMs: key.expiresAtMs ?? null,
    revokedAtMs: key.revokedAtMs ?? null,
    bannedUntilMs: key.ban.bannedUntilMs,
    banStep: key.ban.step,
    banReason: key.ban.reason,
    noisyMinutes: [...key.ban.noisyMinutes],
  };
}

/** What an event shows of a key, before and after a change. */
function keySnapshot(key: ApiKey): Record<string, unknown> {
  const end = (ms: number | undefined) => (ms === undefined ? undefined : isoEnd(ms));
  return {
    name: key.name,
    plan: key.plan,
    perMinute: key.limits.perMinute,
    perDay: key.limits.perDay,
    access: accessOf(key),
    expiresAt: end(key.expiresAtMs),
    revokedAt: key.revokedAtMs === undefined ? undefined : isoSeconds(key.revokedAtMs),
    bannedUntil: key.ban.bannedUntilMs === 0 ? undefined : end(key.ban.bannedUntilMs),
    banReason: key.ban.reason === "" ? undefined : key.ban.reason,
    noisyMinutes: key.ban.noisyMinutes.length === 0 ? undefined : key.ban.noisyMinutes.length,
  };
}
