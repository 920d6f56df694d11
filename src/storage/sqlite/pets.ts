import type { Database, SQLQueryBindings } from "bun:sqlite";
import { and, asc, count, eq, gt, sql } from "drizzle-orm";
import { int64Min } from "../../domain/int64.ts";
import type { PageQuery } from "../../domain/page.ts";
import type { Pet, PetStatus } from "../../domain/pet.ts";
import type { AddedPet, KeptCreate, OnceCreate } from "../contract.ts";
import { columnName } from "../declare.ts";
import { answerFields, createdFields, petOfRow, type PetRow } from "../pet-row.ts";
import { addOnce } from "../create-once.ts";
import { query, statement, translating } from "./database.ts";
import { perform } from "./engine.ts";
import { pets } from "./schema.ts";

/** By the names of the fields, so that a row is an animal except for nulls. */
const petColumns = Object.fromEntries(
  answerFields.map((name) => [name, sql`${pets[name]}`.as(name)]),
);

/** Reads animals through statements prepared once. */
export function petReader(db: Database) {
  const orm = query(db);
  const rows = orm
    .select(petColumns)
    .from(pets)
    .orderBy(asc(pets.id))
    .limit(sql.placeholder("limit"))
    .$dynamic();
  const page = statement<PetRow, [after: bigint, limit: number]>(
    db,
    rows.where(gt(pets.id, sql.placeholder("after"))),
  );
  const pageOfStatus = statement<PetRow, [status: PetStatus, after: bigint, limit: number]>(
    db,
    rows.where(
      and(eq(pets.status, sql.placeholder("status")), gt(pets.id, sql.placeholder("after"))),
    ),
  );
  const byId = statement<PetRow, [id: bigint]>(
    db,
    orm
      .select(petColumns)
      .from(pets)
      .where(eq(pets.id, sql.placeholder("id"))),
  );
  const all = orm.select({ count: count() }).from(pets).prepare();

  return {
    page({ limit, status, after = int64Min }: PageQuery): Pet[] {
      const found = translating(() =>
        status === undefined ? page.all(after, limit) : pageOfStatus.all(status, after, limit),
      );
      return found.map(petOfRow);
    },
    byId(id: bigint): Pet | undefined {
      const row = translating(() => byId.get(id));
      return row === null ? undefined : petOfRow(row);
    },
    count: (): number => all.get()?.count ?? 0,
  };
}

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
  const insertAll = db.transaction((batch: readonly AddedPet[]): bigint[] => {
    const prepared = (insert ??= prepareInsert());
    return batch.map((pet) => {
      const values = createdFields.map((name) => pet[name] ?? null);
      // A bigint, because the connection has safeIntegers; the library's type does not know.
      return prepared.run(...values).lastInsertRowid as bigint;
    });
  });

  return {
    /**
     * Adds all of `batch` or none of it. Returns the ids in its order; they are durable when it
     * returns.
     */
    create: (batch: readonly AddedPet[]): bigint[] => insertAll.immediate(batch),
    createOnce: (batch: readonly OnceCreate[]): KeptCreate[] => addAllOnce(db, batch),
  };
}
