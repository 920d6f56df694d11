import type { Database } from "bun:sqlite";
import { and, asc, count, eq, gt, isNull, like, or, sql } from "drizzle-orm";
import {
  keyPrefixes,
  type ApiKey,
  type Environment,
  type KeySecret,
} from "../../domain/api-key.ts";
import type { Credential, KeyAction, KeyEvent, KeyHash } from "../contract.ts";
import { keyOf, keySnapshot, noisyMinuteOf, rowOf } from "../key-record.ts";
import { query, statement } from "./database.ts";
import { apiKeys, keyEpoch, keyEvents, keySecrets } from "./schema.ts";

interface SecretRow {
  readonly key_id: string;
  readonly expires_at_ms: bigint | null;
}

/** Reads keys through statements prepared once. */
export function keyReader(db: Database) {
  const orm = query(db);
  const secretByHash = statement<SecretRow, [hash: Uint8Array]>(
    db,
    orm
      .select({ keyId: keySecrets.keyId, expiresAtMs: keySecrets.expiresAtMs })
      .from(keySecrets)
      .where(eq(keySecrets.hash, sql.placeholder("hash"))),
  );
  const byId = orm
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.id, sql.placeholder("id")))
    .prepare();
  const changedSince = orm
    .select()
    .from(apiKeys)
    .where(gt(apiKeys.changedIn, sql.placeholder("epoch")))
    .prepare();
  const epoch = orm.select({ epoch: keyEpoch.epoch }).from(keyEpoch).prepare();

  return {
    epoch: (): number => epoch.get()?.epoch ?? 0,
    byHash(hash: KeyHash): Credential | undefined {
      // Most hashes that are not in memory are nobody's; only the others are worth Drizzle's mapping.
      const secret = secretByHash.get(hash);
      const row = secret === null ? undefined : byId.get({ id: secret.key_id });
      if (secret === null || row === undefined) return undefined;
      const expiresAtMs = secret.expires_at_ms;
      return {
        key: keyOf(row),
        secretExpiresAtMs: expiresAtMs === null ? undefined : Number(expiresAtMs),
      };
    },
    byId(id: string): ApiKey | undefined {
      const row = byId.get({ id });
      return row === undefined ? undefined : keyOf(row);
    },
    count: (): number => orm.select({ count: count() }).from(apiKeys).get()?.count ?? 0,
    list: (): ApiKey[] =>
      orm
        .select()
        .from(apiKeys)
        .orderBy(asc(apiKeys.createdAtMs), asc(apiKeys.id))
        .all()
        .map(keyOf),
    changedSince: (since: number): ApiKey[] => changedSince.all({ epoch: since }).map(keyOf),
    ...keyHistory(db),
  };
}

/** What an operator looks at, and seldom: no statement is kept for it. */
function keyHistory(db: Database) {
  const orm = query(db);
  return {
    secrets: (id: string): KeySecret[] =>
      orm
        .select()
        .from(keySecrets)
        .where(eq(keySecrets.keyId, id))
        .orderBy(asc(keySecrets.createdAtMs))
        .all()
        .map(({ mask, createdAtMs, expiresAtMs }) => ({
          mask,
          createdAtMs,
          expiresAtMs: expiresAtMs ?? undefined,
        })),
    hasSecretOf: (environment: Environment): boolean =>
      orm
        .select({ mask: keySecrets.mask })
        .from(keySecrets)
        .where(like(keySecrets.mask, `${keyPrefixes[environment]}%`))
        .limit(1)
        .get() !== undefined,
    events: (id: string): KeyEvent[] =>
      orm
        .select()
        .from(keyEvents)
        .where(eq(keyEvents.keyId, id))
        .orderBy(asc(keyEvents.id))
        .all()
        .map(({ atMs, actor, action, before, after }) => ({
          atMs,
          actor,
          action,
          before: before ?? undefined,
          after,
        })),
  };
}

