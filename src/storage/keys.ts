import { and, asc, count, eq, gt, isNull, ne, sql } from "drizzle-orm";
import { accessOf, type ApiKey, type KeySecret } from "../domain/api-key.ts";
import { isBanned, recordNoisyMinute } from "../domain/ban.ts";
import { isoEnd, isoSeconds } from "../domain/clock.ts";
import { AppError } from "../domain/errors.ts";
import { limitsOf } from "../domain/plan.ts";
import { windowMs } from "../domain/windows.ts";
import type { Credential, KeyAction, KeyHash } from "./contract.ts";
import {
  columnsOf,
  type Database,
  nextEpoch,
  type Tables,
  type Tx,
  type WorkOptions,
} from "./database.ts";

export type KeyStore = ReturnType<typeof keyStore>;

export interface StoredSecret {
  readonly keyId: string;
  readonly expiresAtMs: number | null;
}

interface KeyStoreOptions {
  /** Anybody may send secrets that do not exist, so each database looks for one by itself. */
  readonly secretByHash: (hash: KeyHash) => Promise<StoredSecret | undefined>;
  /** Turns a version of the keys into the database's epoch: they differ on PostgreSQL. */
  readonly epochOf?: (version: number) => number;
  /** How long the end of a key or a secret may wait, where animals have the same lock. */
  readonly patience?: WorkOptions;
  /** Resolves when a change of keys that was committed before binds every server. */
  readonly bound?: () => Promise<void>;
}

export function keyStore(
  { db, counters }: { readonly db: Database; readonly counters: Database },
  { secretByHash, epochOf = (version) => version, patience, bound }: KeyStoreOptions,
) {
  const { read, transaction } = db;
  /** Work that may end a key or a secret: it waits for long changes, and ends when it binds. */
  const ending = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    const result = await transaction(work, patience);
    if (result !== undefined) await bound?.();
    return result;
  };
  const byId = (id: string) => read((tx) => keyById(tx, id));
  return {
    byId,
    /** A change between the two statements raises the epoch, and the caller asks again. */
    async byHash(hash: KeyHash): Promise<Credential | undefined> {
      const secret = await secretByHash(hash);
      const key = secret && (await byId(secret.keyId));
      return key && { key, secretExpiresAtMs: secret.expiresAtMs ?? undefined };
    },
    /** The keys that changed after `version` was current, which is one of `versions().keys`. */
    changedSince: (version: number) => read((tx) => keysAfter(tx, epochOf(version))),
    count: () => read(countKeys),
    /** Throws `invalid_request` when another key that is not revoked has the label. */
    insert: (key: ApiKey, hash: KeyHash, secret: KeySecret, by: KeyAction) =>
      transaction(async (tx) => {
        const changedIn = await nextEpoch(tx);
        await refuseTakenLabel(tx, key);
        await tx.insert(tx.t.apiKeys).values({ ...rowOf(key), changedIn });
        await tx.insert(tx.t.keySecrets).values({ ...secret, hash, keyId: key.id });
        await addEvent(tx, key, by, undefined);
      }),
    /**
     * Lets `change` decide what a key becomes, and stores that, the event and the new epoch in one
     * transaction. Returns the new key, or undefined if there is none. Stores nothing if `change`
     * returns its argument. Throws `invalid_request` when another live key has the label.
     */
    change: (id: string, by: KeyAction, change: (key: ApiKey) => ApiKey) =>
      ending((tx) => changeKey(tx, id, by, change)),
    ending,
    /** Stores a noisy minute, and counts the ban that it may lead to. Resolves with true for one. */
    async noteMinute(id: string, minuteLabel: number, nowMs: number): Promise<boolean> {
      const isBan = await transaction((tx) => noteNoisyMinute(tx, id, minuteLabel, nowMs));
      if (isBan) await counters.transaction((tx) => countBan(tx, id, nowMs));
      return isBan;
    },
  };
}

