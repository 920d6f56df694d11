/** Creates that may be sent again. The statements are the same for both databases. */
import { rememberedMs } from "../domain/idempotency.ts";
import type { KeptCreate, OnceCreate } from "./contract.ts";
import { insertPet } from "./pet-row.ts";
import { record } from "./records.ts";
import { addAnimals, countAnimals, run, sql, type Steps } from "./statement.ts";
import { idempotencyKeys } from "./tables.ts";

/** Old creates that are deleted with each new one: more than one, so that none stays for long. */
const forgottenMax = 16;

/** Adds an animal, unless the same create was stored within a day. Then it returns that one. */
export function* addOnce(create: OnceCreate): Steps<KeptCreate> {
  // First without the lock, so that a repeated request delays nobody.
  const early = yield* keptCreate(create);
  if (early !== undefined) return early;
  yield* addAnimals();
  const late = yield* keptCreate(create);
  return late ?? (yield* add(create));
}

function* keptCreate(create: OnceCreate): Steps<KeptCreate | undefined> {
  const { keyId, value, bodyHash, nowMs } = create;
  const kept = yield* record(
    idempotencyKeys,
    sql`WHERE key_id = ${keyId} AND value = ${value} AND at_ms > ${nowMs - rememberedMs}`,
  );
  if (kept === undefined) return undefined;
  const isSame = Buffer.from(kept.bodyHash).equals(bodyHash);
  return { id: kept.petId, outcome: isSame ? "repeated" : "other body" };
}

function* add({ pet, keyId, value, bodyHash, nowMs }: OnceCreate): Steps<KeptCreate> {
  const id = yield* insertPet({ ...pet, createdAtMs: nowMs, createdBy: keyId });
  yield* countAnimals(1);
  yield* run(
    sql`DELETE FROM ${idempotencyKeys} WHERE (key_id, value) IN (
      SELECT key_id, value FROM ${idempotencyKeys} WHERE at_ms <= ${nowMs - rememberedMs}
      ORDER BY at_ms LIMIT ${forgottenMax})`,
  );
  yield* run(
    sql`INSERT INTO ${idempotencyKeys} (key_id, value, body_hash, pet_id, at_ms)
      VALUES (${keyId}, ${value}, ${bodyHash}, ${id}, ${nowMs})
      ON CONFLICT (key_id, value) DO UPDATE SET
        body_hash = excluded.body_hash, pet_id = excluded.pet_id, at_ms = excluded.at_ms`,
  );
  return { id, outcome: "added" };
}