/** The writes that a change of a key is made of. They belong into a transaction. */
function keyWrites(db: Database) {
  const orm = query(db);

  function nextEpoch(): number {
    const row = orm
      .update(keyEpoch)
      .set({ epoch: sql`${keyEpoch.epoch} + 1` })
      .returning()
      .get();
    return row.epoch;
  }

  function keep(before: ApiKey, after: ApiKey, by: KeyAction): void {
    orm
      .update(apiKeys)
      .set({ ...rowOf(after), changedIn: nextEpoch() })
      .where(eq(apiKeys.id, after.id))
      .run();
    addEvent(after, by, keySnapshot(before));
  }

  function addEvent(key: ApiKey, by: KeyAction, before: Record<string, unknown> | null): void {
    const { action, actor, nowMs: atMs } = by;
    orm
      .insert(keyEvents)
      .values({ keyId: key.id, atMs, actor, action, before, after: keySnapshot(key) })
      .run();
  }

  function read(id: string): ApiKey | undefined {
    const row = orm.select().from(apiKeys).where(eq(apiKeys.id, id)).get();
    return row === undefined ? undefined : keyOf(row);
  }

  function add(key: ApiKey): void {
    orm
      .insert(apiKeys)
      .values({ ...rowOf(key), changedIn: nextEpoch() })
      .run();
  }

  return { add, keep, addEvent, read };
}

/** The writes of a key's secrets. They belong into a transaction too. */
function secretWrites(db: Database) {
  const orm = query(db);

  function addSecret(id: string, hash: KeyHash, secret: KeySecret): void {
    const { mask, createdAtMs, expiresAtMs } = secret;
    orm
      .insert(keySecrets)
      .values({ hash, keyId: id, mask, createdAtMs, expiresAtMs: expiresAtMs ?? null })
      .run();
  }

  function expireSecrets(id: string, expiresAtMs: number): void {
    const isGoodForLonger = or(
      isNull(keySecrets.expiresAtMs),
      gt(keySecrets.expiresAtMs, expiresAtMs),
    );
    orm
      .update(keySecrets)
      .set({ expiresAtMs })
      .where(and(eq(keySecrets.keyId, id), isGoodForLonger))
      .run();
  }

  return { addSecret, expireSecrets };
}

/** Changes keys: each call is one transaction that holds the change, its event and the raised epoch. */
export function keyWriter(db: Database) {
  const { add, keep, addEvent, read } = keyWrites(db);
  const { addSecret, expireSecrets } = secretWrites(db);

  return {
    insert: db.transaction((key: ApiKey, hash: KeyHash, secret: KeySecret, by: KeyAction): void => {
      add(key);
      addSecret(key.id, hash, secret);
      addEvent(key, by, null);
    }).immediate,
    change: db.transaction(
      (id: string, by: KeyAction, change: (key: ApiKey) => ApiKey): ApiKey | undefined => {
        const before = read(id);
        if (before === undefined) return undefined;
        const after = change(before);
        if (after !== before) keep(before, after, by);
        return after;
      },
    ).immediate,
    /** Returns true when the noisy minute led to a ban. */
    noisyMinute: db.transaction((id: string, minuteLabel: number, nowMs: number): boolean => {
      const before = read(id);
      const change = before && noisyMinuteOf(before, minuteLabel, nowMs);
      if (before === undefined || change === undefined) return false;
      keep(before, change.after, { action: change.action, actor: "server", nowMs });
      return change.action === "automatic-ban";
    }).immediate,
    rotate: db.transaction(
      (
        id: string,
        hash: KeyHash,
        secret: KeySecret,
        oldExpireAtMs: number,
        by: KeyAction,
      ): ApiKey | undefined => {
        const key = read(id);
        if (key === undefined) return undefined;
        expireSecrets(id, oldExpireAtMs);
        addSecret(id, hash, secret);
        keep(key, key, by);
        return key;
      },
    ).immediate,
  };
}
