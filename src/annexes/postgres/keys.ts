import { and, asc, count, eq, gt, isNull, like, or, sql } from "drizzle-orm";
import {
  keyPrefixes,
  type ApiKey,
  type Environment,
  type KeySecret,
} from "../../domain/api-key.ts";
import type {
  Credential,
  KeyAction,
  KeyEvent,
  KeyHash,
  KeyStore,
  UsageDelta,
} from "../../storage/contract.ts";
import { keyOf, keySnapshot, noisyMinuteOf, rowOf } from "../../storage/key-record.ts";
import { bannedOn } from "../../storage/usage.ts";
import { repeatable, type Query, type Runner } from "./connections.ts";
import { isHarmless } from "./failures.ts";
import { apiKeys, keyEpoch, keyEvents, keySecrets, usageDays } from "./schema.ts";
import { inTransaction } from "./transaction.ts";

/** The statements that look keys up, prepared once for each set of connections. */
export function keyReads(query: Query) {
  return {
    byHash: query
      .select({ key: apiKeys, secretExpiresAtMs: keySecrets.expiresAtMs })
      .from(keySecrets)
      .innerJoin(apiKeys, eq(apiKeys.id, keySecrets.keyId))
      .where(eq(keySecrets.hash, sql.placeholder("hash")))
      .prepare("keys_by_hash"),
    byId: query
      .select()
      .from(apiKeys)
      .where(eq(apiKeys.id, sql.placeholder("id")))
      .prepare("keys_by_id"),
    changedSince: query
      .select()
      .from(apiKeys)
      .where(gt(apiKeys.changedIn, sql.placeholder("epoch")))
      .prepare("keys_changed_since"),
  };
}

export interface KeyConnections {
  readonly reads: Runner<{
    readonly query: Query;
    readonly keys: ReturnType<typeof keyReads>;
  }>;
  readonly changes: Runner<{ readonly query: Query }>;
}

export interface KeyStoreOptions {
  readonly timeoutMs: number;
  /** Told of the epoch that a change of this process began, before those who wait for it are answered. */
  readonly onChange: (epoch: number) => void;
  /** The epoch from which on changes have to be read by a caller that knows version `version`. */
  readonly epochOf: (version: number) => number;
}

/** Keys in PostgreSQL. A change is one transaction that holds the change, its event and the raised epoch. */
export class PostgresKeys implements KeyStore {
  readonly #connections: KeyConnections;
  readonly #options: KeyStoreOptions;

  constructor(connections: KeyConnections, options: KeyStoreOptions) {
    this.#connections = connections;
    this.#options = options;
  }

  async byHash(hash: KeyHash): Promise<Credential | undefined> {
    const { reads } = this.#connections;
    const [row] = await reads.run(({ keys }) => keys.byHash.execute({ hash }), repeatable);
    if (row === undefined) return undefined;
    return { key: keyOf(row.key), secretExpiresAtMs: row.secretExpiresAtMs ?? undefined };
  }

  async byId(id: string): Promise<ApiKey | undefined> {
    const { reads } = this.#connections;
    const [row] = await reads.run(({ keys }) => keys.byId.execute({ id }), repeatable);
    return row === undefined ? undefined : keyOf(row);
  }