async function changeKey(
  tx: Tx,
  id: string,
  by: KeyAction,
  change: (key: ApiKey) => ApiKey,
): Promise<ApiKey | undefined> {
  const before = await lockedKey(tx, id);
  if (before === undefined) return undefined;
  const after = change(before);
  if (after !== before) await storeChange(tx, before, after, by);
  return after;
}

export async function countBan(tx: Tx, keyId: string, nowMs: number): Promise<void> {
  const { usageDays } = tx.t;
  await tx
    .insert(usageDays)
    .values({ keyId, day: Math.floor(nowMs / windowMs.day), bans: 1 })
    .onConflictDoUpdate({
      target: [usageDays.keyId, usageDays.day],
      set: { bans: sql`${usageDays.bans} + 1` },
    });
}

async function noteNoisyMinute(
  tx: Tx,
  id: string,
  minuteLabel: number,
  nowMs: number,
): Promise<boolean> {
  const before = await lockedKey(tx, id);
  if (before === undefined) return false;
  const ban = recordNoisyMinute(before.ban, minuteLabel, nowMs);
  if (ban === before.ban) return false;
  const isBan = isBanned(ban, nowMs);
  const action = isBan ? "automatic-ban" : "noisy-minute";
  await storeChange(tx, before, { ...before, ban }, { action, actor: "server", nowMs });
  return isBan;
}

const select = (tx: Tx) => tx.select(columnsOf(tx.t.apiKeys)).from(tx.t.apiKeys);

async function keyById(tx: Tx, id: string): Promise<ApiKey | undefined> {
  const [found] = await select(tx).where(eq(tx.t.apiKeys.id, id));
  return found && keyOf(found);
}

export async function lockedKey(tx: Tx, id: string): Promise<ApiKey | undefined> {
  const [found] = await tx.forUpdate(select(tx).where(eq(tx.t.apiKeys.id, id)));
  return found && keyOf(found);
}

async function keysAfter(tx: Tx, epoch: number): Promise<ApiKey[]> {
  return (await select(tx).where(gt(tx.t.apiKeys.changedIn, epoch))).map(keyOf);
}

async function countKeys(tx: Tx): Promise<number> {
  const [found] = await tx.select({ keys: count() }).from(tx.t.apiKeys);
  return found?.keys ?? 0;
}

export async function storeChange(
  tx: Tx,
  before: ApiKey,
  after: ApiKey,
  by: KeyAction,
): Promise<void> {
  const { apiKeys } = tx.t;
  const changedIn = await nextEpoch(tx);
  if (after.name !== before.name) await refuseTakenLabel(tx, after);
  await tx
    .update(apiKeys)
    .set({ ...rowOf(after), changedIn })
    .where(eq(apiKeys.id, after.id));
  await addEvent(tx, after, by, keySnapshot(before));
}

/**
 * Throws `invalid_request` when another live key has this key's label. Raise the epoch first: the
 * lock on its row keeps two processes from using one label.
 */
async function refuseTakenLabel(tx: Tx, { id, name, revokedAtMs }: ApiKey): Promise<void> {
  if (revokedAtMs !== undefined) return;
  const { apiKeys } = tx.t;
  const [other] = await tx
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(and(eq(apiKeys.name, name), ne(apiKeys.id, id), isNull(apiKeys.revokedAtMs)))
    .orderBy(asc(apiKeys.id))
    .limit(1);
  if (other === undefined) return;
  throw new AppError("invalid_request", `The key ${other.id} has the label "${name}" already.`, {
    code: "keyNameTaken",
    hint: "Choose another label, or rename or revoke that key.",
  });
}

async function addEvent(
  tx: Tx,
  key: ApiKey,
  { action, actor, nowMs: atMs }: KeyAction,
  before: Record<string, unknown> | undefined,
): Promise<void> {
  const event = { keyId: key.id, atMs, actor, action, before, after: keySnapshot(key) };
  await tx.insert(tx.t.keyEvents).values(event);
}

export function keyOf(row: Tables["apiKeys"]["$inferSelect"]): ApiKey {
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
