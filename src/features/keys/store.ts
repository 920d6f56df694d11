/** What only operators ask of keys, or do with them. */
import { and, asc, eq, gt, isNull, or } from "drizzle-orm";
import type { ApiKey, KeySecret } from "../../domain/api-key.ts";
import type { KeyAction, KeyHash } from "../../storage/contract.ts";
import { columnsOf, type Tx } from "../../storage/database.ts";
import { keyOf, lockedKey, storeChange } from "../../storage/keys.ts";

/** A change of a key, stored for the operator. The event that made the key has no `before`. */
export interface KeyEvent {
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly before: Readonly<Record<string, unknown>> | undefined;
  readonly after: Readonly<Record<string, unknown>>;
}

export async function allKeys(tx: Tx): Promise<ApiKey[]> {
  const { createdAtMs, id } = tx.t.apiKeys;
  return (
    await tx.select(columnsOf(tx.t.apiKeys)).from(tx.t.apiKeys).orderBy(asc(createdAtMs), asc(id))
  ).map(keyOf);
}

export async function secretsOf(tx: Tx, id: string): Promise<KeySecret[]> {
  const { keySecrets } = tx.t;
  const found = await tx
    .select()
    .from(keySecrets)
    .where(eq(keySecrets.keyId, id))
    .orderBy(asc(keySecrets.createdAtMs));
  return found.map(({ mask, createdAtMs, expiresAtMs }) => ({
    mask,
    createdAtMs,
    expiresAtMs: expiresAtMs ?? undefined,
  }));
}

export async function eventsOf(tx: Tx, id: string): Promise<KeyEvent[]> {
  const { keyEvents } = tx.t;
  const found = await tx
    .select(columnsOf(keyEvents))
    .from(keyEvents)
    .where(eq(keyEvents.keyId, id))
    .orderBy(asc(keyEvents.id));
  return found.map(({ atMs, actor, action, before, after }) => ({
    atMs,
    actor,
    action,
    before: before ?? undefined,
    after,
  }));
}

interface Rotation {
  readonly hash: KeyHash;
  readonly secret: KeySecret;
  /** When the key's other secrets end at the latest. */
  readonly oldExpireAtMs: number;
}

/** Adds a secret to a key, and shortens its other ones. Undefined if it is gone or revoked. */
export async function rotateKey(
  tx: Tx,
  id: string,
  { hash, secret, oldExpireAtMs }: Rotation,
  by: KeyAction,
): Promise<ApiKey | undefined> {
  const key = await lockedKey(tx, id);
  // It may have been revoked meanwhile.
  if (key === undefined || key.revokedAtMs !== undefined) return undefined;
  const { keySecrets } = tx.t;
  const { keyId, expiresAtMs } = keySecrets;
  await tx
    .update(keySecrets)
    .set({ expiresAtMs: oldExpireAtMs })
    .where(and(eq(keyId, id), or(isNull(expiresAtMs), gt(expiresAtMs, oldExpireAtMs))));
  await tx.insert(keySecrets).values({ ...secret, hash, keyId: id });
  await storeChange(tx, key, key, by);
  return key;
}
