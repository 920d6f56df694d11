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

/** Changes animals, each call in one transaction. */
export function petWriter(db: Database) {
  const columns = createdFields.map((name) => `"${columnName(name)}"`).join(", ");
  const marks = createdFields.map(() => "?").join(", ");
  const prepareInsert = () =>
    db.prepare<never, SQLQueryBindings[]>(`INSERT INTO pets (${columns}) VALUES (${marks})`);
  // Prepared by the first create, which a server leaves to the writer thread.
  let insert: ReturnType<typeof prepareInsert> | undefined;
  const insertAll = db.transaction((batch: readonly CreatedRow[]): bigint[] => {
    const prepared = (insert ??= prepareInsert());
    // A bigint, because the connection has safeIntegers; the library's type does not know.
    return batch.map((values) => prepared.run(...values).lastInsertRowid as bigint);
  });

  return {
    /**
     * Adds all of `batch` or none of it. Returns the ids in its order; they are durable when it
     * returns.
     */
    insert: (batch: readonly CreatedRow[]): bigint[] => insertAll.immediate(batch),
    createOnce: (batch: readonly OnceCreate[]): KeptCreate[] => addAllOnce(db, batch),
  };
}
