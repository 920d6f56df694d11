import { and, asc, eq, gt, lt, sql } from "drizzle-orm";
import { rememberedMs } from "../domain/idempotency.ts";
import type { IdempotentCreate, StoredCreate } from "./contract.ts";
import { changePets, type Tx, prunedBefore } from "./database.ts";

/** Old creates that are deleted with each new one: more than one, so that none stays for long. */
const forgottenMax = 16;

/** Adds an animal, unless the same create was stored within a day. Then it returns that one. */
export function addOnce(tx: Tx, create: IdempotentCreate): Promise<StoredCreate> {
  return changePets(tx, "additions", async () => {
    const stored = await storedCreate(tx, create);
    return stored === undefined
      ? { result: await add(tx, create), more: 1 }
      : { result: stored, more: 0 };
  });
}

async function storedCreate(tx: Tx, create: IdempotentCreate): Promise<StoredCreate | undefined> {
  const { idempotencyKeys: keys } = tx.t;
  const { keyId, value, bodyHash, nowMs } = create;
  const [stored] = await tx
    .select()
    .from(keys)
    .where(and(eq(keys.keyId, keyId), eq(keys.value, value), gt(keys.atMs, nowMs - rememberedMs)));
  if (stored === undefined) return undefined;
  const isSame = Buffer.from(stored.bodyHash).equals(bodyHash);
  return { id: stored.petId, outcome: isSame ? "repeated" : "other body" };
}

async function add(
  tx: Tx,
  { pet, keyId, value, bodyHash, nowMs }: IdempotentCreate,
): Promise<StoredCreate> {
  const { pets, idempotencyKeys: keys } = tx.t;
  const [added] = await tx
    .insert(pets)
    .values({ ...pet, createdAtMs: nowMs, createdBy: keyId })
    .returning({ id: pets.id });
  if (added === undefined) throw new Error("the animal that was added has no id");
  await forget(tx, nowMs);
  const stored = { bodyHash, petId: added.id, atMs: nowMs };
  await tx
    .insert(keys)
    .values({ keyId, value, ...stored })
    .onConflictDoUpdate({ target: [keys.keyId, keys.value], set: stored });
  return { id: added.id, outcome: "added" };
}

async function forget(tx: Tx, nowMs: number): Promise<void> {
  const { idempotencyKeys: keys } = tx.t;
  const endMs = await prunedBefore(tx, keys.atMs, nowMs, rememberedMs);
  if (endMs === undefined) return;
  const oldest = tx
    .select({ keyId: keys.keyId, value: keys.value })
    .from(keys)
    .where(lt(keys.atMs, endMs))
    .orderBy(asc(keys.atMs))
    .limit(forgottenMax);
  await tx.delete(keys).where(sql`(${keys.keyId}, ${keys.value}) IN ${oldest}`);
}