  async list(): Promise<ApiKey[]> {
    const rows = await this.#read((query) =>
      query.select().from(apiKeys).orderBy(asc(apiKeys.createdAtMs), asc(apiKeys.id)),
    );
    return rows.map(keyOf);
  }

  async count(): Promise<number> {
    const [row] = await this.#read((query) => query.select({ count: count() }).from(apiKeys));
    return row?.count ?? 0;
  }

  async changedSince(version: number): Promise<ApiKey[]> {
    const { reads } = this.#connections;
    const epoch = this.#options.epochOf(version);
    const rows = await reads.run(({ keys }) => keys.changedSince.execute({ epoch }), repeatable);
    return rows.map(keyOf);
  }

  async secrets(id: string): Promise<KeySecret[]> {
    const { keyId, createdAtMs } = keySecrets;
    const rows = await this.#read((query) =>
      query.select().from(keySecrets).where(eq(keyId, id)).orderBy(asc(createdAtMs)),
    );
    return rows.map((row) => ({
      mask: row.mask,
      createdAtMs: row.createdAtMs,
      expiresAtMs: row.expiresAtMs ?? undefined,
    }));
  }

  async hasSecretOf(environment: Environment): Promise<boolean> {
    const { mask } = keySecrets;
    const rows = await this.#read((query) =>
      query
        .select({ mask })
        .from(keySecrets)
        .where(like(mask, `${keyPrefixes[environment]}%`))
        .limit(1),
    );
    return rows.length > 0;
  }

  async events(id: string): Promise<KeyEvent[]> {
    const rows = await this.#read((query) =>
      query.select().from(keyEvents).where(eq(keyEvents.keyId, id)).orderBy(asc(keyEvents.id)),
    );
    return rows.map(({ atMs, actor, action, before, after }) => ({
      atMs,
      actor,
      action,
      before: before ?? undefined,
      after,
    }));
  }

  async insert(key: ApiKey, hash: KeyHash, secret: KeySecret, by: KeyAction): Promise<void> {
    await this.#change(async (tx) => {
      const epoch = await nextEpoch(tx);
      await tx.insert(apiKeys).values({ ...rowOf(key), changedIn: epoch });
      await addSecret(tx, key.id, hash, secret);
      await addEvent(tx, key, by, null);
      return { epoch };
    });
  }

  async change(
    id: string,
    by: KeyAction,
    decide: (key: ApiKey) => ApiKey,
  ): Promise<ApiKey | undefined> {
    const { key } = await this.#change(async (tx) => {
      const before = await lockKey(tx, id);
      const after = before === undefined ? undefined : decide(before);
      if (before === undefined || after === undefined || after === before) {
        return { epoch: undefined, key: after };
      }
      return { epoch: await keep(tx, before, after, by), key: after };
    });
    return key;
  }

  async rotate(
    id: string,
    hash: KeyHash,
    secret: KeySecret,
    oldExpireAtMs: number,
    by: KeyAction,
  ): Promise<ApiKey | undefined> {
    const { key } = await this.#change(async (tx) => {
      const locked = await lockKey(tx, id);
      if (locked === undefined) return { epoch: undefined, key: undefined };
      const { keyId, expiresAtMs } = keySecrets;
      const isGoodForLonger = or(isNull(expiresAtMs), gt(expiresAtMs, oldExpireAtMs));
      await tx
        .update(keySecrets)
        .set({ expiresAtMs: oldExpireAtMs })
        .where(and(eq(keyId, id), isGoodForLonger));
      await addSecret(tx, id, hash, secret);
      return { epoch: await keep(tx, locked, locked, by), key: locked };
    });
    return key;
  }

  /** Keeps a noisy minute, and the ban and its usage if it led to one. Returns true when it did. */
  async noisyMinute(id: string, minuteLabel: number, nowMs: number): Promise<boolean> {
    const { isBan } = await this.#change(async (tx) => {
      const before = await lockKey(tx, id);
      const change = before && noisyMinuteOf(before, minuteLabel, nowMs);
      if (before === undefined || change === undefined) return { epoch: undefined, isBan: false };
      const { after, action } = change;
      const epoch = await keep(tx, before, after, { action, actor: "server", nowMs });
      const isBan = action === "automatic-ban";
      if (isBan) await addBan(tx, bannedOn(id, nowMs));
      return { epoch, isBan };
    });
    return isBan;
  }

  #read<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#connections.reads.run(({ query }) => work(query), repeatable);
  }

  /** Runs `work` in a transaction, and passes on the epoch that it began, if it changed something. */
  async #change<T extends { readonly epoch: number | undefined }>(
    work: (tx: Query) => Promise<T>,
  ): Promise<T> {
    const { timeoutMs, onChange } = this.#options;
    const result = await this.#connections.changes.run(
      ({ query }) => inTransaction(query, timeoutMs, work),
      { mayRepeat: isHarmless },
    );
    if (result.epoch !== undefined) onChange(result.epoch);
    return result;
  }
}

async function addBan(tx: Query, { keyId, day, bans }: UsageDelta): Promise<void> {
  await tx
    .insert(usageDays)
    .values({ keyId, day, bans })
    .onConflictDoUpdate({
      target: [usageDays.keyId, usageDays.day],
      set: { bans: sql`${usageDays.bans} + excluded.bans` },
    });
}

async function lockKey(tx: Query, id: string): Promise<ApiKey | undefined> {
  const [row] = await tx.select().from(apiKeys).where(eq(apiKeys.id, id)).for("update");
  return row === undefined ? undefined : keyOf(row);
}

/** The next epoch. Its row stays locked until the commit, so that epochs become visible in their order. */
async function nextEpoch(tx: Query): Promise<number> {
  const [row] = await tx
    .update(keyEpoch)
    .set({ epoch: sql`${keyEpoch.epoch} + 1` })
    .returning();
  if (row === undefined) throw new Error("the epoch's row is missing");
  return row.epoch;
}

async function keep(tx: Query, before: ApiKey, after: ApiKey, by: KeyAction): Promise<number> {
  const epoch = await nextEpoch(tx);
  await tx
    .update(apiKeys)
    .set({ ...rowOf(after), changedIn: epoch })
    .where(eq(apiKeys.id, after.id));
  await addEvent(tx, after, by, keySnapshot(before));
  return epoch;
}

async function addSecret(tx: Query, keyId: string, hash: KeyHash, secret: KeySecret) {
  const { mask, createdAtMs, expiresAtMs } = secret;
  await tx
    .insert(keySecrets)
    .values({ hash, keyId, mask, createdAtMs, expiresAtMs: expiresAtMs ?? null });
}

async function addEvent(
  tx: Query,
  key: ApiKey,
  { action, actor, nowMs: atMs }: KeyAction,
  before: Record<string, unknown> | null,
): Promise<void> {
  const after = keySnapshot(key);
  await tx.insert(keyEvents).values({ keyId: key.id, atMs, actor, action, before, after });
}
