import { and, asc, eq, gt, isNull, or, sql } from "drizzle-orm";
import type { ApiKey, KeySecret } from "../../domain/api-key.ts";
import type { KeyAction, KeyHash, KeyStore } from "../contract.ts";
import { keyOf, keySnapshot, rowOf } from "../key-record.ts";
import type { Query, Runner } from "./connections.ts";
import { isHarmless } from "./failures.ts";
import { apiKeys, keyEpoch, keyEvents, keySecrets } from "./schema.ts";
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

/** Keys in PostgreSQL. */
export function keyStore(connections: KeyConnections, options: KeyStoreOptions): KeyStore {
  return { ...keyReader(connections, options), ...keyWriter(connections, options) };
}

type KeyReader = Omit<KeyStore, "insert" | "change" | "rotate">;
type KeyWriter = Pick<KeyStore, "insert" | "change" | "rotate">;

function keyReader({ reads }: KeyConnections, { epochOf }: KeyStoreOptions): KeyReader {
  const repeatable = { mayRepeat: () => true };
  return {
    async byHash(hash: KeyHash) {
      const [row] = await reads.run(({ keys }) => keys.byHash.execute({ hash }), repeatable);
      if (row === undefined) return undefined;
      return { key: keyOf(row.key), secretExpiresAtMs: row.secretExpiresAtMs ?? undefined };
    },
    async byId(id) {
      const [row] = await reads.run(({ keys }) => keys.byId.execute({ id }), repeatable);
      return row === undefined ? undefined : keyOf(row);
    },
    async list() {
      const rows = await reads.run(
        ({ query }) =>
          query.select().from(apiKeys).orderBy(asc(apiKeys.createdAtMs), asc(apiKeys.id)),
        repeatable,
      );
      return rows.map(keyOf);
    },
    async changedSince(version) {
      const epoch = epochOf(version);
      const rows = await reads.run(({ keys }) => keys.changedSince.execute({ epoch }), repeatable);
      return rows.map(keyOf);
    },
    async secrets(id) {
      const rows = await reads.run(
        ({ query }) =>
          query
            .select()
            .from(keySecrets)
            .where(eq(keySecrets.keyId, id))
            .orderBy(asc(keySecrets.createdAtMs)),
        repeatable,
      );
      return rows.map(({ mask, createdAtMs, expiresAtMs }) => ({
        mask,
        createdAtMs,
        expiresAtMs: expiresAtMs ?? undefined,
      }));
    },
    async events(id) {
      const rows = await reads.run(
        ({ query }) =>
          query.select().from(keyEvents).where(eq(keyEvents.keyId, id)).orderBy(asc(keyEvents.id)),
        repeatable,
      );
      return rows.map(({ atMs, actor, action, before, after }) => ({
        atMs,
        actor,
        action,
        before: before ?? undefined,
        after,
      }));
    },
  };
}

/** Changes keys: each call is one transaction that holds the change, its event and the raised epoch. */
function keyWriter({ changes }: KeyConnections, options: KeyStoreOptions): KeyWriter {
  /** Runs `work` in a transaction; the epoch that it returns, if it changed something, is passed on. */
  const change = async <T extends { readonly epoch: number | undefined }>(
    work: (tx: Query) => Promise<T>,
  ): Promise<T> => {
    const result = await changes.run(({ query }) => inTransaction(query, options.timeoutMs, work), {
      mayRepeat: isHarmless,
    });
    if (result.epoch !== undefined) options.onChange(result.epoch);
    return result;
  };

  return {
    async insert(key, hash, secret, by) {
      await change(async (tx) => {
        const epoch = await nextEpoch(tx);
        await tx.insert(apiKeys).values({ ...rowOf(key), changedIn: epoch });
        await addSecret(tx, key.id, hash, secret);
        await addEvent(tx, key, by, null);
        return { epoch };
      });
    },
    async change(id, by, decide) {
      const { key } = await change(async (tx) => {
        const before = await lockKey(tx, id);
        const after = before === undefined ? undefined : decide(before);
        if (before === undefined || after === undefined || after === before) {
          return { epoch: undefined, key: after };
        }
        return { epoch: await keep(tx, before, after, by), key: after };
      });
      return key;
    },
    async rotate(id, hash, secret, oldExpireAtMs, by) {
      const { key } = await change(async (tx) => {
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
    },
  };
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
