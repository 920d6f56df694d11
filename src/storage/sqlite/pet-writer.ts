import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { KeptCreate, OnceCreate } from "../contract.ts";
import { addOnce } from "../create-once.ts";
import { columnName } from "../declare.ts";
import { createdFields, type CreatedRow } from "../pet-row.ts";
import { perform } from "./engine.ts";

/** Adds the animals of `creates` that were not added before, in one transaction. */
export function addAllOnce(db: Database, creates: readonly OnceCreate[]): KeptCreate[] {
  return db.transaction(() => creates.map((create) => perform(db, addOnce(create)))).immediate();
}

/**
 * Prepares what adds all animals of a batch or none of it, in one transaction. It returns their ids
 * in the order of the batch; they are durable when it returns.
 */
export function petInsert(db: Database): (batch: readonly CreatedRow[]) => bigint[] {
  const columns = createdFields.map((name) => `"${columnName(name)}"`).join(", ");
  const marks = createdFields.map(() => "?").join(", ");
  const insert = db.prepare<never, SQLQueryBindings[]>(
    `INSERT INTO pets (${columns}) VALUES (${marks})`,
  );
  return db.transaction((batch: readonly CreatedRow[]): bigint[] =>
    // A bigint, because the connection has safeIntegers; the library's type does not know.
    batch.map((values) => insert.run(...values).lastInsertRowid as bigint),
  ).immediate;
}

/** The number of animals. To count a million takes a tenth of a second. */
export function countPets(db: Database): number {
  const counting = db.query<{ animals: bigint }, []>("SELECT count(*) AS animals FROM pets");
  return Number(counting.get()?.animals);
}
